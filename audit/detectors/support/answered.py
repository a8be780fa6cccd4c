"""Calls of a recorded run with their responses and where both stand."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.taxonomy.task import Message, ToolCall


class Answered(NamedTuple):
    """A call that got a response."""

    call: ToolCall
    """The call."""
    place: str
    """JSON Pointer of the call in the run."""
    text: str
    """The response."""
    position: int
    """Index of the response among the messages."""


def answered(messages: Sequence[Message]) -> Iterator[Answered]:
    """Pair calls with responses, in the order of the responses.

    A response belongs to the call whose id it names, else to the oldest call of the last message that is still open.
    A call without a response was never carried out and is left out.
    """
    waiting: list[tuple[ToolCall, str]] = []
    for i, message in enumerate(messages):
        if message.role == "tool" and waiting:
            wanted = message.tool_call_id
            named = (j for j, (call, _) in enumerate(waiting) if wanted is not None and call.id == wanted)
            call, place = waiting.pop(next(named, 0))
            yield Answered(call, place, message.content, i)
        elif message.role != "tool":
            waiting = [(call, f"/messages/{i}/tool_calls/{j}") for j, call in enumerate(message.tool_calls)]


def parsed(text: str) -> Any:
    """Return a response as JSON data; None when it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
