"""Recorded conversations as calls with their responses, and as attempts."""

from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.execution.environment import Attempt
from agenthard.taxonomy.task import Message, ToolCall


def answered_calls(messages: Iterable[Message]) -> Iterator[tuple[ToolCall, str]]:
    """Yield the calls of a conversation with their responses; one without a response was never carried out."""
    waiting: list[ToolCall] = []
    for message in messages:
        if message.role == "tool" and waiting:
            named = (i for i, call in enumerate(waiting) if call.id == message.tool_call_id)
            yield waiting.pop(next(named, 0)), message.content
        elif message.role != "tool":
            waiting = list(message.tool_calls)


def attempt_of(messages: Sequence[Message], *, beside_calls: bool) -> Attempt:
    """Return what the agent of a conversation did and said.

    Args:
        messages: the conversation.
        beside_calls: whether text that accompanies a tool call counts as said.
    """
    spoken = (message for message in messages if message.role == "assistant" and message.content)
    replies = tuple(message.content for message in spoken if beside_calls or not message.tool_calls)
    return Attempt(turns=(tuple(call for call, _ in answered_calls(messages)),), replies=replies)


def was_closed(messages: Sequence[Message], stop: str, transfer: str) -> bool:
    """Tell whether a conversation ended with the user's word ``stop`` or with a call of the tool ``transfer``."""
    last = messages[-1] if messages else None
    if last is None:
        return False
    return (last.role == "user" and stop in last.content) or (last.role == "tool" and last.tool_name == transfer)
