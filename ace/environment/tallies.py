"""Running totals: what each global rule measures, kept up to date as items come and go.

A tally gives at any moment what :func:`ace.rules.measure` would give for the whole grid, at a cost that does not depend
on the size of the grid.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

from agenthard.ace.domain import GlobalKind, GlobalRule
from agenthard.ace.instance import Value

Counted: TypeAlias = Mapping[str, Any]
"""An item: numbers and words by attribute."""


def tally(rule: GlobalRule, threshold: int, rows: int) -> "Tally":
    """Makes the tally of a rule, for an empty grid.

    Args:
        rule: The rule.
        threshold: Its threshold in the instance.
        rows: Rows of the grid.

    Returns:
        The tally.
    """
    match rule.kind:
        case GlobalKind.SUM_MAX | GlobalKind.SUM_MIN:
            return _Sum(rule, threshold)
        case GlobalKind.COUNT_MIN | GlobalKind.COUNT_MIN_THRESHOLD:
            return _Count(rule, threshold)
        case GlobalKind.REPEAT_MAX:
            return _Repeats(rule, threshold)
        case GlobalKind.MAX_ROW_SUM:
            return _RowSums(rule, threshold, rows)


class Tally(ABC):
    """The running total of one global rule."""

    __slots__ = ("attribute", "is_floor", "threshold")

    def __init__(self, rule: GlobalRule, threshold: int) -> None:
        self.attribute = rule.attribute
        self.threshold = threshold
        self.is_floor = rule.kind.is_floor

    def holds(self, full: bool) -> bool:
        """Tells whether the rule is met.

        Args:
            full: Whether every cell is filled; until then a rule that asks for at least something counts as met.

        Returns:
            True when it is met.
        """
        if self.is_floor:
            return not full or self.measure() >= self.threshold
        return self.measure() <= self.threshold

    @abstractmethod
    def measure(self) -> int:
        """Returns what the rule compares with its threshold."""

    @abstractmethod
    def swap(self, old: Counted | None, new: Counted | None, row: int) -> None:
        """Counts one item out and another in.

        Args:
            old: The item that leaves a cell; None when the cell was empty.
            new: The item that comes into it; None when it becomes empty.
            row: Row of the cell.
        """


class _Sum(Tally):
    """Sum of a number over the grid."""

    __slots__ = ("total",)

    def __init__(self, rule: GlobalRule, threshold: int) -> None:
        super().__init__(rule, threshold)
        self.total = 0

    def measure(self) -> int:
        return self.total

    def swap(self, old: Counted | None, new: Counted | None, row: int) -> None:
        if old is not None:
            self.total -= old[self.attribute]
        if new is not None:
            self.total += new[self.attribute]


class _Count(Tally):
    """Number of items that have a value, or at least a value."""

    __slots__ = ("at_least", "counted", "total")

    def __init__(self, rule: GlobalRule, threshold: int) -> None:
        super().__init__(rule, threshold)
        self.counted = rule.counted
        self.at_least = int(rule.counted or 0) if rule.kind is GlobalKind.COUNT_MIN_THRESHOLD else None
        self.total = 0

    def measure(self) -> int:
        return self.total

    def swap(self, old: Counted | None, new: Counted | None, row: int) -> None:
        self.total += self._counts(new) - self._counts(old)

    def _counts(self, item: Counted | None) -> bool:
        if item is None:
            return False
        value = item[self.attribute]
        return bool(value == self.counted if self.at_least is None else value >= self.at_least)


class _Repeats(Tally):
    """Number of occurrences of the most frequent value; an attribute has few values, so the maximum is looked up."""

    __slots__ = ("occurrences",)

    def __init__(self, rule: GlobalRule, threshold: int) -> None:
        super().__init__(rule, threshold)
        self.occurrences: Counter[Value] = Counter()

    def measure(self) -> int:
        return max(self.occurrences.values(), default=0)

    def swap(self, old: Counted | None, new: Counted | None, row: int) -> None:
        if old is not None:
            self.occurrences[old[self.attribute]] -= 1
        if new is not None:
            self.occurrences[new[self.attribute]] += 1


class _RowSums(Tally):
    """Largest sum of a number over one row."""

    __slots__ = ("totals",)

    def __init__(self, rule: GlobalRule, threshold: int, rows: int) -> None:
        super().__init__(rule, threshold)
        self.totals = [0] * rows

    def measure(self) -> int:
        return max(self.totals, default=0)

    def swap(self, old: Counted | None, new: Counted | None, row: int) -> None:
        if old is not None:
            self.totals[row] -= old[self.attribute]
        if new is not None:
            self.totals[row] += new[self.attribute]
