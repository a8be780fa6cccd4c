"""What the user says, in any of the usual shapes, as turns of messages."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from agenthard.audit.sources.formats.chat_messages import to_messages
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.paths import structured
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import Message

ROLES = {
    "human": "user",
    "customer": "user",
    "gpt": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "chatbot": "assistant",
    "client": "user",
    "caller": "user",
    "guest": "user",
    "patient": "user",
    "usr": "user",
    "operator": "assistant",
    "clerk": "assistant",
    "support": "assistant",
    "sys": "assistant",
    "observation": "tool",
    "function_response": "tool",
}
"""Roles that other formats use, in addition to those of chat completions."""
SPEAKER_KEYS = ("role", "from", "speaker", "sender", "who", "author")
"""Keys under which formats keep who speaks."""
TEXT_KEYS = ("content", "value", "text", "utterance", "message", "says", "body")
"""Keys under which formats keep what is said."""
CALLERS = ("function_call", "tool_call")
"""Speakers whose text is a call."""
_LABELS = ("user", "human", "assistant", "ai", "gpt", "bot")

Turns = tuple[tuple[Message, ...], ...]
_CHAT = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
         "function": "tool"}  # fmt: skip


def speaker_role(name: str) -> str | None:
    """Return the role of a speaker: system, user, assistant or tool; None where the name does not tell."""
    lower = name.lower()
    return "assistant" if lower in CALLERS else _CHAT.get(lower) or ROLES.get(lower)


def speaker_of(item: Mapping[str, Any]) -> str:
    """Return who speaks in a message; empty where it does not say."""
    return str(next((item[key] for key in SPEAKER_KEYS if isinstance(item.get(key), str)), ""))


def said_calls(item: Mapping[str, Any]) -> list[Any]:
    """Return the calls that a message of the agent makes, as they are written; none for any other message."""
    speaker = speaker_of(item)
    if speaker_role(speaker) != "assistant":
        return []
    calls = structured(item.get("tool_calls"))
    if isinstance(calls, list) and calls:
        return calls
    said = item.get("function_call")
    if not said and speaker.lower() in CALLERS:
        said = next((item[key] for key in TEXT_KEYS if item.get(key)), None)
    said = structured(said)
    return said if isinstance(said, list) else [said] if said else []


def is_dialogue(value: Any) -> bool:
    """Tell whether a value is a flat list of messages: by their speakers, and because it does not hold calls itself."""
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) for item in value):
        return False
    roles = [speaker_role(speaker_of(item)) for item in value]
    named = any("name" in item for item, role in zip(value, roles, strict=True) if role != "tool")
    return None not in roles and (not named or any(map(said_calls, value)))


def calls_by_turn(messages: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Return the calls of a dialogue: those after one message of the user are one turn."""
    turns: list[list[Any]] = [[]]
    asked = False
    for item in messages:
        if speaker_role(speaker_of(item)) == "user":
            if asked:
                turns.append([])
            asked = True
        turns[-1] += said_calls(item)
    return turns


def read_turns(value: Any, pointer: str, roles: Mapping[str, str], *, per_user_message: bool = False) -> Turns:
    """Read what the user says.

    A text is one turn, split at labels at the beginning of lines when it starts with one. In a list, each text is a
    turn and each list of messages is one; a flat list of messages is one turn, because the agent answers once after
    it, unless ``per_user_message`` says otherwise.

    Args:
        value: the text, message, or list; perhaps as JSON text.
        pointer: where it is, for messages.
        roles: roles that the benchmark spells in its own way.
        per_user_message: whether every message of the user in a flat list begins a turn.

    Raises:
        MalformedRecordError: when it has another shape, or says nothing.
    """
    value = structured(value)
    if isinstance(value, str) and value.strip():
        turns: Turns = (_labelled(value, tuple(sorted(roles.items()))),)
    elif isinstance(value, Mapping):
        turns = (_messages([value], pointer, roles),)
    elif isinstance(value, list) and value:
        turns = _listed(value, pointer, roles, per_user_message)
    else:
        found = "nothing" if not value else type(value).__name__
        raise MalformedRecordError(f"expected what the user says as a text or messages, found {found}", pointer)
    if not any(message.content.strip() for turn in turns for message in turn):
        raise MalformedRecordError("the user says nothing", pointer)
    return turns


def _listed(items: list[Any], pointer: str, roles: Mapping[str, str], per_user_message: bool) -> Turns:
    kept = [item for item in items if item is not None]
    if kept and all(isinstance(item, str) for item in kept):
        return tuple((Message(role="user", content=text),) for text in kept)
    if all(isinstance(item, Mapping) for item in kept):
        flat = _messages(kept, pointer, roles)
        return _split(flat) if per_user_message else (flat,)
    if all(isinstance(item, (list, str)) for item in kept):
        return tuple(
            _messages(item if isinstance(item, list) else [item], join(pointer, i), roles)
            for i, item in enumerate(kept)
        )
    raise MalformedRecordError(
        "expected a list of texts, of messages, or of turns of messages; this one is mixed", pointer
    )


def _split(messages: Sequence[Message]) -> Turns:
    turns: list[list[Message]] = []
    for message in messages:
        begins = message.role == "user" and (not turns or any(said.role == "user" for said in turns[-1]))
        if begins or not turns:
            turns.append([])
        turns[-1].append(message)
    return tuple(map(tuple, turns))


def read_messages(value: Any, pointer: str, roles: Mapping[str, str]) -> tuple[Message, ...]:
    """Read a conversation, such as that of a run.

    Raises:
        MalformedRecordError: when it is not a conversation.
    """
    value = structured(value)
    if isinstance(value, str):
        return _labelled(value, tuple(sorted(roles.items())))
    if not isinstance(value, list):
        raise MalformedRecordError(f"expected a list of messages, found {type(value).__name__}", pointer)
    return _messages(value, pointer, roles)


def _messages(items: Sequence[Any], pointer: str, roles: Mapping[str, str]) -> tuple[Message, ...]:
    written = [_spelled(item, join(pointer, i), roles) for i, item in enumerate(items)]
    try:
        return to_messages(written)
    except ValueError as error:
        raise MalformedRecordError(str(error), pointer) from error


def _spelled(item: Any, pointer: str, roles: Mapping[str, str]) -> dict[str, Any]:
    """Spell a message as chat completions do: ``{role, content}``."""
    if isinstance(item, str):
        return {"role": "user", "content": item}
    if not isinstance(item, Mapping):
        raise MalformedRecordError(f"expected a message, found {type(item).__name__}", pointer)
    speaker = speaker_of(item)
    content = next((item[key] for key in TEXT_KEYS if item.get(key) is not None), "")
    return {**item, "role": roles.get(speaker, ROLES.get(speaker.lower(), speaker)), "content": content}


def _labelled(text: str, roles: tuple[tuple[str, str], ...]) -> tuple[Message, ...]:
    """Split a conversation that starts with a label; a text without labels is the user's."""
    named = dict(roles)
    if not (label := _label(tuple(named))).match(text):
        return (Message(role="user", content=text),)
    _, *parts = label.split(text)
    spoken = [
        {"role": _role(who, named), "content": said.strip()} for who, said in zip(parts[::2], parts[1::2], strict=True)
    ]
    return to_messages(spoken)


def _role(label: str, roles: Mapping[str, str]) -> str:
    return roles.get(label) or roles.get(label.lower()) or ROLES.get(label.lower(), label.lower())


@cache
def _label(more: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted({*_LABELS, *more}))
    return re.compile(rf"^[ \t]*({names})[ \t]*[:\uff1a]", re.MULTILINE | re.IGNORECASE)
