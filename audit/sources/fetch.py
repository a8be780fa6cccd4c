"""Fetches a benchmark's own package into a virtual environment of its own.

The environment is apart from ours, so that the benchmark's pinned dependencies cannot touch it. Everything is kept
under one folder: ``$AGENTHARD_HOME``, else the user's data folder of the operating system.
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
from pathlib import Path

from platformdirs import user_data_path

HOME_VARIABLE = "AGENTHARD_HOME"
INSTALL_SECONDS = 900
"""Longest time that one step of an installation may take."""


class FetchError(Exception):
    """A benchmark could not be fetched. The message says what failed and what to do."""


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
class _Recipe:
    version: str
    requirements: tuple[str, ...]
    data: str


_RECIPES = {
    "bfcl": _Recipe("2025.7.17", ("bfcl-eval=={version}", "mpmath==1.3.0"), "bfcl_eval/data"),
}
_VERSION = re.compile(r"[0-9][0-9A-Za-z.]*")


def fetch(benchmark: str, version: str | None = None, home: Path | None = None) -> Fetched:
    """Install a benchmark's package in an environment of its own; one that is there already is returned as it is.

    Args:
        benchmark: name of the source, such as bfcl.
        version: version of the package; None means the one that the source was written against.
        home: folder to keep environments in; None means the managed one.

    Returns:
        The environment.

    Raises:
        FetchError: when the benchmark is unknown, the version is no version, or the installation fails. Nothing
            half-made is left behind.
    """
    recipe = _recipe(benchmark)
    version = version or recipe.version
    if not _VERSION.fullmatch(version):
        raise FetchError(f"{version!r} is no version of a package; give one such as {recipe.version}")
    target = _folder(benchmark, home) / version
    there = _open(benchmark, target)
    if there is not None:
        return there
    if target.exists():
        raise FetchError(f"{target} is in the way and holds no {benchmark}; remove it and fetch again")
    requirements = [requirement.format(version=version) for requirement in recipe.requirements]
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        _install(building, requirements)
        if _open(benchmark, building) is None:
            raise FetchError(f"{requirements[0]} holds no folder {recipe.data}; try version {recipe.version}")
        with suppress(OSError):  # another process may have been faster
            building.rename(target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    made = _open(benchmark, target)
    if made is None:
        raise FetchError(f"could not move the environment to {target}; check that the folder can be written")
    return made


def fetched(benchmark: str, home: Path | None = None) -> list[Fetched]:
    """List the environments of a benchmark that are there, oldest version first; none for an unknown benchmark."""
    folder = _folder(benchmark, home)
    paths = [path for path in folder.iterdir() if _VERSION.fullmatch(path.name)] if folder.is_dir() else []
    found = [item for item in (_open(benchmark, path) for path in paths) if item]
    return sorted(found, key=lambda item: _order(item.version))


def _recipe(benchmark: str) -> _Recipe:
    if benchmark not in _RECIPES:
        raise FetchError(f"nothing to fetch for {benchmark!r}; known: {', '.join(sorted(_RECIPES))}")
    return _RECIPES[benchmark]


def _folder(benchmark: str, home: Path | None) -> Path:
    base = home or Path(os.environ.get(HOME_VARIABLE) or user_data_path("agenthard"))
    return base / "environments" / benchmark


def _open(benchmark: str, path: Path) -> Fetched | None:
    data = _RECIPES[benchmark].data
    pattern = f"Lib/site-packages/{data}" if os.name == "nt" else f"lib/python*/site-packages/{data}"
    found = next((folder for folder in sorted(path.glob(pattern)) if folder.is_dir()), None)
    return None if found is None else Fetched(benchmark, path.name, path, found)


def _order(version: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in version.split("."))


def _install(path: Path, requirements: Sequence[str]) -> None:
    python = Fetched("", "", path, path).python
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-deps"]
    _run([sys.executable, "-m", "venv", str(path)], "create a virtual environment", "install Python's venv module")
    advice = f"check that pip reaches a package index (pip download --no-deps {requirements[0]}), or give the folder "
    _run([*pip, *requirements], f"install {' '.join(requirements)}", f"{advice}of a copy that you have")


def _run(command: Sequence[str], what: str, advice: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            stdin=subprocess.DEVNULL,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"could not {what}: {error}; {advice}") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise FetchError(f"could not {what}: {' '.join(lines[-3:])}; {advice}")
