"""Certificates: what a search proved, bound to the instance it proved it of."""

import hashlib
import json

from agenthard.ace.instance import Certificate, Instance
from agenthard.ace.proof.search import METHOD, VERSION, Found
from agenthard.ace.reference_entry import encode


def digest(instance: Instance) -> str:
    """Returns the fingerprint of an instance's puzzle and answer.

    Args:
        instance: The instance.

    Returns:
        SHA-256 in hexadecimal of its JSON layout with sorted keys; certificate and provenance do not count.
    """
    text = json.dumps(encode(instance), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def certify(instance: Instance, found: Found) -> Certificate:
    """Writes down what a search found.

    Args:
        instance: The instance that was searched.
        found: The result of the search.

    Returns:
        The certificate.
    """
    return Certificate(digest(instance), len(found.solutions), found.nodes, METHOD, VERSION)


def certificate_problem(written: Certificate, renewed: Certificate) -> str | None:
    """Compares a certificate with one made again from the given instance.

    Args:
        written: The certificate that came with the instance.
        renewed: The one that this search makes.

    Returns:
        What is wrong with the first, or None.
    """
    if written.digest != renewed.digest:
        return "the certificate is about another instance: puzzle or answer were changed after it was made"
    if written.solutions != renewed.solutions:
        return f"the certificate says {written.solutions} solutions, the search finds {renewed.solutions}"
    same = (written.method, written.version) == (renewed.method, renewed.version)
    if same and written.nodes != renewed.nodes:
        return f"the certificate says {written.nodes} nodes, the same search takes {renewed.nodes}"
    return None
