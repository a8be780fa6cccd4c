"""Replies in the Messages protocol of Anthropic, as JSON and as a stream of events."""

import json
from collections.abc import Iterator
from typing import Any

from agenthard.agency.scaffolds.claude.protocol import Answered
from agenthard.models.request import Call


def whole(answered: Answered) -> dict[str, Any]:
    """Return a reply as one JSON object. Arguments that are not one are given as an empty object."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answered.text}] if answered.text else []
    return _message(answered) | {
        "content": blocks + [_block(call) | {"input": _input(call)} for call in answered.calls],
        "stop_reason": answered.stop,
    }


def stream(answered: Answered) -> Iterator[str]:
    """Yield a reply as the events of a stream.

    >>> from agenthard.models.request import Usage
    >>> said = Answered(id="1", model="m", text="a", calls=(), stop="end_turn", usage=Usage())
    >>> [line.partition(chr(10))[0] for line in stream(said)][:3]
    ['event: message_start', 'event: content_block_start', 'event: content_block_delta']
    """
    yield event("message_start", message=_message(answered))
    number = 0
    if answered.text:
        yield from _streamed(number, {"type": "text", "text": ""}, {"type": "text_delta", "text": answered.text})
        number += 1
    for number, call in enumerate(answered.calls, number):  # noqa: B020 - goes on counting
        written = {"type": "input_json_delta", "partial_json": call.arguments or "{}"}
        yield from _streamed(number, _block(call), written)
    ended = {"stop_reason": answered.stop, "stop_sequence": None}
    yield event("message_delta", delta=ended, usage={"output_tokens": answered.usage.completion_tokens})
    yield event("message_stop")


def _streamed(number: int, block: dict[str, Any], delta: dict[str, Any]) -> Iterator[str]:
    yield event("content_block_start", index=number, content_block=block)
    yield event("content_block_delta", index=number, delta=delta)
    yield event("content_block_stop", index=number)


def event(kind: str, **data: Any) -> str:
    """Write an event of a stream."""
    return f"event: {kind}\ndata: {json.dumps({**data, 'type': kind})}\n\n"


def _message(answered: Answered) -> dict[str, Any]:
    used = {"input_tokens": answered.usage.prompt_tokens, "output_tokens": answered.usage.completion_tokens}
    return {
        "id": answered.id,
        "type": "message",
        "role": "assistant",
        "model": answered.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": used,
    }


def _block(call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}


def _input(call: Call) -> dict[str, Any]:
    try:
        found = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
