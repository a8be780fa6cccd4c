"""The global rules of a puzzle as sums with upper limits, which is the form that a search can bound.

A floor counts negatively, a repeat rule becomes one sum per value, a row rule one per row. A full grid meets the rules
exactly when no sum exceeds its limit. The generator has such a form of its own; this one is read off the puzzle's
items, so that a proof does not rest on what it is to prove.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agenthard.ace.domain import Domain, GlobalKind, GlobalRule
from agenthard.ace.instance import Item, Puzzle, Value


@dataclass(frozen=True, slots=True)
class Sum:
    """One sum over the grid, or over one of its rows."""

    rule: GlobalRule
    """The rule it belongs to."""
    limit: int
    """The most it may be."""
    row: int | None
    """The row it is over; None where it is over the whole grid."""
    value: Value | None
    """For a repeat rule, the value whose occurrences it counts."""

    def load(self, item: Item, row: int) -> int:
        """Returns what an item adds to the sum.

        Args:
            item: The item.
            row: The row it is in.

        Returns:
            Its number, 1 or 0 for what is counted, negative for a floor; 0 in another row.
        """
        if self.row not in (None, row):
            return 0
        own = item[self.rule.attribute]
        match self.rule.kind:
            case GlobalKind.SUM_MAX | GlobalKind.MAX_ROW_SUM:
                return int(own)
            case GlobalKind.SUM_MIN:
                return -int(own)
            case GlobalKind.REPEAT_MAX:
                return int(own == self.value)
            case GlobalKind.COUNT_MIN:
                return -int(own == self.rule.counted)
            case GlobalKind.COUNT_MIN_THRESHOLD:
                return -int(int(own) >= int(self.rule.counted or 0))

    def of_fixed(self, puzzle: Puzzle) -> int:
        """Returns the sum over the items in the grid from the start.

        Args:
            puzzle: The puzzle.

        Returns:
            The sum.
        """
        lines = enumerate(puzzle.grid)
        return sum(self.load(puzzle.items[id], row) for row, line in lines for id in line if id is not None)


def sums(domain: Domain, puzzle: Puzzle) -> Iterator[Sum]:
    """Yields every sum that the global rules of a puzzle limit.

    Args:
        domain: The puzzle's domain.
        puzzle: The puzzle.

    Yields:
        The sums, in the domain's order of rules.
    """
    for rule in domain.global_rules:
        threshold = puzzle.limits[rule.name]
        if rule.kind is GlobalKind.MAX_ROW_SUM:
            yield from (Sum(rule, threshold, row, None) for row in range(puzzle.rows))
        elif rule.kind is GlobalKind.REPEAT_MAX:
            values = {item[rule.attribute] for item in puzzle.items.values()}
            yield from (Sum(rule, threshold, None, value) for value in sorted(values, key=str))
        else:
            yield Sum(rule, -threshold if rule.kind.is_floor else threshold, None, None)
