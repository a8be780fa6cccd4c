"""What a profile in the conversation says about the user, by the names of its fields."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, name_words
from agenthard.audit.detectors.support.sharing import LastCache
from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.task import AgentTask

_FIELD = re.compile(r"""(?<![\w'"])['"](\w{3,60})['"]: ?['"]([^'"\n]{1,100})['"](?=[,}\s])""")


class Field(NamedTuple):
    """A field of a profile."""

    at: str
    """JSON Pointer of the text that holds the profile."""
    name: str
    """Its name."""
    text: str
    """Its value."""


def _read(task: AgentTask) -> tuple[Field, ...]:
    return tuple(field for at, text in task.user_texts() for field in _fields(at, text))


profile_of = LastCache(_read)
"""Returns the fields of the profiles in a conversation: texts that begin as an object of JSON or Python."""


def _fields(at: str, text: str) -> Iterator[Field]:
    if text.lstrip().startswith("{"):
        yield from (Field(at, match[1], match[2]) for match in _FIELD.finditer(text))


def contradicted(task: AgentTask, value: GoldValue) -> Field | None:
    """Return the field of the profile with a parameter's name, where the gold gives something else.

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
