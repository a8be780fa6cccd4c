"""Fetches a benchmark's own package into a separate virtual environment.

It is separate from ours, so that the benchmark's pinned dependencies cannot touch it. Everything is kept
under one folder: ``$AGENTHARD_HOME``, else the user's data folder of the operating system.

What is installed is decided here and not by the package index: the files of the known releases are pinned by their
SHA-256, only wheels are taken (a source archive would run its own build script), and pip gets no variable of ours
beyond those that tell it where to find an index and whom to trust.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_data_path

from agenthard.taxonomy.errors import AgentHardError

HOME_VARIABLE = "AGENTHARD_HOME"
INSTALL_SECONDS = 900
"""Longest time that one step of an installation may take."""


class FetchError(AgentHardError):
    """A benchmark could not be fetched. The message says what failed and what to do."""

    code = "AH102"
    remedy = (
        "Check the network and the package index, then run the same command again; `agenthard env list` shows releases."
    )


class UnknownDownloadError(FetchError):
    """No benchmark of this name can be fetched; the message names those that can."""

    code = "AH108"
    remedy = "Choose one of the names in the message, or give the folder of the benchmark."


@dataclass(frozen=True)
class Fetched:
    """A benchmark's package in its environment."""

    benchmark: str
    """Name of the source."""
    version: str
    """Version of the package."""
    path: Path
    """Folder of the virtual environment."""
    data: Path
    """Folder of the benchmark's data, ready to be opened by the source."""

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.path / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@dataclass(frozen=True)
class KnownRelease:
    """A release whose files are pinned here."""

    version: str
    """Version of the package."""
    data: str
    """Version of the benchmark that it holds, such as v3."""
    pins: tuple[tuple[str, str], ...]
    """What is installed: pinned requirements, the benchmark's package first, each with the SHA-256 of its wheel."""


@dataclass(frozen=True)
class _Recipe:
    default: str
    releases: tuple[KnownRelease, ...]
    data: str

    @property
    def package(self) -> str:
        return self.releases[0].pins[0][0].partition("==")[0]


_MPMATH = ("mpmath==1.3.0", "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c")
_FILELOCK = ("filelock==3.20.0", "339b4732ffda5cd79b13f4e2711a31b0365ce445d95d243bb996273d072546a2")
_BFCL = {
    "2025.7.17": "1982d6804db2389d9f241d5ded49286ca47d9654fc518ea70857f5051217f88b",
    "2026.3.23": "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
}
_RECIPES = {
    "bfcl": _Recipe(
        default="2025.7.17",
        releases=(
            KnownRelease("2025.7.17", "v3", (("bfcl-eval==2025.7.17", _BFCL["2025.7.17"]), _MPMATH)),
            KnownRelease("2026.3.23", "v4", (("bfcl-eval==2026.3.23", _BFCL["2026.3.23"]), _MPMATH, _FILELOCK)),
        ),
        data="bfcl_eval/data",
    ),
}
_PIP_SETTINGS = frozenset(
    f"PIP_{name}"
    for name in (
        "CACHE_DIR", "CERT", "CLIENT_CERT", "CONFIG_FILE", "DEFAULT_TIMEOUT", "EXTRA_INDEX_URL", "FIND_LINKS",
        "INDEX_URL", "NO_CACHE_DIR", "NO_INDEX", "PROXY", "RETRIES", "TIMEOUT", "TRUSTED_HOST",
    )
)  # fmt: skip
_PASSED_ON = _PIP_SETTINGS | {
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "NETRC",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
}  # fmt: skip
"""Variables that pip gets, in upper case: where programs and settings are, which index, whom to trust."""
_VERSION = re.compile(r"[0-9][0-9A-Za-z.]*")


def known_releases(benchmark: str) -> tuple[KnownRelease, ...]:
    """List the releases of a benchmark whose files are pinned here, oldest first; none for an unknown benchmark."""
    return _RECIPES[benchmark].releases if benchmark in _RECIPES else ()


def benchmarks() -> tuple[str, ...]:
    """Name the benchmarks that can be fetched."""
    return tuple(sorted(_RECIPES))


def fetch(benchmark: str, version: str | None = None, home: Path | None = None, *, unpinned: bool = False) -> Fetched:
    """Install a benchmark's package in an environment of its own; one that is there already is returned as it is.

    Args:
        benchmark: name of the source, such as bfcl.
        version: version of the package; None means the one that the source was written against.
        home: folder to keep environments in; None means the managed one.
        unpinned: install a release whose hash is not known here, as the index sends it.

    Returns:
        The environment.

    Raises:
        FetchError: when the benchmark or the hash of the release is unknown, the version is not valid, or the
            installation fails. Nothing half-made is left behind.
    """
    recipe = _recipe(benchmark)
    version = version or recipe.default
    if not _VERSION.fullmatch(version):
        raise FetchError(f"{version!r} is not a version of a package; give one such as {recipe.default}")
    target = _folder(benchmark, home) / version
    there = _open(benchmark, target)
    if there is not None:
        return there
    requirements = _requirements(recipe, version, unpinned)
    if target.exists():
        raise FetchError(f"{target} is in the way and holds no {benchmark}; remove it and fetch again")
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        _install(building, requirements)
        if _open(benchmark, building) is None:
            wanted = f"{recipe.package}=={version}"
            raise FetchError(f"{wanted} holds no folder {recipe.data}; try version {recipe.default}")
        with suppress(OSError):  # another process may have been faster
            building.rename(target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    made = _open(benchmark, target)
    if made is None:
        raise FetchError(f"could not move the environment to {target}; check that the folder can be written")
    return made


def fetched(benchmark: str, home: Path | None = None) -> list[Fetched]:
    """List the environments of a benchmark that are there, oldest version first; none for an unknown benchmark.

    The folder is searched again only when an environment was added or removed, so this may be asked for every task.
    """
    folder = _folder(benchmark, home)
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        return []
    return list(_listed(benchmark, folder, changed))


@lru_cache(maxsize=8)
def _listed(benchmark: str, folder: Path, changed: int) -> tuple[Fetched, ...]:
    paths = [path for path in folder.iterdir() if _VERSION.fullmatch(path.name)] if benchmark in _RECIPES else []
    found = [item for item in (_open(benchmark, path) for path in paths) if item]
    return tuple(sorted(found, key=lambda item: _order(item.version)))


def _requirements(recipe: _Recipe, version: str, unpinned: bool) -> list[str]:
    """Write what pip is to install, one requirement a line, with hashes unless the release is unknown."""
    known = next((release for release in recipe.releases if release.version == version), None)
    if known is not None:
        return [f"{requirement} --hash=sha256:{digest}" for requirement, digest in known.pins]
    if not unpinned:
        names = ", ".join(release.version for release in recipe.releases)
        raise FetchError(
            f"the hash of {recipe.package} {version} is not known here (known releases: {names}), so nothing would "
            "tell its files from others of that name; --unpinned installs what the index sends"
        )
    others = {requirement for release in recipe.releases for requirement, _ in release.pins[1:]}
    return [f"{recipe.package}=={version}", *sorted(others)]


def _recipe(benchmark: str) -> _Recipe:
    if benchmark not in _RECIPES:
        raise UnknownDownloadError(f"nothing to fetch for {benchmark!r}; known: {', '.join(sorted(_RECIPES))}")
    return _RECIPES[benchmark]


def environments_folder(home: Path | None = None) -> Path:
    """Return the folder that all environments are kept in; it may not exist.

    Args:
        home: folder to keep environments in; None means the managed one.
    """
    base = home or Path(os.environ.get(HOME_VARIABLE) or _user_folder())
    return base / "environments"


def _folder(benchmark: str, home: Path | None) -> Path:
    return environments_folder(home) / benchmark


@cache
def _user_folder() -> Path:
    return user_data_path("agenthard")


def _open(benchmark: str, path: Path) -> Fetched | None:
    data = _RECIPES[benchmark].data
    pattern = f"Lib/site-packages/{data}" if os.name == "nt" else f"lib/python*/site-packages/{data}"
    found = next((folder for folder in sorted(path.glob(pattern)) if folder.is_dir()), None)
    return None if found is None else Fetched(benchmark, path.name, path, found)


def _order(version: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in version.split("."))


def _install(path: Path, requirements: Sequence[str]) -> None:
    python = Fetched("", "", path, path).python
    own_pip = find_spec("pip") is not None  # then no other copy is unpacked, which takes longer than the packages
    run_clean(
        [sys.executable, "-I", "-m", "venv", *(["--without-pip"] if own_pip else []), str(path)],
        path,
        "create a virtual environment",
        "install Python's venv module",
    )
    wanted = path / "requirements.txt"
    wanted.write_text("".join(f"{requirement}\n" for requirement in requirements), encoding="utf-8")
    pip = [sys.executable if own_pip else str(python), "-I", "-m", "pip"]
    pip += ["--python", str(python)] if own_pip else []
    pip += ["--disable-pip-version-check", "--no-input", "install", "--quiet"]
    pip += ["--no-deps", "--only-binary", ":all:", "--requirement", str(wanted)]
    names = [requirement.partition(" ")[0] for requirement in requirements]
    if any("--hash" in requirement for requirement in requirements):
        pip.append("--require-hashes")
    advice = f"check that pip reaches a package index (pip download --no-deps {names[0]}), or give the folder "
    run_clean(pip, path, f"install {' '.join(names)}", f"{advice}of a copy that you have")


def run_clean(command: Sequence[str], folder: Path, what: str, advice: str) -> None:
    """Run a command of pip or venv in a folder, with no variable of the user except those that pip needs.

    Args:
        command: program and arguments.
        folder: its working directory.
        what: what it does, for the message.
        advice: what to do when it fails.

    Raises:
        FetchError: when it cannot be run, takes too long, or fails.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            stdin=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name.upper() in _PASSED_ON},
            cwd=folder,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"could not {what}: {error}; {advice}") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise FetchError(f"could not {what}: {' '.join(lines[-3:])}; {advice}")
