"""Signing the manifest of a publication with Ed25519, and checking every file of a folder against it."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.chosen import sha256_of
from agenthard.flows.publishing.records import MANIFEST, SIGNATURE
from agenthard.flows.publishing.versions import read_publication
from agenthard.taxonomy.errors import MissingExtraError
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record

_NOT_OURS = (".gitattributes", ".git/", ".cache/huggingface/")
"""What a repository of the Hugging Face Hub, or a download from it, adds to a folder."""


class Signature(Record):
    """``manifest.sig``."""

    algorithm: str
    """Ed25519."""
    key_id: str
    """First 16 hex digits of the SHA-256 of the public key."""
    public_key: str
    """The public key, 32 bytes as base64. Whose it is, it cannot say."""
    signature: str
    """Signature of the bytes of ``manifest.json``, as base64."""


class Verified(Record):
    """What a check of a folder found."""

    folder: str
    """Folder."""
    name: str
    """Name of the data set."""
    version: str
    """Version of the split."""
    files: int
    """Files that the manifest names."""
    damaged: tuple[str, ...]
    """Files whose bytes are not those that were published."""
    missing: tuple[str, ...]
    """Files that are not there."""
    added: tuple[str, ...]
    """Files that were not published."""
    signature: str
    """absent, valid, or invalid."""
    key_id: str | None
    """Key of the signature; None without one."""
    key_known: bool
    """Whether the signature was checked with a public key that the caller gave."""
    problem: str = ""
    """What is wrong with the signature; empty when nothing is."""

    @property
    def intact(self) -> bool:
        """Whether everything is as it was published."""
        return not (self.damaged or self.missing or self.added or self.problem)


def sign_manifest(folder: Path, key_file: Path) -> str:
    """Write ``manifest.sig``.

    Args:
        folder: the publication.
        key_file: private key (PEM, not encrypted).

    Returns:
        Id of the key.

    Raises:
        CommandError: the file is not such a key.
        MissingExtraError: the extra ``publish`` is not installed.
    """
    key = load_private_key(key_file)
    raw = key.public_key().public_bytes_raw()
    made = Signature(
        algorithm="Ed25519",
        key_id=key_id_of(raw),
        public_key=base64.b64encode(raw).decode("ascii"),
        signature=base64.b64encode(key.sign((folder / MANIFEST).read_bytes())).decode("ascii"),
    )
    write_text(folder / SIGNATURE, made.model_dump_json(indent=1) + "\n")
    return made.key_id


def load_private_key(file: Path) -> Any:
    """Read an Ed25519 private key.

    Raises:
        CommandError: the file is not such a key.
        MissingExtraError: the extra ``publish`` is not installed.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ModuleNotFoundError as error:
        raise MissingExtraError("signing", "publish") from error
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise CommandError(f"{file}: not a private key that can be read ({error}); {_MAKE_ONE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise CommandError(f"{file}: a key of another kind than Ed25519; {_MAKE_ONE}")
    return key


_MAKE_ONE = "`openssl genpkey -algorithm ed25519 -out key.pem` makes one"


def key_id_of(public_key: bytes) -> str:
    """Return the id of a public key."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def verify_folder(folder: Path, public_key: Path | None = None) -> Verified:
    """Compare a folder with its manifest, and check the signature.

    Args:
        folder: the publication.
        public_key: key (PEM) that has to have signed it; None = the one that the signature itself names, which shows
            that the manifest is unchanged since it was signed, not by whom.

    Raises:
        CommandError: the publication is missing, or the key cannot be read.
        MissingExtraError: the extra ``publish`` is not installed, and there is something to check with it.
    """
    made = read_publication(folder)
    named = {file.path: file.sha256 for file in made.files}
    present = {path for path in _files(folder) if path not in (MANIFEST, SIGNATURE)}
    state, key_id, problem = _check_signature(folder, public_key)
    return Verified(
        folder=str(folder),
        name=made.name,
        version=made.version,
        files=len(named),
        damaged=tuple(sorted(path for path in named.keys() & present if sha256_of(folder / path) != named[path])),
        missing=tuple(sorted(named.keys() - present)),
        added=tuple(sorted(path for path in present - named.keys() if not path.startswith(_NOT_OURS))),
        signature=state,
        key_id=key_id,
        key_known=public_key is not None,
        problem=problem,
    )


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()]


def _check_signature(folder: Path, public_key: Path | None) -> tuple[str, str | None, str]:
    file = folder / SIGNATURE
    if not file.is_file():
        problem = f"{SIGNATURE} is missing, so the key says nothing" if public_key else ""
        return "absent", None, problem
    try:
        signature = Signature.model_validate_json(file.read_bytes())
        own = base64.b64decode(signature.public_key, validate=True)
        signed = base64.b64decode(signature.signature, validate=True)
    except (ValidationError, ValueError) as error:
        return "invalid", None, f"{SIGNATURE} is damaged: {str(error).splitlines()[0]}"
    given = own if public_key is None else _public_bytes(public_key)
    if given != own:
        problem = f"signed with key {key_id_of(own)}, and the key given is {key_id_of(given)}"
        return "invalid", key_id_of(own), problem
    if not _is_valid(given, signed, (folder / MANIFEST).read_bytes()):
        return "invalid", key_id_of(own), f"{MANIFEST} is not what was signed"
    return "valid", key_id_of(own), ""


def _is_valid(public_key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ModuleNotFoundError as error:
        raise MissingExtraError("checking a signature", "publish") from error
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _public_bytes(file: Path) -> bytes:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ModuleNotFoundError as error:
        raise MissingExtraError("checking a signature", "publish") from error
    try:
        key = load_pem_public_key(file.read_bytes())
    except (ValueError, TypeError) as error:
        raise CommandError(f"{file}: not a public key that can be read ({error}); give a PEM file") from error
    if not isinstance(key, Ed25519PublicKey):
        raise CommandError(f"{file}: a key of another kind than Ed25519; `openssl pkey -in key.pem -pubout` writes one")
    return key.public_bytes_raw()
