"""Calls in a ground-truth script, read without running it."""

import ast
import warnings
from typing import Any

from agenthard.taxonomy.task import ToolCall

MAX_CODE_CHARS = 50_000
"""A longer script is not parsed."""


def calls_in(code: str) -> tuple[ToolCall, ...] | None:
    r"""List the calls of a script in the order in which they are written.

    A call is named by its method alone (``doc.save(...)`` is ``save``). Its arguments are those that are literals or
    names that were given a literal and nothing else; arguments by position are called ``*0``, ``*1`` and so on.

    Returns:
        The calls, or None when the script does not parse.

    >>> [(call.name, call.arguments) for call in calls_in("size = 3\ndoc.draw(size, color='red', at=page.top)")]
    [('draw', {'*0': 3, 'color': 'red'})]
    """
    if len(code) > MAX_CODE_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        known = _constants(tree)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        calls = [_call(node, code, known) for node in sorted(nodes, key=_end)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tuple(call for call in calls if call is not None)


def _end(node: ast.Call) -> tuple[int, int]:
    """Position where a call ends: an inner call, and the call before a dot, come first, as they are run first."""
    return node.end_lineno or 0, node.end_col_offset or 0


def _constants(tree: ast.AST) -> dict[str, ast.expr]:
    values: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            values.setdefault(node.id, []).append(None)
    return {
        name: stored[0] for name, stored in values.items() if len([s for s in stored if s is None]) == 1 and stored[0]
    }


def _call(node: ast.Call, code: str, known: dict[str, ast.expr]) -> ToolCall | None:
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
    elif isinstance(node.func, ast.Name):
        name = node.func.id
    else:
        return None
    given = [(f"*{i}", value) for i, value in enumerate(node.args)]
    given += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None]
    arguments = {}
    for key, value in given:
        literal = known.get(value.id, value) if isinstance(value, ast.Name) else value
        try:
            arguments[key] = _json(ast.literal_eval(literal))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return ToolCall(name=name, arguments=arguments, positional=len(node.args), text=ast.get_source_segment(code, node))


def _json(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ValueError(f"no JSON: {type(value).__name__}")
