"""What all interfaces ask of a conversation, and say of a reply."""

from models.errors import BadRequest
from models.request import Finish, Request


def check_pictures(request: Request) -> None:
    """Refuse pictures that no interface can send.

    Raises:
        BadRequest: Somebody else than the user shows one.
    """
    for message in request.messages:
        if message.images and message.role != "user":
            raise BadRequest(f"a {message.role} message holds a picture; only the user can show one")


def turn_of(request: Request) -> int:
    """How many replies the conversation has so far; calls without an id are numbered with it."""
    return sum(message.role == "assistant" for message in request.messages)


def finish_of(calls: bool, *, refused: bool, cut: bool) -> Finish:
    """Why a reply ended."""
    if refused:
        return "refusal"
    if cut:
        return "length"
    return "tool_calls" if calls else "stop"
