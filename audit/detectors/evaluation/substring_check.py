"""Required texts so short that other texts contain them."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.knowledge import Leaf, surroundings
from agenthard.audit.detectors.support.numbers import number_tokens
from agenthard.audit.evidence import quote, text_at
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, Check

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SHORT = 2
_LONGEST = 9
"""A longer number is an internal id that hardly a reply repeats."""
_WORD = re.compile(r"[A-Za-z]+")


class SubstringCheck(TaskDetector):
    """A required text is looked for as a substring, and something else in the task contains it.

    Rules, for checks of kind ``output_substring`` that do not want whole words:

    1. the required text is a number of two digits or more that records around the task have in one field, and the same
       field of another record contains its digits: "44" is the price of one flight and 448 that of another. Who
       confuses the two passes. Confirmed where the evaluator passes the run that makes the gold calls and says the
       other number instead.
    2. the required text is a number, and any other number around the task contains its digits: "44" is in "1,144" once
       commas are removed. Around the task are the user's texts and the arguments of the gold calls, the records of the
       state that these name and those that they name in turn, and for a number of one or two digits the policy. The
       nearest, then shortest such number of at most nine characters is quoted. Suspected, because the number may be
       about something that no reply mentions.
    3. the required text is one or two letters, and a word around the task contains it: suspected.
    4. nothing of the kind is found, and the text is still no longer than two characters: suspected.

    Flagged: "4", where a flight of the user leaves on 2024-05-24. "IL", where the policy says "available".
    Not flagged: the same number written otherwise ("481.5" in "481.50"), longer words, numbers that nothing contains.

    The rule is wrong where no reply to the task can plausibly contain the larger number.
    """

    id = "substring-check"
    title = "a required text is part of other texts"
    version = "2"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "A reply with a wrong answer passes when it happens to mention the other text."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if any(_is_substring_check(check) for check in task.evaluation.checks):
            return None
        return "no scored check looks for a text as a substring"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the required texts of ``task`` that something else contains."""
        for i, check in enumerate(task.evaluation.checks):
            if not _is_substring_check(check) or not check.expected.strip():
                continue
            expected, pointer = check.expected.strip(), f"/evaluation/checks/{i}/expected"
            required = quote(task, pointer, note=check.note or "required text")
            without_commas = "comma" in check.note
            rival = _rival(task, expected, without_commas)
            container = _container(task, expected, without_commas)
            if rival is not None:
                at, (place, word) = rival
                yield Hit(
                    claim=f"The required text {expected!r} is part of {word!r}, the same field of another record: a "
                    f"reply that gives {word!r} instead passes",
                    evidence=(required, _evidence(task, at, expected), _evidence(task, place, word)),
                    fix="Match whole numbers and whole words, or require a longer text.",
                    proof=wrongly_passes(task, _answering(task, check.expected, word)),
                )
            elif container is not None:
                place, word = container
                yield Hit(
                    claim=f"The required text {expected!r} is also found in {word!r}, which occurs in the task",
                    evidence=(required, _evidence(task, place, word)),
                    fix="Match whole numbers and whole words, or require a longer text.",
                    severity=Severity.MAY_AFFECT_SCORE,
                    tier=Tier.SUSPECTED,
                )
            elif len(expected) <= _SHORT:
                yield Hit(
                    claim=f"The required text {expected!r} is so short that other texts are likely to contain it",
                    evidence=(required,),
                    fix="Match whole numbers and whole words, or require a longer text.",
                    severity=Severity.MAY_AFFECT_SCORE,
                    tier=Tier.SUSPECTED,
                )


def _is_substring_check(check: Check) -> bool:
    return (
        check.scored
        and check.kind == "output_substring"
        and isinstance(check.expected, str)
        and "whole words" not in check.note
    )


def _container(task: AgentTask, expected: str, without_commas: bool) -> tuple[str, str] | None:
    """Find the nearest, then shortest number or word that contains ``expected``, with the JSON Pointer of its text."""
    for circle in surroundings(task):
        if _NUMBER.fullmatch(expected):
            found = _larger_numbers(circle, expected, without_commas)
        elif len(expected) <= _SHORT and _WORD.fullmatch(expected):
            found = _longer_words(circle, expected)
        else:
            return None
        container = min(found, key=lambda item: len(item[1]), default=None)
        if container is not None:
            return container
    return None


def _rival(task: AgentTask, expected: str, without_commas: bool) -> tuple[str, tuple[str, str]] | None:
    """Find a record around the task with the required number, and another whose same field contains its digits.

    A run that confuses the two records gives the other number as the answer to the same question. A number of one
    digit, and one that fields of several kinds have, may be in a record by chance.

    Returns:
        The pointer of the required number, and pointer and text of the other one.
    """
    if not _NUMBER.fullmatch(expected) or len(expected) < _SHORT:
        return None
    fields: dict[tuple[str, ...], str] = {}
    circles = [
        [leaf for leaf in circle if leaf[0].startswith(("/environment/state/", "/initial_state/"))]
        for circle in surroundings(task)
    ]
    for pointer, value in chain.from_iterable(circles):
        if not isinstance(value, bool) and str(value).replace(",", "") == expected:
            fields.setdefault(_field(pointer), pointer)
    if len(fields) != 1:
        return None
    [(field, own)] = fields.items()
    for leaves in circles:
        found = [item for item in _larger_numbers(leaves, expected, without_commas) if _field(item[0]) == field]
        if found:
            return own, min(found, key=lambda item: len(item[1]))
    return None


def _field(pointer: str) -> tuple[str, ...]:
    """Name a field, whatever the record: its path without what has a digit, as ids, dates and positions have."""
    return tuple("*" if any(map(str.isdigit, part)) else part for part in split(pointer))


def _answering(task: AgentTask, required: str, word: str) -> Attempt:
    """Make the gold calls and say what is required, with another number instead of one."""
    replies = tuple(word if text == required else text for text in task.ground_truth.outputs)
    return Attempt(turns=gold_turns(task), replies=replies)


def _larger_numbers(circle: list[Leaf], expected: str, without_commas: bool) -> Iterator[tuple[str, str]]:
    for pointer, value in circle:
        if isinstance(value, bool) or (pointer == "/environment/policy" and len(expected) > _SHORT):
            continue
        for token in number_tokens(str(value)):
            plain = token.replace(",", "") if without_commas else token
            same = float(plain.replace(",", "")) == float(expected)
            if expected in plain and len(plain) <= _LONGEST and not same:
                yield pointer, token


def _longer_words(circle: list[Leaf], expected: str) -> Iterator[tuple[str, str]]:
    for pointer, value in circle:
        for match in _WORD.finditer(value if isinstance(value, str) else ""):
            if expected.lower() in match[0].lower() and len(match[0]) > _SHORT:
                yield pointer, match[0]


def _evidence(task: AgentTask, pointer: str, token: str) -> Evidence:
    text = text_at(task, pointer)
    start = text.find(token)
    passage = text[max(0, start - 40) : start + len(token) + 40] if start >= 0 else text
    return quote(task, pointer, text=passage, note=f"{token} contains it")
