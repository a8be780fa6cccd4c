"""What all interfaces ask of a conversation, and say of a reply."""

from typing import Any

from agenthard.models.errors import BadRequestError
from agenthard.models.request import Finish, Request, Usage
from agenthard.models.tokens import most_output_tokens, most_prompt_tokens

MOST_TOKENS = 2**40
"""No reply has a trillion tokens. Sums of so many of them are exact as a float and fit the ledger's integers."""


def check_pictures(request: Request) -> None:
    """Refuse pictures that no interface can send.

    Raises:
        BadRequestError: Somebody else than the user shows one.
    """
    for message in request.messages:
        if message.images and message.role != "user":
            raise BadRequestError(f"a {message.role} message holds a picture; only the user can show one")


def turn_of(request: Request) -> int:
    """How many replies the conversation has so far; calls without an id are numbered with it."""
    return sum(message.role == "assistant" for message in request.messages)


def usage_of(
    request: Request, prompt: Any, completion: Any, cached: Any = None, reasoning: Any = None
) -> tuple[Usage, bool]:
    """What a reply took, in the provider's words.

    Args:
        request: What was asked.
        prompt: Tokens of the request. 0 is taken as not stated: no request has none, and some servers say so of each.
        completion: Tokens of the reply, thoughts included.
        cached: Tokens of the request that the provider had cached.
        reasoning: Tokens of the reply that were thoughts.

    Returns:
        The usage, and whether the provider stated it. What it did not state is the most that it can be, so that a
        budget holds.

    Raises:
        ValueError: A number is none, is negative, or is more than any reply can take.
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
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= MOST_TOKENS:
        raise ValueError(f"a usage of {str(count)[:40]} tokens")
    return int(count)


def finish_of(calls: bool, *, refused: bool, cut: bool) -> Finish:
    """Why a reply ended."""
    if refused:
        return "refusal"
    if cut:
        return "length"
    return "tool_calls" if calls else "stop"
