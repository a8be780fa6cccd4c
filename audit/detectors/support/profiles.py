"""What a profile in the conversation says about the user, by the names of its fields."""

import ast
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, name_words
from agenthard.audit.detectors.support.knowledge import texts_in
from agenthard.audit.detectors.support.sharing import LastCache
from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask


class Field(NamedTuple):
    """A field of a profile."""

    at: str
    """JSON Pointer of the text that holds the profile."""
    name: str
    text: str


def _read(task: AgentTask) -> tuple[Field, ...]:
    return tuple(field for at, text in task.user_texts() for field in _fields(at, text))


profile_of = LastCache(_read)
"""Returns the fields of the profiles in a conversation: texts that are one object, as JSON or as a Python literal."""


def _fields(at: str, text: str) -> Iterator[Field]:
    if not text.lstrip().startswith("{"):
        return
    content: Any = None
    for read in (json.loads, ast.literal_eval):
        try:
            content = read(text.strip())
            break
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    for pointer, value in texts_in(content):
        names = [part for part in split(pointer) if not part.isdigit()]
        if names and not split(pointer)[-1].isdigit() and value not in names:
            yield Field(at, names[-1], value)


def contradicted(task: AgentTask, value: GoldValue) -> Field | None:
    """Return the field of the profile with the name of a parameter, where the gold gives something else that none says.

    A value that the profile, or any other text, says in some place may be meant; so may one that says the same in more
    or fewer words.
    """
    texts = value.strings()
    if not texts or len(texts) != len(value.accepted):
        return None
    named = [field for field in profile_of(task) if _name(field.name) == _name(value.member)]
    if len({field.text for field in named}) != 1:
        return None
    said = [squash(text) for _, text in task.user_texts()]
    own = squash(named[0].text)
    for _, text in texts:
        bare = squash(text)
        if bare in own or own in bare or any(bare in each for each in said):
            return None
    return named[0]


def _name(text: str) -> tuple[str, ...]:
    words = name_words(text)
    return tuple(word for word in words if word != "user") or tuple(words)
