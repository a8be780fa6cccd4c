"""Reads a benchmark's Python files as text: nothing in them is imported or executed."""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import Signature

MAX_SOURCE_BYTES = 16 * 1024 * 1024
"""A longer Python file is not parsed; the largest task file of the benchmarks has half a megabyte."""


def parse_source(path: Path, name: str) -> tuple[ast.Module, str]:
    """Parse a Python file.

    Args:
        path: the file.
        name: its name in messages, relative to the root.

    Returns:
        The syntax tree and the text.

    Raises:
        UnreadableDomainError: when the file is absent, too long, not UTF-8 or not Python.
    """
    try:
        text = read_text(path, MAX_SOURCE_BYTES)
        return ast.parse(text), text
    except SyntaxError as error:
        raise UnreadableDomainError(name, f"not Python: {error.msg}; fix the file", line=error.lineno) from error
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableDomainError(name, f"cannot read the file: {error}") from error


def literal(node: ast.expr) -> Any:
    """Evaluate a literal in which calls with keywords only, such as ``Action(name="x", kwargs={})``, are read as dicts.

    >>> literal(ast.parse('Task(user_id="u", actions=[Action(name="x", kwargs={"n": -1})])', mode="eval").body)
    {'user_id': 'u', 'actions': [{'name': 'x', 'kwargs': {'n': -1}}]}

    Raises:
        ValueError: when something in it is not a literal; the message names the line.
    """
    if isinstance(node, ast.Call):
        keywords = [(keyword.arg, keyword.value) for keyword in node.keywords]
        if node.args or any(name is None for name, _ in keywords):
            raise ValueError(f"line {node.lineno}: write every field of the call by keyword")
        return {name: literal(value) for name, value in keywords}
    if isinstance(node, ast.List | ast.Tuple):
        return [literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        if any(key is None for key in node.keys):
            raise ValueError(f"line {node.lineno}: a dict with ** is not a literal")
        return {ast.literal_eval(key): literal(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"line {getattr(node, 'lineno', '?')}: {ast.unparse(node)[:60]!r} is not a literal") from error


def signature_of(function: ast.FunctionDef, text: str, file: str, skip: Sequence[str]) -> Signature:
    """Describe what a function takes, leaving out the parameters in ``skip`` (self, the database)."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = len(arguments.defaults)
    required = [item.arg for item in positional[: len(positional) - defaults]]
    required += [
        item.arg for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
    ]
    names = [item.arg for item in [*positional, *arguments.kwonlyargs]]
    head = text.splitlines()[function.lineno - 1 : function.body[0].lineno - 1] or [f"def {function.name}(...):"]
    return Signature(
        parameters=tuple(name for name in names if name not in skip),
        required=tuple(name for name in required if name not in skip),
        extra_keywords=arguments.kwarg is not None,
        source=_head(head),
        origin=Origin(file=file, line=function.lineno),
    )


def _head(lines: list[str]) -> str:
    """Cut the lines of a function after the colon that ends its ``def`` line."""
    end = next((i for i, line in enumerate(lines) if line.rstrip().endswith(":")), len(lines) - 1)
    return "\n".join(lines[: end + 1]).strip()
