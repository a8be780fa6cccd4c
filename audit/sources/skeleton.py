"""Writes the skeleton of a package for a new benchmark: a source, an environment, a test."""

import re
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from string import Template

from agenthard.audit.sources.base import SourceError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "$module/__init__.py": "package.py",
    "$module/source.py": "source.py",
    "$module/environment.py": "environment.py",
    "tests/test_$module.py": "test.py",
    "example/tasks.jsonl": "tasks.jsonl",
    "example/tools.json": "tools.json",
}
"""Templates by the path of what they become."""


def write_skeleton(name: str, folder: Path) -> list[Path]:
    """Write a package that reads and executes a small example, to be changed into a real benchmark.

    Args:
        name: word for the command line, in small letters, digits and hyphens.
        folder: where to; it must be empty or absent.

    Returns:
        The files written.

    Raises:
        SourceError: when the name is not such a word or is taken, or the folder is not empty.
    """
    if not _NAME.fullmatch(name):
        raise SourceError(f"{name!r} cannot be a source's name: use small letters, digits and hyphens, as in my-bench")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SourceError(f"{folder} holds something already; name a new folder")
    if find_spec(name.replace("-", "_")) is not None:
        raise SourceError(f"there is a Python package {name.replace('-', '_')!r} already; choose another name")
    words = {
        "name": name,
        "module": name.replace("-", "_"),
        "class_name": "".join(part.capitalize() for part in name.split("-")),
    }
    written = []
    for place, template in _FILES.items():
        text = (
            resources.files("agenthard.audit.sources")
            .joinpath("templates", f"{template}.tmpl")
            .read_text(encoding="utf-8")
        )
        path = folder / Template(place).substitute(words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
        written.append(path)
    return written
