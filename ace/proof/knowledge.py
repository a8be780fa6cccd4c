"""What queries that give ids only tell about candidates, and the least that a candidate can then add to each sum.

In the paper's environment a query names the candidates that meet a condition and no values. From the ranges of values
that the prompt tells, each answer leaves fewer values possible, for the candidates named and for the others.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from agenthard.ace.domain import Bound, Domain, GlobalKind, Number
from agenthard.ace.instance import Item, QueryStep, Slot, Value
from agenthard.ace.proof.sums import Sum

_Possible: TypeAlias = dict[str, tuple[int, int] | frozenset[Value]]
"""By attribute: the least and the largest number, or the words, that it may be."""


OPERATORS = (">=", "<=", "=", "in")
"""Conditions that a plan may ask for."""


def matches(step: QueryStep, item: Item) -> bool:
    """Tell whether an item meets the condition of a query."""
    own = item[step.field]
    if step.operator == "in":
        return own in step.words
    limit, number = step.number, int(own)
    return number >= limit if step.operator == ">=" else number <= limit if step.operator == "<=" else number == limit


class Knowledge:
    """What is known about the candidates of one slot."""

    def __init__(self, domain: Domain, ranges: Mapping[str, Sequence[Value]], candidates: Sequence[str]) -> None:
        """Start with what the prompt tells.

        Args:
            domain: The domain.
            ranges: Values that occur, by attribute.
            candidates: Ids of the candidates.
        """
        self._domain = domain
        self._possible: dict[str, _Possible] = {
            id: {
                attribute.name: (int(values[0]), int(values[-1]))
                if isinstance(attribute, Number)
                else frozenset(values)
                for attribute in domain.attributes
                if (values := ranges[attribute.name])
            }
            for id in candidates
        }

    def copy(self) -> "Knowledge":
        """Return the same knowledge, to add to on its own."""
        other = Knowledge.__new__(Knowledge)
        other._domain = self._domain
        other._possible = {id: dict(possible) for id, possible in self._possible.items()}
        return other

    def allowed(self, slot: Slot) -> list[str]:
        """Return the candidates that may meet the slot's own rules, by what is known.

        Args:
            slot: The slot.
        """
        return [id for id, possible in self._possible.items() if self._may_meet(possible, slot.limits)]

    def _may_meet(self, possible: _Possible, limits: Mapping[str, int]) -> bool:
        for name, limit in limits.items():
            rule = self._domain.slot_rule(name)
            known = possible[rule.attribute]
            assert isinstance(known, tuple), "slot rules are about numbers"
            if known[0] > limit if rule.bound is Bound.MAX else known[1] < limit:
                return False
        return True

    def learn(self, step: QueryStep, named: Sequence[str]) -> None:
        """Add the answer of a query.

        Args:
            step: The query.
            named: Ids in its answer.
        """
        inside = frozenset(named)
        for id, possible in self._possible.items():
            known = possible[step.field]
            if isinstance(known, frozenset):
                words = frozenset(step.words)
                possible[step.field] = known & words if id in inside else known - words
            else:
                possible[step.field] = _narrowed(*known, step, id in inside)

    def least(self, each: Sum, id: str, row: int) -> int:
        """Return the least that a candidate can add to a sum.

        Args:
            each: The sum.
            id: Id of the candidate.
            row: Row of its slot.
        """
        if each.row not in (None, row):
            return 0
        known = self._possible[id][each.rule.attribute]
        if isinstance(known, frozenset):
            if each.rule.kind is GlobalKind.REPEAT_MAX:
                return int(known == {each.value})
            return -int(each.rule.counted in known)
        low, high = known
        match each.rule.kind:
            case GlobalKind.SUM_MIN:
                return -high
            case GlobalKind.COUNT_MIN:
                return -int(low <= int(each.rule.counted or 0) <= high)
            case GlobalKind.COUNT_MIN_THRESHOLD:
                return -int(high >= int(each.rule.counted or 0))
            case GlobalKind.REPEAT_MAX:
                return int(low == high == each.value)
            case _:
                return low


def _narrowed(low: int, high: int, step: QueryStep, inside: bool) -> tuple[int, int]:
    limit = step.number
    match step.operator, inside:
        case (">=", True):
            return max(low, limit), high
        case (">=", False):
            return low, min(high, limit - 1)
        case ("<=", True):
            return low, min(high, limit)
        case ("<=", False):
            return max(low, limit + 1), high
        case (_, True):
            return limit, limit
    return low + (low == limit), high - (high == limit)
