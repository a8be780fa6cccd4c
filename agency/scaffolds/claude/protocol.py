"""The Messages protocol of Anthropic: requests that are read whole or refused, and replies as JSON and as a stream.

What differs from one run to the next or belongs to one provider is not part of what is read: ids of the session and
the device (``metadata``), marks for the provider's cache (``cache_control``), and how replies are sampled, which the
file of the model says. Anything else that is not understood is refused, so that nothing is lost without a word.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from agenthard.models.request import Call, ChatMessage, Finish, Tool, Usage
from agenthard.taxonomy.record import Record

READ = frozenset({"model", "messages", "system", "tools", "stream"})
"""Fields of a request that are read."""
LEFT_OUT = frozenset({"metadata", "max_tokens", "temperature", "thinking", "output_config"})
"""Fields that do not count: ids, which differ in each run, and sampling, which the file of the model says."""
STOPS: dict[Finish, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
}
_MARK = "cache_control"


class Refused(Exception):  # noqa: N818 - an answer, not a failure of ours
    """A request that is answered by an error."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message

    def body(self) -> dict[str, Any]:
        """Return the error as the protocol writes it."""
        return {"type": "error", "error": {"type": self.kind, "message": self.message}}


class Asked(Record):
    """A request."""

    model: str
    """Name of the model, as the program knows it."""
    system: str
    """The system prompt; its parts are joined by an empty line."""
    messages: tuple[ChatMessage, ...]
    """The conversation; a message for each text of the user and each result of a call."""
    tools: tuple[Tool, ...]
    """The tools that are offered."""
    stream: bool
    """Whether the reply is to come as a stream of events."""


class Answered(Record):
    """A reply as the program gets it."""

    id: str
    """Id of the reply."""
    model: str
    """Name of the model, as the program knows it."""
    text: str
    """Its text."""
    calls: tuple[Call, ...]
    """Its calls, by the names that the program knows."""
    stop: str
    """Why it ended, in the words of the protocol."""
    usage: Usage
    """Tokens."""


def read(body: Any) -> Asked:
    """Read the body of a request.

    Raises:
        Refused: it has something that is not understood; the message names it.
    """
    given = _fields(body, READ | LEFT_OUT, "the request")
    try:
        return Asked(
            model=_text(given["model"], "model"),
            system="\n\n".join(_texts(given.get("system", ""), "system")),
            messages=tuple(_conversation(given["messages"])),
            tools=tuple(_tool(each, f"tools[{at}]") for at, each in enumerate(_list(given.get("tools", []), "tools"))),
            stream=given.get("stream", False) is True,
        )
    except KeyError as error:
        raise _wrong(f"the request has no {error.args[0]}") from None


def _conversation(messages: Any) -> Iterator[ChatMessage]:
    names: dict[str, str] = {}
    for at, message in enumerate(_list(messages, "messages")):
        place = f"messages[{at}]"
        given = _fields(message, {"role", "content"}, place)
        if given["role"] == "assistant":
            said = _said(given["content"], f"{place}.content")
            names |= {call.id: call.name for call in said.calls}
            yield said
        elif given["role"] == "user":
            yield from _told(given["content"], f"{place}.content", names)
        else:
            raise _wrong(f"{place}: messages of {given['role']!r} are not supported")


def _said(content: Any, place: str) -> ChatMessage:
    if isinstance(content, str):
        return ChatMessage(role="assistant", text=content)
    texts, calls = [], []
    for at, block in enumerate(_list(content, place)):
        here = f"{place}[{at}]"
        if _kind(block, here) == "text":
            texts.append(_text(_fields(block, {"type", "text"}, here)["text"], here))
        elif block["type"] == "tool_use":
            given = _fields(block, {"type", "id", "name", "input"}, here)
            written = json.dumps(given["input"], ensure_ascii=False)
            calls.append(Call(id=_text(given["id"], here), name=_text(given["name"], here), arguments=written))
        else:
            raise _unsupported(block, here)
    return ChatMessage(role="assistant", text="".join(texts), calls=tuple(calls))


def _told(content: Any, place: str, names: dict[str, str]) -> Iterator[ChatMessage]:
    if isinstance(content, str):
        yield ChatMessage(role="user", text=content)
        return
    for at, block in enumerate(_list(content, place)):
        here = f"{place}[{at}]"
        if _kind(block, here) == "text":
            yield ChatMessage(role="user", text=_text(_fields(block, {"type", "text"}, here)["text"], here))
        elif block["type"] == "tool_result":
            given = _fields(block, {"type", "tool_use_id", "content", "is_error"}, here)
            id = _text(given["tool_use_id"], here)
            if id not in names:
                raise _wrong(f"{here}: a result of a call {id!r} that is not in the conversation")
            text = "\n".join(_texts(given.get("content", ""), f"{here}.content"))
            yield ChatMessage(role="tool", text=text, call_id=id, tool_name=names[id])
        else:
            raise _unsupported(block, here)


def _tool(given: Any, place: str) -> Tool:
    found = _fields(given, {"name", "description", "input_schema"}, place)
    schema = found["input_schema"]
    if not isinstance(schema, dict):
        raise _wrong(f"{place}.input_schema is not an object")
    described = _text(found.get("description", ""), place)
    return Tool(name=_text(found["name"], place), description=described, parameters=schema)


def _texts(content: Any, place: str) -> list[str]:
    """Return the texts of what may be one text or blocks of texts."""
    if isinstance(content, str):
        return [content]
    found = []
    for at, block in enumerate(_list(content, place)):
        here = f"{place}[{at}]"
        if _kind(block, here) != "text":
            raise _unsupported(block, here)
        found.append(_text(_fields(block, {"type", "text"}, here)["text"], here))
    return found


def _fields(given: Any, known: Iterable[str], place: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _wrong(f"{place} is not an object")
    if unknown := sorted(given.keys() - {*known, _MARK}):
        raise _wrong(f"{place} has fields that are not supported: {', '.join(unknown)}")
    return given


def _kind(block: Any, place: str) -> str:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        raise _wrong(f"{place} is not a block of content")
    kind: str = block["type"]
    return kind


def _list(given: Any, place: str) -> list[Any]:
    if not isinstance(given, list):
        raise _wrong(f"{place} is not a list")
    return given


def _text(given: Any, place: str) -> str:
    if not isinstance(given, str):
        raise _wrong(f"{place} is not a text")
    return given


def _unsupported(block: dict[str, Any], place: str) -> Refused:
    return _wrong(f"{place}: content of the type {block['type']!r} is not supported")


def _wrong(message: str) -> Refused:
    return Refused(400, "invalid_request_error", message)
