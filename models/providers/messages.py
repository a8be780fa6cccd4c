"""Checks of a conversation and readings of a reply that all interfaces share."""

from typing import Any

from agenthard.models.errors import BadRequestError
from agenthard.models.request import Finish, Request, Usage
from agenthard.models.tokens import most_output_tokens, most_prompt_tokens

MAX_TOKENS = 2**40
"""No reply has a trillion tokens. Sums of such numbers are exact as a float and fit the integers of the ledger."""


def check_images(request: Request) -> None:
    """Reject images that no interface can send.

    Raises:
        BadRequestError: A message of another role than the user has an image.
    """
    for message in request.messages:
        if message.images and message.role != "user":
            raise BadRequestError(f"a {message.role} message contains an image; only user messages can")


def turn_of(request: Request) -> int:
    """Return the number of replies in the conversation so far; calls without an id are numbered with it."""
    return sum(message.role == "assistant" for message in request.messages)


def usage_of(
    request: Request, prompt: Any, completion: Any, cached: Any = None, reasoning: Any = None
) -> tuple[Usage, bool]:
    """Return the usage of a reply, as the provider states it.

    Args:
        request: The request.
        prompt: Tokens of the request. 0 counts as not stated: some servers state 0 for every request.
        completion: Tokens of the reply, reasoning included.
        cached: Tokens of the request that the provider had cached.
        reasoning: Reasoning tokens of the reply.

    Returns:
        The usage, and whether the provider stated it. Numbers that it did not state are upper bounds, so that a budget
        holds.

    Raises:
        ValueError: A value is not a number, is negative, or exceeds `MAX_TOKENS`.
    """
    stated = completion is not None and bool(prompt)
    prompt = _tokens(prompt) or most_prompt_tokens(request)
    completion = most_output_tokens(request) if completion is None else _tokens(completion)
    usage = Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=min(_tokens(cached), prompt),
        reasoning_tokens=min(_tokens(reasoning), completion),
    )
    return usage, stated


def _tokens(count: Any) -> int:
    if count is None:
        return 0
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= MAX_TOKENS:
        raise ValueError(f"a usage of {str(count)[:40]} tokens")
    return int(count)


def finish_of(calls: bool, *, refused: bool, cut: bool) -> Finish:
    """Return why a reply ended."""
    if refused:
        return "refusal"
    if cut:
        return "length"
    return "tool_calls" if calls else "stop"
