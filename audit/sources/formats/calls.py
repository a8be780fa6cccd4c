"""Python call strings, read without running them."""

import ast
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import ToolCall

MAX_CALL_CHARS = 20_000
"""A longer text is not parsed."""


class _UnreadableCallError(AgentHardError):
    pass


def parse_call(text: str, parameters: Mapping[str, Sequence[str]]) -> ToolCall:
    """Read one call such as ``sort('report.pdf', reverse=True)``.

    Arguments given by position get the names that the tool's documentation has at that position; one beyond them is
    called ``*`` and its position. A text that is no single call with literal arguments gives a call without a name.

    Args:
        text: the call as written.
        parameters: parameter names in documented order, by tool name.

    >>> call = parse_call("sort('a.txt', reverse=True)", {"sort": ["file_name", "reverse"]})
    >>> call.name, call.arguments, call.positional
    ('sort', {'file_name': 'a.txt', 'reverse': True}, 1)
    >>> parse_call("sort(", {}).name
    ''
    """
    try:
        return _call(_expression(text), text, parameters)
    except _UnreadableCallError:
        return ToolCall(name="", text=text)


def parse_call_list(text: str, parameters: Mapping[str, Sequence[str]]) -> tuple[ToolCall, ...]:
    """Read a model's ``[f(x=1), g()]``, with or without brackets; a text that is no such list gives no calls."""
    body = text.strip("`\n ")
    body = body.removeprefix("[").removesuffix("]")
    try:
        expression = _expression(f"[{body}]")
        if not isinstance(expression, ast.List):
            return ()
        return tuple(_call(item, ast.unparse(item), parameters) for item in expression.elts)
    except (_UnreadableCallError, RecursionError):
        return ()


def _expression(text: str) -> ast.expr:
    if len(text) > MAX_CALL_CHARS:
        raise _UnreadableCallError
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _UnreadableCallError from error


def _call(node: ast.expr, text: str, parameters: Mapping[str, Sequence[str]]) -> ToolCall:
    if not isinstance(node, ast.Call):
        raise _UnreadableCallError
    name = _dotted(node.func)
    names = parameters.get(name, ())
    arguments = {names[i] if i < len(names) else f"*{i}": _literal(value) for i, value in enumerate(node.args)}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise _UnreadableCallError
        arguments[keyword.arg] = _literal(keyword.value)
    return ToolCall(name=name, arguments=arguments, positional=len(node.args), text=text)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise _UnreadableCallError


def _literal(node: ast.expr) -> Any:
    try:
        return _json(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise _UnreadableCallError from error


def _json(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise _UnreadableCallError
