"""Tool calls as conversations hold them."""

import json
from collections.abc import Mapping
from typing import Any

from agenthard.audit.sources.formats.malformed import expect, member
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolCall


def read_call(item: Any, pointer: str) -> ToolCall:
    """Read ``{"name", "arguments"}``, or OpenAI's ``{"id", "type": "function", "function": {"name", "arguments"}}``.

    Arguments may be an object or JSON text. A text that is no JSON object gives a call without a name that keeps the
    text, as what a gold call is written as is for the checks to judge.

    Args:
        item: the call.
        pointer: where it stands, for messages.

    Raises:
        Malformed: when there is no name, or the arguments are neither an object nor text.

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
