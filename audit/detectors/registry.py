"""All detectors: our own in the order of the taxonomy's components, then those that other packages offer.

A new detector is added to its package's ``__all__``. Another package registers its detectors under the entry-point
group ``agenthard.detectors``.
"""

from functools import cache

from agenthard.audit.detectors import environment, evaluation, ground_truth, responses, runs, user
from agenthard.audit.detectors.base import Detector
from agenthard.audit.plugins import PluginError, plugins

GROUP = "agenthard.detectors"
BUILT_IN = {"ace-proof": "agenthard.ace.checks:AceProof"}
"""Checks of ours outside this package: they belong to one benchmark."""

_PACKAGES = (user, environment, evaluation, ground_truth, runs, responses)


@cache
def detectors() -> tuple[Detector, ...]:
    """Return one instance of every detector, those of other packages last and in order of their name.

    Raises:
        PluginError: when two detectors share an id, or one cannot be loaded.
    """
    offered = [(getattr(package, name), "agenthard") for package in _PACKAGES for name in package.__all__]
    offered += [(plugin.load(), plugin.package) for plugin in plugins(GROUP, BUILT_IN).values()]
    found: dict[str, Detector] = {}
    for kind, package in offered:
        check = kind()
        if check.id in found:
            raise PluginError(f"the package {package} registers a check {check.id!r}, an id that is already in use")
        found[check.id] = check
    return tuple(found.values())


def detector(check_id: str) -> Detector:
    """Return a detector by id.

    Raises:
        KeyError: when there is none; the message lists the ids.
    """
    for candidate in detectors():
        if candidate.id == check_id:
            return candidate
    raise KeyError(f"no check {check_id!r}; there are {', '.join(d.id for d in detectors())}")
