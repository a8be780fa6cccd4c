"""What a user dictates in quotation marks, and what a ground truth gives in other words."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import knowledge_of
from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.task import AgentTask

_QUOTED = re.compile(
    r"(?<!\w)'([^'\n]{2,400}(?:\w'\w[^'\n]*){0,4})'(?!\w)|\"([^\"\n]{2,400})\"|“([^”\n]{2,400})”|‘([^’\n]{2,400})’"
)
_BLANK = re.compile(r"\b[Xx]{1,4}\b|[{}<>\[\]]|_{2}|\(\s*\)|\b[a-z]+_[a-z_]+\b|\.\.\.|…")
"""What a template leaves open."""
_FILE = re.compile(r"[\w-]+(?:\.\w{1,5})+|(?:~?/)?[\w.-]+(?:/[\w.-]+)+/?")
_FEWEST_WORDS = 3
_LONGEST = 2000
"""Characters of a text: a longer one is a file that the agent writes, and no user dictates it."""
_FEWEST_PARTS = 2
_SHORT = 600
"""Characters of an instruction that tells little more than what is dictated."""
_ALIKE = 70.0
"""Similarity, of 100, of two wordings of one text."""


class Quotation(NamedTuple):
    """A text in quotation marks."""

    at: str
    """JSON Pointer of the text around it."""
    text: str
    """What is between the marks."""


def quotations(spoken: Spoken, turn: int) -> Iterator[Quotation]:
    """Yield what the user puts in quotation marks for a turn."""
    for at, text in spoken.scope(turn):
        for match in _QUOTED.finditer(text):
            yield Quotation(at, next(group for group in match.groups() if group))


def dictated(task: AgentTask, spoken: Spoken, value: GoldValue, turn: int, before: Sequence[Step]) -> Quotation | None:
    """Return the text that the user dictates where a gold call gives another one that no text has.

    A dictated text is meant where it resembles the one that is given, or where it is the only one of three words or
    more that no gold call has while the call gives the only one that no text has.
    """
    used = spoken.given_text
    short = _one_number_off(task, spoken, value, turn, before)
    if short is not None:
        return short
    given = _own_text(task, spoken, value, turn, before)
    if given is None:
        return None
    free = [
        said
        for said in quotations(spoken, turn)
        if len(words(said.text)) >= _FEWEST_WORDS and squash(said.text) not in used and not _BLANK.search(said.text)
    ]
    bare = squash(given)
    alike = [said for said in free if fuzz.ratio(squash(said.text), bare) >= _ALIKE]
    if len(alike) == 1:
        return alike[0]
    if sum(map(str.isalpha, words(given))) < _FEWEST_WORDS:
        return None
    others = [each for each in _values_of(task, turn) if _own_text(task, spoken, each, turn, before) is not None]
    return free[0] if len(free) == 1 and len(others) == 1 and _is_short(task) else None


def _one_number_off(
    task: AgentTask, spoken: Spoken, value: GoldValue, turn: int, before: Sequence[Step]
) -> Quotation | None:
    """Return the quotation of two words or more that is a text except for one word with a number: Q3, Q4."""
    texts = [text for _, text in value.strings()]
    if len(texts) != 1 or len(value.accepted) != 1 or len(words(texts[0])) < _FEWEST_PARTS:
        return None
    bare = squash(texts[0])
    seen = [*spoken.texts(turn), *(step.observation.text for step in before)]
    if any(bare in squash(text) for text in seen) or knowledge_of(task).is_in_state(texts[0]):
        return None
    own = words(texts[0])
    for said in quotations(spoken, turn):
        other = words(said.text)
        changed = [pair for pair in zip(own, other, strict=False) if pair[0] != pair[1]]
        alike = (
            len(own) == len(other)
            and len(changed) == 1
            and any(map(str.isalpha, own))
            and squash(said.text) not in spoken.given_text
        )
        if alike and all(any(map(str.isdigit, word)) for word in changed[0]) and not _BLANK.search(said.text):
            return said
    return None


def _is_short(task: AgentTask) -> bool:
    return task.user.kind == "scripted" or sum(len(text) for _, text in task.user_texts()) <= _SHORT


def _own_text(task: AgentTask, spoken: Spoken, value: GoldValue, turn: int, before: Sequence[Step]) -> str | None:
    """Return the text of three words or more that a value demands and that neither a text nor a response has."""
    texts = value.strings()
    if len(value.accepted) != 1 or not texts or len(texts[0][1]) > _LONGEST or len(words(texts[0][1])) < _FEWEST_WORDS:
        return None
    bare = squash(texts[0][1])
    seen = [*spoken.texts(turn), *(step.observation.text for step in before)]
    known = any(bare in squash(text) for text in seen) or knowledge_of(task).documented(texts[0][1])
    return None if known or knowledge_of(task).is_in_state(texts[0][1]) else texts[0][1]


def _values_of(task: AgentTask, turn: int) -> Iterator[GoldValue]:
    for call in task.ground_truth.turns[turn]:
        yield from gold_values(call.arguments)


def named_file(
    task: AgentTask, spoken: Spoken, value: GoldValue, turn: int, before: Sequence[Step]
) -> Quotation | None:
    """Return the file or path in quotation marks that nothing uses, where a gold call gives one that no text has.

    Both have the same ending, or one is the beginning of the other.
    """
    texts = [text for _, text in value.strings()]
    if len(texts) != len(value.accepted) or not texts or not all(_FILE.fullmatch(text) for text in texts):
        return None
    seen = [*spoken.texts(turn), *(step.observation.text for step in before)]
    if any(knowledge_of(task).is_in_state(text) or any(_stands(text, other) for other in seen) for text in texts):
        return None
    free = {
        said
        for said in quotations(spoken, turn)
        if _FILE.fullmatch(said.text) and squash(said.text) not in spoken.given_text and _is_like(said.text, texts[0])
    }
    return free.pop() if len(free) == 1 else None


def _stands(text: str, other: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(text)}(?![\w/-]|\.\w)", other, re.IGNORECASE) is not None


def _is_like(said: str, given: str) -> bool:
    if "/" in said or "/" in given:
        return said.startswith(given.rstrip("/") + "/") or given.startswith(said.rstrip("/") + "/")
    return said.rpartition(".")[2] == given.rpartition(".")[2] and fuzz.ratio(said, given) >= _ALIKE
