"""What the benchmark's own classes really take, read from their source without running it."""

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agenthard.audit.sources.bfcl.categories import CLASS_DOCS
from agenthard.audit.sources.bfcl.layout import Layout, find_layout, looks_like_bfcl
from agenthard.audit.sources.fetch import fetched
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import Signature

MAX_SOURCE_BYTES = 2 * 1024 * 1024
"""A larger source file is not parsed."""


@dataclass(frozen=True)
class Code:
    """The source of the classes."""

    folder: Path
    """Folder of the source files."""
    release: str | None
    """Version of the fetched package it came from; None when it stands beside the data."""


def find_code(layout: Layout) -> Code | None:
    """Find the source of the classes: beside the data, else in a fetched environment of the same release.

    An environment is of the same release when every documentation file of ``layout`` is there with the same bytes.
    """
    beside = layout.code()
    if beside is not None:
        return Code(beside, None)
    docs = sorted((layout.data / "multi_turn_func_doc").glob("*.json"))
    for environment in fetched("bfcl"):
        if not looks_like_bfcl(environment.data):
            continue
        other = find_layout(environment.data)
        twins = [(doc, other.data / doc.parent.name / doc.name) for doc in docs]
        folder = other.code()
        if folder and twins and other.version == layout.version and all(_same(*twin) for twin in twins):
            return Code(folder, environment.version)
    return None


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def read_signatures(code: Path, class_name: str, root: Path) -> Mapping[str, Signature]:
    """Read the public, undecorated methods of a class.

    Args:
        code: folder of the source files.
        class_name: name of the class.
        root: folder to which the named file is relative, where it contains the code; else the package's folder is.

    Returns:
        The signatures by method name; empty when the class or its file cannot be read.
    """
    path = code / f"{CLASS_DOCS[class_name]}.py"
    try:
        text = read_text(path, MAX_SOURCE_BYTES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = text.splitlines()
    base = root if code.is_relative_to(root) else code.parents[3]
    file = path.relative_to(base).as_posix()
    return {
        method.name: _signature(method, lines, file)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == class_name
        for method in node.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and not method.decorator_list
    }


def _signature(method: ast.FunctionDef, lines: list[str], file: str) -> Signature:
    given = [arg.arg for arg in (*method.args.posonlyargs, *method.args.args)][1:]
    required = given[: len(given) - len(method.args.defaults)]
    keyword_only = [arg.arg for arg in method.args.kwonlyargs]
    required += [name for name, default in zip(keyword_only, method.args.kw_defaults, strict=True) if default is None]
    header = lines[method.lineno - 1 : max(method.lineno, method.body[0].lineno - 1)]
    while not header[-1].strip() or header[-1].lstrip().startswith("#"):
        header.pop()
    return Signature(
        parameters=tuple(given + keyword_only),
        required=tuple(required),
        extra_keywords=method.args.kwarg is not None,
        source="\n".join(header).strip(),
        origin=Origin(file=file, line=method.lineno),
    )
