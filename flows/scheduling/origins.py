"""Gets the present version of a benchmark: from a folder, a git repository, a dataset of the hub, or a URL."""

import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from agenthard.audit.sources.formats.remote import PROTOCOLS, joined_url, split_url
from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.scheduling.settings import DatasetOrigin, GitOrigin, Origin, PathOrigin, UrlOrigin
from agenthard.taxonomy.errors import MissingExtraError

GIT_SECONDS = 1800
"""Longest time of one git command."""


@contextmanager
def present_version(origin: Origin, folder: Path) -> Iterator[Path]:
    """Get a benchmark as it is now.

    Args:
        origin: where it is.
        folder: where copies may be kept from one audit to the next.

    Yields:
        A folder that is read before the block ends: that of the origin itself, or a temporary copy of it.

    Raises:
        CommandError: the origin is not there, or is named wrongly.
        InfrastructureError: it could not be fetched.
    """
    if isinstance(origin, PathOrigin):
        if not Path(origin.path).exists():
            raise CommandError(f"{origin.path}: nothing is at this path")
        yield Path(origin.path)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".fetching-*"):  # of an audit that was killed; the caller keeps others out
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as made:
        here = Path(made)
        if isinstance(origin, GitOrigin):
            yield _inside(_git(origin, folder / "repository.git", here), origin.folder, origin.git)
        elif isinstance(origin, DatasetOrigin):
            yield _inside(_dataset(origin, here), origin.folder, origin.dataset)
        else:
            yield _url(origin, here)


def _inside(root: Path, folder: str, what: str) -> Path:
    found = (root / folder).resolve()
    if not found.is_relative_to(root.resolve()) or not found.exists():
        raise CommandError(f"{what}: has no folder {folder!r}")
    return found


def _git(origin: GitOrigin, repository: Path, here: Path) -> Path:
    """Fetch a commit into a bare repository that is kept, and write its files.

    Hooks and configuration of the repository itself are not used: a bare fetch runs none.
    """
    if origin.git.startswith("-") or origin.ref.startswith("-") or "::" in origin.git:
        raise CommandError(f"{origin.git} {origin.ref}: not the address of a repository and the name of a version")
    if not repository.is_dir():
        _run_git("init", "--quiet", "--bare", str(repository))
    _run_git("-C", str(repository), "fetch", "--quiet", "--depth", "1", "--force", "--", origin.git, origin.ref)
    out = here / "checkout"
    out.mkdir()
    archive = here / "checkout.tar"
    _run_git("-C", str(repository), "archive", "--format=tar", "--output", str(archive), "FETCH_HEAD")
    with tarfile.open(archive) as files:
        files.extractall(out, filter="data")
    return out


def _run_git(*words: str) -> None:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "-c", "core.hooksPath=/dev/null", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, env=environment)
    except FileNotFoundError:
        raise InfrastructureError("git is not installed; install it, or give a folder") from None
    except subprocess.TimeoutExpired:
        raise InfrastructureError(f"git {words[0]}: took longer than {GIT_SECONDS} seconds") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InfrastructureError(f"git {words[2] if words[0] == '-C' else words[0]} failed: {last}")


def _dataset(origin: DatasetOrigin, here: Path) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError:
        raise MissingExtraError("a dataset of the hub", "publish") from None
    try:
        found = snapshot_download(
            origin.dataset, repo_type="dataset", revision=origin.revision, local_dir=here / "dataset"
        )
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise InfrastructureError(f"{origin.dataset}: could not be fetched: {_first_line(error)}") from error
    return Path(found)


def _url(origin: UrlOrigin, here: Path) -> Path:
    import fsspec

    protocol = origin.url.partition("://")[0]
    if protocol not in PROTOCOLS:
        raise CommandError(f"{origin.url}: protocols that are read: {', '.join(PROTOCOLS)}")
    out = here / "files"
    out.mkdir()
    try:
        if origin.files:
            for name in origin.files:
                _copy_one(fsspec, joined_url(origin.url, name), out / _safe(name))
        elif origin.url.endswith((".zip", ".tar", ".tar.gz", ".tgz")):
            archive = here / PurePosixPath(origin.url).name
            _copy_one(fsspec, origin.url, archive)
            _unpack(archive, out)
        elif "." in PurePosixPath(origin.url).name:
            _copy_one(fsspec, origin.url, out / _safe(split_url(origin.url)[1]))
        else:
            system, path = fsspec.core.url_to_fs(origin.url)
            system.get(path, str(out), recursive=True)
    except (OSError, ValueError, ImportError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise InfrastructureError(f"{origin.url}: could not be fetched: {_first_line(error)}") from error
    return _only_folder(out)


def _safe(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise CommandError(f"{name!r}: not a name below the folder of the URL")
    return path


def _copy_one(fsspec: Any, url: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with fsspec.open(url, "rb") as read, path.open("wb") as write:
        shutil.copyfileobj(read, write)


def _unpack(archive: Path, out: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as files:
            files.extractall(out)  # removes absolute names and ".." itself
        return
    with tarfile.open(archive) as files:
        files.extractall(out, filter="data")


def _only_folder(out: Path) -> Path:
    """Return the one folder that an archive holds, or the whole."""
    entries = list(out.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else out


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def keep_copy(source: Path, target: Path) -> Path:
    """Copy the files of a benchmark, unless they are there; a copy is there as a whole or not at all.

    Symbolic links are followed only within the benchmark: others would bring files of this machine into the copy.
    """
    if target.exists():
        return target
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    root = source.resolve()

    def outside(folder: str, names: list[str]) -> set[str]:
        found = {name for name in names if not (Path(folder) / name).resolve().is_relative_to(root)}
        return found | ({".git"} & set(names))

    if source.is_dir():
        shutil.copytree(source, partial, ignore=outside)
    else:
        shutil.copy2(source, partial)
    partial.replace(target)
    return target


def folder_name(number: int, content: str) -> str:
    """Return the name of the folder of an audit, such as ``0007-1f0c5a4b``."""
    return f"{number:04d}-{content[:8] or sha256(b'').hexdigest()[:8]}"
