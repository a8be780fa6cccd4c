"""Check: the state marks the records that the ground truth names."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Expected, expected_values
from agenthard.audit.detectors.support.state_records import FEWEST_OTHERS, Rows, readings, rows
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

_OF_AN_ANSWER = frozenset("answer answers correct solution solutions gold golden expected truth groundtruth".split())
_TIERS = frozenset(("gold", "golden"))
"""Also names of a metal, a colour and a membership: alone or with another word of an answer they speak of one."""
_FILLERS = frozenset("is the a of for id ids value values list record records item items".split())
_OF_A_MARK = frozenset("target targets oracle gt chosen".split())
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_MOST = 20_000
_AFFIRMED = frozenset("1 1.0 + * x y yes true ok right correct selected chosen answer gold target".split()) | {
    "✓",
    "✔",
    "☑",
}
"""What a mark says: nothing more than that this is one of those."""


class MarkedAnswer(TaskDetector):
    """The task's own state sets those records apart that the ground truth names, or lists them as the answer.

    Rule, for the state that belongs to this task alone. A table is an object of records by id, or a list of records
    with an ``id``; those are named whose id is an argument of a gold call, a required text or an accepted answer. It
    leaks the answer when at least as many other records (two at least) lie next to the named ones, and

    * a field affirms exactly the named records (true, 1, "yes", "x"), and either no other record has the field at all,
      or the words of its name speak of an answer (answer, correct, solution, expected, truth, target; gold where it is
      the only word), or its name begins with an underscore, as the names of what is not meant to be seen; or
    * a key anywhere in the state whose name speaks of an answer holds an expected value: by itself, in a list, as a key
      or as the one value of each object in a list, or in a text where commas part the values.

    Flagged: ``{"B1": {"title": "Emma"}, "B2": {"title": "Ivanhoe", "is_answer": true}, "B3": {"title": "Persuasion"}}``
    with the gold ``lend_book(book="B2")``; ``{"solution": ["B2"]}``.
    Not flagged: ``in_stock``, which every record has, and which is true for B2 alone: it may be what the user asks for.

    Wrong where the agent cannot read the field, or where the flag is what the user asks for and other records leave it
    out instead of saying false. Until version 3 its findings on τ²-bench's banking tasks were all false: there
    ``gold`` was the tier of a card.
    """

    id = "marked-answer"
    title = "the state marks what the ground truth names"
    version = "3"
    category = "answer-leakage"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    experimental = True
    why = "An agent that reads the mark has the answer without solving the task."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if not isinstance(task.initial_state, (dict, list)):
            return "the task has no state of its own"
        return None if next(expected_values(task), None) else "no expected value that could be recognised in a record"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per mark."""
        expected: dict[str, str] = {}
        for pointer, value in expected_values(task):
            expected.setdefault(value, pointer)
        marks: set[str] = set()
        for at, key, value in _containers(task.initial_state):
            found = _mark(rows(at, value), expected) if isinstance(value, (dict, list)) else None
            listed = _listed(value, expected) if _speaks(key) else None
            if found and found[1] not in marks:
                marks.add(found[1])
                yield _hit(task, join(found[0], found[1]), found[1], (expected[found[2]], found[2]))
            elif listed and key not in marks:
                marks.add(key)
                yield _hit(task, at, key, (expected[listed], listed))


def _hit(task: AgentTask, pointer: str, mark: str, value: Expected) -> Hit:
    return Hit(
        claim=f"{mark} in the state tells what the ground truth names: {value[1]}",
        evidence=(quote(task, pointer, note="the mark"), quote(task, value[0], note="expected")),
        fix=f"Take {mark} out of the state.",
    )


def _containers(state: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield pointer, key and value of tables, records, lists and what is named as an answer, the outermost first."""
    waiting: list[tuple[str, str, Any]] = [("/initial_state", "", state)]
    for count, (at, key, value) in enumerate(waiting):
        if count >= _MOST:
            return
        yield at, key, value
        if isinstance(value, dict):
            waiting += [
                (join(at, name), name, child)
                for name, child in value.items()
                if (isinstance(child, (dict, list)) and child) or _speaks(name)
            ]
        elif isinstance(value, list):
            waiting += [
                (join(at, i), "", child) for i, child in enumerate(value) if isinstance(child, (dict, list)) and child
            ]


def _mark(table: Rows, expected: dict[str, str]) -> tuple[str, str, str] | None:
    """Return the pointer of a named record, the field that sets the named ones apart, and the record's id."""
    named = [id for id in table if id in expected]
    others = [row for id, (_, row) in table.items() if id not in expected]
    if not named or len(others) < max(FEWEST_OTHERS, len(named)):
        return None
    pointer, first = table[named[0]]
    for field in sorted(first):
        if all(_affirms(table[id][1].get(field)) for id in named) and not any(
            _affirms(row.get(field)) for row in others
        ):
            if field.startswith("_") or _marks(field) or not any(field in row for row in others):
                return pointer, field, named[0]
    return None


def _listed(value: Any, expected: dict[str, str]) -> str | None:
    return next((item for items in readings(value) for item in sorted(items) if item in expected), None)


def _affirms(value: Any) -> bool:
    return value is True or (isinstance(value, (str, int, float)) and str(value).strip().casefold() in _AFFIRMED)


def _marks(field: str) -> bool:
    return _speaks(field) or not _words(field).isdisjoint(_OF_A_MARK)


@lru_cache(maxsize=4096)
def _speaks(name: str) -> bool:
    words = _words(name) - _FILLERS
    return not words.isdisjoint(_OF_AN_ANSWER - _TIERS) or (bool(words) and words <= _TIERS)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))
