"""Slips of the keyboard in something that has to be copied character by character."""

import re
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.derived_numbers import derives
from agenthard.audit.detectors.support.gold_values import GoldValue
from agenthard.audit.detectors.support.knowledge import Knowledge
from agenthard.taxonomy.task import AgentTask

_COPIED = re.compile(
    r"(?<![\w@.#$%&*+=-])(?:[\w+-][\w.+-]*@[\w-]+(?:\.[\w-]+)+|[\w-]+\.[A-Za-z]\w{0,4}|(?=[\w-]*\d)\w[\w-]{3,})(?![\w@#$%&*+=-]|\.\w)"
)
"""An e-mail address, a file name, or an identifier or number of four characters or more with a digit."""
_SHORTEST = 4
_LONGEST = 200


@dataclass(frozen=True)
class Slip:
    """A gold value that is one slip away from what the user says."""

    at: str
    """JSON Pointer of the gold value, relative to the arguments."""
    said: str
    """What the user says."""
    said_at: str
    """JSON Pointer of the text that says it."""


class Conversation:
    """What the user says that has to be copied."""

    def __init__(self, task: AgentTask, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._text = "\n".join(text for _, text in task.user_texts())
        said = [(m[0], at) for at, text in task.user_texts() for m in _COPIED.finditer(text) if len(m[0]) <= _LONGEST]
        self._said = {word: at for word, at in reversed(said)}

    @property
    def names(self) -> int:
        """How many different things the user says that have to be copied."""
        return len(self._said)

    def slip(self, value: GoldValue) -> Slip | None:
        """Return what a required value is meant to copy, where the user says exactly one thing that is a slip away."""
        if not self._said or value.omissible or len(value.accepted) != 1:
            return None
        at, given = value.accepted[0]
        text = str(given)
        if isinstance(given, bool) or not isinstance(given, str | int) or not _SHORTEST <= len(text) <= _LONGEST:
            return None
        near = [word for word in self._said if is_slip(text, word)]
        if len(near) != 1 or parse_date(text) or self._stands(text):
            return None
        return Slip(at, near[0], self._said[near[0]])

    def _stands(self, text: str) -> bool:
        word = re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w-]|\.\w)", re.IGNORECASE)
        if word.search(self._text) or self._knowledge.documented(text) or self._knowledge.in_state(text):
            return True
        return text.isdecimal() and derives(float(text), self._text)


def is_slip(given: str, said: str) -> bool:
    """Tell whether one character inside or at the end was lost, doubled or put in, or two neighbours exchanged.

    Another character in the place of one is no slip, because it can name another entity, nor is anything at the start,
    where prefixes are put ("P followed by 1234"), nor a zero at the end of a number, which can be another unit.

    >>> [is_slip(given, "plan.txt") for given in ("plantxt", "pla.ntxt", "plan.txtt", "plan.tzt", "aplan.txt")]
    [True, True, True, False, False]
    >>> is_slip("12334", "1234"), is_slip("12340", "1234")
    (True, False)
    """
    a, b = given.casefold(), said.casefold()
    if a[:1] != b[:1] or abs(len(a) - len(b)) > 1 or OSA.distance(a, b, score_cutoff=1) != 1:
        return False
    if a.isdecimal() and b.isdecimal() and len(a) != len(b) and max(a, b, key=len) == min(a, b, key=len) + "0":
        return False
    return len(a) != len(b) or sorted(a) == sorted(b)
