"""Logged conversations (chat completions, τ-bench, τ²-bench) as messages."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from agenthard.taxonomy.task import Message, ToolCall

_ROLES: dict[str, Literal["system", "user", "assistant", "tool"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def to_messages(items: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Convert logged messages.

    Calls may be flat (``{id, name, arguments}``), nested as in chat completions (``{id, function: {...}}``) or the
    older single ``function_call``. A call in a user's message is the user's own. A tool message without the tool's
    name gets the name of the call it answers.

    Raises:
        ValueError: when a message has no known role, or a call has no name.
    """
    messages = []
    names: dict[str, str] = {}
    for number, item in enumerate(items):
        role = _ROLES.get(str(item.get("role")))
        if role is None:
            raise ValueError(f"message {number} has the role {item.get('role')!r}; known are {', '.join(_ROLES)}")
        requestor: Literal["assistant", "user"] = "user" if "user" in (role, item.get("requestor")) else "assistant"
        calls = tuple(_call(call, requestor, number) for call in _logged_calls(item))
        names.update({call.id: call.name for call in calls if call.id})
        answered = _text_or_none(item.get("tool_call_id") or item.get("id")) if role == "tool" else None
        messages.append(
            Message(
                role=role,
                content=_content(item.get("content")),
                tool_calls=calls,
                tool_call_id=answered,
                tool_name=_text_or_none(item.get("name") or names.get(answered or "")) if role == "tool" else None,
                requestor=requestor if role == "tool" else "assistant",
            )
        )
    return tuple(messages)


def _logged_calls(item: Mapping[str, Any]) -> list[Any]:
    calls = item.get("tool_calls") or ([item["function_call"]] if item.get("function_call") else [])
    if not isinstance(calls, list):
        raise ValueError(f"tool_calls is a {type(calls).__name__}, not a list")
    return calls


def _call(value: Any, requestor: Literal["assistant", "user"], number: int) -> ToolCall:
    inner = value.get("function", value) if isinstance(value, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not isinstance(inner, Mapping):
        raise ValueError(f"message {number} has a tool call without a name")
    arguments, text = _arguments(inner.get("arguments"))
    return ToolCall(name=name, arguments=arguments, requestor=requestor, text=text, id=_text_or_none(value.get("id")))


def _arguments(value: Any) -> tuple[dict[str, Any], str | None]:
    """Parse logged arguments; text that a model wrote and that is not a JSON object is kept as the call's text."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = None
        return (parsed, None) if isinstance(parsed, dict) else ({}, value)
    if value is None or isinstance(value, dict):
        return value or {}, None
    return {}, json.dumps(value, ensure_ascii=False)


def _content(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    parts = value if isinstance(value, list) else [value]
    return "\n".join(_part(part) for part in parts)


def _part(part: Any) -> str:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else json.dumps(part, ensure_ascii=False)


def _text_or_none(value: Any) -> str | None:
    return str(value) if value else None
