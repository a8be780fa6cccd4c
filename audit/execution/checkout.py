"""The folder with a benchmark's own code (``--checkout``): what can be found out about it without executing it."""

import ast
import hashlib
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from agenthard.audit.sources.base import hash_files

MAX_FILE_BYTES = 1 << 20
"""Larger Python files are not parsed."""
LEFT_OUT = frozenset({"venv", "site-packages", "node_modules", "__pycache__"})


def interpreter(folder: Path) -> Path:
    """Return the interpreter of a checkout: that of its virtual environment, or ours."""
    places = (folder / name / "bin" / "python" for name in (".venv", "venv"))
    return next((place for place in places if place.is_file()), Path(sys.executable))


@cache
def code_version(folder: Path) -> str:
    """Hash the Python files of a checkout: the first 16 hexadecimal digits of a SHA-256.

    If the checkout has its own interpreter, the hash covers the interpreter's program and the installed files too, by
    path and size.
    """
    files = hash_files(folder, python_files(folder), "checkout").content_hash
    program = interpreter(folder)
    if not program.is_relative_to(folder):
        return files
    total = hashlib.sha256(f"{files}\n".encode())
    total.update(program.read_bytes())
    root = program.parent.parent
    for path in sorted(root.glob("lib/python3*/site-packages/**/*")):
        if path.is_file() and path.suffix != ".pyc":
            total.update(f"{path.relative_to(root).as_posix()} {path.stat().st_size}\n".encode())
    return total.hexdigest()[:16]


def python_files(folder: Path) -> list[Path]:
    """List the Python files of a checkout in order, without hidden folders and installed packages."""
    found = []
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).parts
        if path.is_file() and not LEFT_OUT & set(parts) and not any(part.startswith(".") for part in parts):
            found.append(path)
    return sorted(found)


def definitions(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each function and class that a checkout defines at the top of a module.

    Files are parsed, never run. Files that cannot be parsed or are too large are skipped.
    """
    for path in python_files(folder):
        for node in _parsed(path).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield node.name, path


def _parsed(path: Path) -> ast.Module:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return ast.Module(body=[], type_ignores=[])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
