"""Tool calls as benchmarks write them: Python call strings, read without running them, and JSON objects."""

import ast
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from agenthard.audit.sources.formats.malformed import expect, member
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolCall

MAX_CALL_CHARS = 20_000
"""A longer text is not parsed."""


class _UnreadableCallError(AgentHardError):
    pass


def parse_call(text: str, parameters: Mapping[str, Sequence[str]]) -> ToolCall:
    """Read one call such as ``sort('report.pdf', reverse=True)``.

    Arguments given by position get the names that the tool's documentation has at that position; one beyond them is
    called ``*`` and its position. A text that is not a single call with literal arguments gives a call without a name.

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
    """Read a model's ``[f(x=1), g()]``, with or without brackets; any other text gives no calls."""
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


def read_call(item: Any, pointer: str) -> ToolCall:
    """Read ``{"name", "arguments"}``, or OpenAI's ``{"id", "type": "function", "function": {"name", "arguments"}}``.

    Arguments may be an object or JSON text. Any other text gives a call without a name that keeps the
    text, so that checks can report how the gold call is written.

    Args:
        item: the call.
        pointer: where it is, for messages.

    Raises:
        MalformedRecordError: No name, or the arguments are neither an object nor text.

    >>> read_call({"id": "c1", "function": {"name": "add", "arguments": '{"x": 1}'}}, "").arguments
    {'x': 1}
    >>> read_call({"name": "add", "arguments": '{"x": 1'}, "").text
    'add({"x": 1)'
    """
    call = expect(item, dict, pointer)
    inner = call.get("function")
    place = pointer
    if isinstance(inner, Mapping):
        call, place = {**inner, "id": call.get("id")}, join(pointer, "function")
    name = member(call, "name", str, place)
    written = call.get("arguments")
    identity = call.get("id") if isinstance(call.get("id"), str) else None
    if isinstance(written, str):
        arguments = _object(written)
        if arguments is None:
            return ToolCall(name="", text=f"{name}({written})", id=identity)
    else:
        arguments = expect({} if written is None else written, dict, join(place, "arguments"))
    return ToolCall(name=name, arguments=arguments, id=identity)


def _object(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
