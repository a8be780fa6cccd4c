"""Inspect's chat messages as messages of a record."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agenthard.taxonomy.task import Message, ToolCall

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


def to_messages(messages: Sequence["ChatMessage"]) -> tuple[Message, ...]:
    """Translate messages. Reasoning is left out; images and other parts without text are named by their type."""
    return tuple(_message(message) for message in messages)


def _message(message: "ChatMessage") -> Message:
    content = _text(message)
    if message.role == "tool":
        if message.error is not None and not content:
            content = f"{message.error.type}: {message.error.message}"
        return Message(role="tool", content=content, tool_call_id=message.tool_call_id, tool_name=message.function)
    if message.role == "assistant":
        calls = tuple(
            ToolCall(name=call.function, arguments=call.arguments, id=call.id) for call in message.tool_calls or ()
        )
        return Message(role="assistant", content=content, tool_calls=calls)
    return Message(role=message.role, content=content)


def _text(message: "ChatMessage") -> str:
    if isinstance(message.content, str):
        return message.content
    parts = []
    for part in message.content:
        if part.type == "text":
            parts.append(part.text)
        elif part.type != "reasoning":
            parts.append(f"[{part.type}]")
    return "\n".join(parts)
