"""Edits one argument, or the name, in the source text of a call and leaves every other character unchanged."""

import ast
from collections.abc import Sequence
from typing import Any

from agenthard.audit.repair.json_edit import EditError

MAX_CALL_CHARS = 20_000
"""A longer text is not parsed."""


def edit_call(text: str, operation: dict[str, Any], path: Sequence[str], positional: Sequence[str]) -> str:
    """Apply one operation of a JSON Patch on a call such as ``sort('a.txt', reverse=True)``.

    Args:
        text: the call as written.
        operation: ``replace`` of the name, of an argument or a part of it; ``move`` of an argument to another name.
        path: tokens within the call: ``["name"]``, or ``["arguments", NAME, ...]``.
        positional: names of the arguments that are given by position, in order.

    Raises:
        EditError: when the text is not such a call, or the operation is not supported.

    >>> edit_call("touch('note.md')", {"op": "replace", "value": "notes.md"}, ["arguments", "file"], ["file"])
    "touch('notes.md')"
    """
    body = _parse(text)
    if list(path) == ["name"] and operation["op"] == "replace":
        return _splice(text, body.func, str(operation["value"]))
    if path[0] != "arguments" or len(path) < 2:
        raise EditError("only the name and the arguments of a call written as source text can be changed")
    if operation["op"] == "move":
        return _rename(text, body, path[1], operation["path"].rpartition("/")[2])
    if operation["op"] != "replace":
        raise EditError(f"cannot {operation['op']} an argument of a call written as source text")
    node = _argument(body, path[1], positional)
    for token in path[2:]:
        node = _enter(node, token)
    return _splice(text, node, _literal(operation["value"], ast.get_source_segment(text, node) or ""))


def _parse(text: str) -> ast.Call:
    if len(text) > MAX_CALL_CHARS or text != text.strip():
        raise EditError("the call is too long, or has blanks around it")
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EditError(f"the call cannot be parsed: {error}") from error
    if not isinstance(body, ast.Call):
        raise EditError("the text is not a call")
    return body


def _argument(call: ast.Call, name: str, positional: Sequence[str]) -> ast.expr:
    given = dict(zip(positional, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if name not in given:
        raise EditError(f"the call gives no argument {name!r}")
    return given[name]


def _enter(node: ast.expr, token: str) -> ast.expr:
    if isinstance(node, ast.List | ast.Tuple) and token.isdigit() and int(token) < len(node.elts):
        return node.elts[int(token)]
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and str(key.value) == token:
                return value
    raise EditError(f"no value at {token!r} in the argument")


def _rename(text: str, call: ast.Call, old: str, new: str) -> str:
    if not new.isidentifier():
        raise EditError(f"{new!r} cannot be the name of an argument")
    for keyword in call.keywords:
        if keyword.arg == old:
            begin = _offset(text, keyword.lineno, keyword.col_offset)
            return text[:begin] + new + text[begin + len(old) :]
    raise EditError(f"the argument {old!r} is not given by name")


def _splice(text: str, node: ast.expr, written: str) -> str:
    begin = _offset(text, node.lineno, node.col_offset)
    end = _offset(text, node.end_lineno or node.lineno, node.end_col_offset or 0)
    return text[:begin] + written + text[end:]


def _offset(text: str, line: int, column: int) -> int:
    """Turn a line and a column in UTF-8 bytes, as ``ast`` counts, into a position in the text."""
    lines = text.split("\n")
    before = sum(len(part) + 1 for part in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode())


def _literal(value: Any, old: str) -> str:
    """Write a value as Python; a text keeps the quotation marks of the text it replaces."""
    written = repr(value)
    if isinstance(value, str) and old[:1] in ("'", '"') and old[:1] not in value and value.isprintable():
        return old[:1] + value.replace("\\", "\\\\") + old[:1]
    return written
