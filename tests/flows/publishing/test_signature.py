"""Every file is checked against the manifest, and the manifest against its signature."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.signature import verify_folder
from agenthard.flows.publishing.versions import read_publication
from tests.flows.publishing.conftest import Audit, contents, library, published


def write_key(folder: Path, name: str) -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture
def signed(audit: Audit, tmp_path: Path) -> tuple[Path, Path]:
    """A signed publication, and the public key."""
    private, public = write_key(tmp_path, "ours")
    made = published(audit(library()), tmp_path / "out", sign=str(private))
    assert made.key_id == verify_folder(tmp_path / "out").key_id
    return tmp_path / "out", public


def test_an_untouched_folder_is_intact(signed: tuple[Path, Path]) -> None:
    folder, public = signed
    found = verify_folder(folder, public)
    assert found.intact and (found.signature, found.key_known) == ("valid", True)
    assert found.files == len(contents(folder)) - 2


def test_damaged_missing_and_added_files_are_named(signed: tuple[Path, Path]) -> None:
    folder, public = signed
    tasks = folder / "native" / "tasks.jsonl"
    tasks.write_bytes(tasks.read_bytes().replace(b"book", b"bock", 1))
    (folder / "removals.jsonl").unlink()
    (folder / "data" / "more.parquet").write_bytes(b"PAR1")
    (folder / ".gitattributes").write_text("*.parquet filter=lfs\n")  # a hub adds it
    found = verify_folder(folder, public)
    assert (found.damaged, found.missing, found.added) == (
        ("native/tasks.jsonl",),
        ("removals.jsonl",),
        ("data/more.parquet",),
    )
    assert not found.intact and found.signature == "valid"  # the manifest itself is as it was signed


def test_a_manifest_that_was_written_again_is_not_what_was_signed(signed: tuple[Path, Path]) -> None:
    folder, public = signed
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": "9.0.0"}))
    found = verify_folder(folder, public)
    assert (found.intact, found.signature, found.problem) == (False, "invalid", "manifest.json is not what was signed")
    assert not verify_folder(folder).intact


def test_a_signature_of_another_key_is_refused(signed: tuple[Path, Path], tmp_path: Path) -> None:
    folder, _ = signed
    _, other = write_key(tmp_path, "theirs")
    found = verify_folder(folder, other)
    assert not found.intact and found.problem.startswith("signed with key ")


def test_a_signature_that_is_gone_or_damaged_is_noticed(signed: tuple[Path, Path]) -> None:
    folder, public = signed
    (folder / "manifest.sig").write_text("{}")
    assert verify_folder(folder).problem.startswith("manifest.sig is damaged")
    (folder / "manifest.sig").unlink()
    assert verify_folder(folder).intact and verify_folder(folder).signature == "absent"
    assert not verify_folder(folder, public).intact  # who gives a key expects a signature


def test_openssl_checks_the_signature_too(signed: tuple[Path, Path], tmp_path: Path) -> None:
    import base64

    folder, public = signed
    raw = tmp_path / "signature.bin"
    raw.write_bytes(base64.b64decode(json.loads((folder / "manifest.sig").read_bytes())["signature"]))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(public), "-rawin"]
    words += ["-in", str(folder / "manifest.json"), "-sigfile", str(raw)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Signature Verified Successfully" in done.stdout


def _rsa() -> bytes:
    return generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    ("content", "message"),
    [(lambda: b"not a key", "not a private key that can be read"), (_rsa, "another kind than Ed25519")],
    ids=["no key", "RSA"],
)
def test_another_key_is_refused_before_anything_is_written(
    content: Any, message: str, audit: Audit, tmp_path: Path
) -> None:
    run = audit(library())
    (tmp_path / "key.pem").write_bytes(content())
    with pytest.raises(CommandError, match=message):
        published(run, tmp_path / "out", sign=str(tmp_path / "key.pem"))
    assert not (tmp_path / "out").exists()


def test_the_command_names_what_is_wrong_and_ends_with_1(signed: tuple[Path, Path]) -> None:
    folder, public = signed
    words = ["publish", "--verify", str(folder), "--public-key", str(public)]
    fine = CliRunner().invoke(app, words, catch_exceptions=False)
    assert fine.exit_code == 0 and "signature  valid, with the given key" in fine.stdout
    (folder / "README.md").write_text("Trust me.")
    bad = CliRunner().invoke(app, words, catch_exceptions=False)
    assert bad.exit_code == 1 and "damaged    README.md" in bad.stdout
    as_json = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert json.loads(as_json.stdout)["damaged"] == ["README.md"]


def test_a_folder_without_a_publication_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no publication here"):
        verify_folder(tmp_path)
    (tmp_path / "manifest.json").write_text('{"name": "x"}')
    with pytest.raises(CommandError, match="not the manifest of a publication"):
        read_publication(tmp_path)
