"""The values that a user states for one turn, those that a ground truth gives, and which of either have no partner."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import knowledge_of
from agenthard.audit.detectors.support.mentions import Kind, Mention, mentions
from agenthard.audit.detectors.support.number_relations import (
    follows,
    is_same,
    mixed,
    numbers_of,
    results,
    returned_numbers,
    rounds_to,
    stated_numbers,
    unit_factors,
)
from agenthard.audit.detectors.support.sharing import LastCache
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.task import AgentTask

_MOST_NUMBERS = 40
"""Where more numbers are at hand, almost every number follows from two of them."""

_NUMERALS = {word: i for i, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)}
_NUMERAL = re.compile(rf"(?<![\w-])(?:{'|'.join(_NUMERALS)})(?![\w-])", re.IGNORECASE)
_LESS = re.compile(r"\b(?:less|fewer|more|under|below|over|above|before|after)(?: than)?\W{1,3}$", re.IGNORECASE)
_CALL = re.compile(r"\w+\([^\n]*=[^\n]*\)")


class Atom(NamedTuple):
    """A number, code, date or time within a value that a gold call gives."""

    mention: Mention
    value: GoldValue
    embedded: bool
    """Whether it is a part of a longer text."""


class Statement(NamedTuple):
    """Something that the user states."""

    at: str
    """JSON Pointer of the text."""
    mention: Mention
    whole: str
    """The text around it."""


def atoms_of(value: GoldValue) -> list[Atom]:
    """List the values within what a gold call gives in one place; nothing where several values are accepted.

    Accepted spellings of one value count as one; the first is taken.
    """
    shapes = [_mentioned(item) for _, item in value.accepted]
    if not shapes or not shapes[0] or isinstance(value.accepted[0][1], bool):
        return []
    text = _plain(value.accepted[0][1])
    return [Atom(mention, value, len(mention.text) + 2 < len(text)) for mention in shapes[0]]


def _mentioned(item: Any) -> tuple[Mention, ...]:
    if isinstance(item, bool) or not isinstance(item, (str, int, float)):
        return ()
    if isinstance(item, (int, float)):
        return (Mention("number", 0, _plain(item), frozenset([float(item)])),)
    return mentions(item)


def _plain(item: Any) -> str:
    return f"{item:.10g}" if isinstance(item, float) else str(item)


class Spoken:
    """What the user states and the ground truth gives, turn by turn."""

    def __init__(self, task: AgentTask) -> None:
        self._task, self.knowledge = task, knowledge_of(task)
        self.is_scripted = task.user.kind == "scripted"
        self._all = [(at, text, _turn(at), _is_of_user(task, at)) for at, text in task.user_texts()]
        self._gold = [
            (int(pointer.split("/")[3]), value)
            for pointer, call in task.gold_calls()
            for value in gold_values(call.arguments)
        ]
        self.given = {
            turn: {
                v
                for each, value in self._gold
                if each == turn
                for _, item in value.accepted
                for m in _mentioned(item)
                for v in m.values
            }
            for turn in {each for each, _ in self._gold}
        }
        """What the calls of each turn with calls give."""
        self._leading: dict[tuple[int, frozenset[float]], set[float]] = {}
        self._given_anywhere = {v for values in self.given.values() for v in values}
        required = "\n".join((*task.ground_truth.outputs, *task.ground_truth.answers))
        answered = "\n".join(text for at, text in task.user_texts() if _role(task, at) == "assistant")
        self.answered = squash(answered)
        called = "\n".join(_CALL.findall(answered))
        self.called = squash(called)
        """The calls that the assistant writes in the conversation."""
        self.called_values = {v for mention in mentions(called) for v in mention.values}
        self._required = {v for mention in mentions(f"{required}\n{answered}") for v in mention.values}
        texts = [str(item) for _, value in self._gold for _, item in value.accepted]
        self.given_text = squash("\n".join([*texts, required]))

    def scope(self, turn: int) -> list[tuple[str, str]]:
        """Return what the user says for a turn: since the last turn that has calls, or everything for a single one."""
        first = max((each + 1 for each in self.given if each < turn), default=0)
        return [(at, text) for at, text, said, own in self._all if own and (said is None or first <= said <= turn)]

    def texts(self, turn: int) -> list[str]:
        """Return all texts up to a turn, whoever says them."""
        return [text for _, text, said, _ in self._all if said is None or said <= turn]

    def dates_said(self, turn: int) -> int:
        """Count the different dates that any text up to a turn has."""
        return len({m.values for text in self.texts(turn) for m in mentions(text) if m.kind == "date"})

    def statements(self, turn: int, kind: Kind) -> list[Statement]:
        """List the values of a kind that the user states for a turn."""
        return [Statement(at, m, text) for at, text in self.scope(turn) for m in mentions(text) if m.kind == kind]

    def unused(self, turn: int, kind: Kind, steps: Sequence[Step] = (), here: bool = False) -> list[Statement]:
        """List those of them that no gold call and no required text has, nor anything that follows from them.

        Args:
            turn: the turn.
            kind: which values.
            steps: the replayed calls before.
            here: whether the calls of other turns do not count.
        """
        given = self._required | (self.given.get(turn, set()) if here else self._given_anywhere)
        found = [said for said in self.statements(turn, kind) if not self._is_used(said.mention, given)]
        if kind != "number" or not found:
            return found
        if len(self._said(turn)) > _MOST_NUMBERS:
            return []
        near = self._near(turn, steps)
        if (turn, near) not in self._leading:
            self._leading[turn, near] = self._leading_on(turn, near)
        leading = self._leading[turn, near]
        return [said for said in found if leading.isdisjoint(said.mention.values)]

    def _is_used(self, mention: Mention, used: set[float | str]) -> bool:
        if mention.kind == "date":
            days = {value[-6:] for value in mention.values if isinstance(value, str)}
            return not days.isdisjoint(str(value)[-6:] for value in used)
        if mention.kind == "number":
            numbers = [v for v in used if isinstance(v, float)]
            return any(rounds_to(v, other) for v in mention.values if isinstance(v, float) for other in numbers)
        if mention.kind == "code":
            return squash(mention.text) in self.given_text or squash(mention.text) in self.answered
        return not mention.values.isdisjoint(used)

    def _leading_on(self, turn: int, near: frozenset[float]) -> set[float]:
        """Return the numbers that are near and from which numbers follow that the turn's calls give."""
        goals = [v for v in self.given.get(turn, ()) if isinstance(v, float) and v > 1 and v not in near]
        factors = unit_factors(" ".join(text for _, text in self.scope(turn)))
        found = set[float]()
        for goal in goals:
            for one in self._said(turn) - found:
                steps = (result for other in near for result in (*results(one, other), *mixed(one, other, factors)))
                if any(is_same(one * factor, goal) for factor in factors) or any(is_same(step, goal) for step in steps):
                    found.add(one)
        return found

    def _said(self, turn: int) -> frozenset[float]:
        """Return the numbers that are said for a turn."""
        return frozenset(number for _, text in self.scope(turn) for number in stated_numbers(text))

    def _near(self, turn: int, steps: Sequence[Step]) -> frozenset[float]:
        """Return the numbers that are said for a turn, or that its calls return where these are few."""
        first = max((each + 1 for each in self.given if each < turn), default=0)
        texts = [step.observation.text for step in steps if first <= step.turn <= turn]
        returned = frozenset(number for text in texts for number in returned_numbers(text))
        return self._said(turn) | (returned if len(returned) <= _MOST_NUMBERS else frozenset())

    def is_sourced(self, atom: Atom, turn: int, steps: Sequence[Step], documents: str) -> bool:
        """Tell whether something that an agent sees has a value, or whether it follows from what is said near it.

        Args:
            atom: the value.
            turn: turn of its call.
            steps: the replayed calls before it.
            documents: what the tool's documentation says of the parameter.
        """
        mention = atom.mention
        every = [m for _, item in atom.value.accepted for m in _mentioned(item) if m.kind == mention.kind]
        accepted = set(mention.values) if atom.embedded else {v for m in every for v in m.values}
        seen = [*self.texts(turn), documents, *(step.observation.text for step in steps)]
        if mention.kind in ("date", "time"):
            return self._has_moment(mention, accepted, seen)
        if mention.kind == "code":
            return any(squash(mention.text) in squash(text) for text in seen)
        numbers = {number for text in seen if text is not documents for number in numbers_of(text)}
        goals = {v for v in accepted if isinstance(v, float)}
        if any(abs(goal) in numbers or goal in numbers for goal in goals):
            return True
        text = " ".join([documents, *(text for _, text in self.scope(turn))])
        return any(follows(abs(goal), self._said(turn), self._near(turn, steps), text) for goal in goals)

    def is_only_number(self, atom: Atom, turn: int, steps: Sequence[Step]) -> bool:
        """Tell whether no other number of the calls of a turn is without source, and it is a number of its own."""
        own = atom.value.accepted[0][1]
        if not isinstance(own, (int, float)) or not self.is_scripted:
            return False
        others = {v for v in self.given[turn] if isinstance(v, float)} - set(atom.mention.values)
        known = self._near(turn, steps) | {0.0, 1.0}
        return all(other in known for other in others)

    def left_over(self, atom: Atom, turn: int, steps: Sequence[Step], documents: str) -> Statement | None:
        """Return the one number that a scripted user states and no call gives, where all others are given but one.

        A request of which every number but one is in its calls, and calls of which every number but one is in the
        request, mean the same by the two, unless the one follows from the other.

        Args:
            atom: the number of the calls.
            turn: turn of its call.
            steps: the replayed calls before it.
            documents: what the tool's documentation says of the parameter.
        """
        if not self.is_scripted or atom.embedded or isinstance(atom.value.accepted[0][1], str):
            return None
        every = [*self.statements(turn, "number"), *self._numerals(turn)]
        said = [one for one in every if one.mention.values.isdisjoint(self._required)]
        stated = {v for one in said for v in one.mention.values if isinstance(v, float)}
        seen = [*self.texts(turn), documents, *(step.observation.text for step in steps)]
        heard = {v for text in seen for v in numbers_of(text)} | stated
        mine = {abs(v) for v in atom.mention.values if isinstance(v, float)}
        others = {v for v in self.given[turn] if isinstance(v, float) and abs(v) not in mine}
        free = [one for one in said if not self._is_used(one.mention, set[float | str](others))]
        if mine & {abs(v) for v in heard} or not {abs(v) for v in others} <= heard:
            return None
        fewest = 2 if steps or self._task.initial_state is not None else 1
        if len({one.mention.values for one in free}) != 1 or len({one.mention.values for one in said}) < fewest:
            return None
        own = {abs(v) for v in free[0].mention.values if isinstance(v, float)}
        if atom.mention.text.endswith(free[0].mention.text):
            return None  # a year of which the user says the end
        if any(abs(goal - number) == 1 for goal in mine for number in own) and _LESS.search(
            free[0].whole[: free[0].mention.start]
        ):
            return None  # "less than 5" is at most 4
        near = self._near(turn, steps) - {0.0, 1.0}
        words = " ".join([documents, *(text for _, text in self.scope(turn))])
        return None if any(follows(abs(goal), own, near, words) for goal in mine) else free[0]

    def _numerals(self, turn: int) -> list[Statement]:
        return [
            Statement(at, Mention("number", m.start(), m[0], frozenset([float(_NUMERALS[m[0].lower()])])), text)
            for at, text in self.scope(turn)
            for m in _NUMERAL.finditer(text)
        ]

    def _has_moment(self, mention: Mention, accepted: set[float | str], seen: list[str]) -> bool:
        every = [m for text in seen for m in mentions(text) if m.kind == mention.kind]
        if mention.kind == "time":
            return any(not accepted.isdisjoint(m.values) for m in every)
        days = {str(value)[-6:] for value in accepted}
        return any(str(value)[-6:] in days for m in every for value in m.values)


def _turn(pointer: str) -> int | None:
    parts = pointer.split("/")
    return int(parts[3]) if parts[2] == "turns" else None


def _is_of_user(task: AgentTask, pointer: str) -> bool:
    return _role(task, pointer) == "user"


def _role(task: AgentTask, pointer: str) -> str:
    parts = pointer.split("/")
    return task.user.turns[int(parts[3])][int(parts[4])].role if parts[2] == "turns" else "user"


spoken_in = LastCache(Spoken)
