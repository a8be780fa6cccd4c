"""What the rules mean, exactly: the one place that decides whether a choice is allowed.

Every threshold is inclusive. On a partial grid an empty cell contributes nothing, and the rules that ask for at least
something (sums, counts) count as met until the grid is full, because the empty cells may still supply it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agenthard.ace.domain import Bound, Domain, GlobalKind, GlobalRule, SlotRule
from agenthard.ace.instance import Cell, Grid, Item, Puzzle

Filling: TypeAlias = Sequence[Sequence[Item | None]]
"""Items by row and column; None where the cell is empty."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason why a grid is not allowed."""

    rule: str
    """Name of the broken rule; "cell" where a cell holds what it may not hold at all."""
    reason: str
    """What is wrong, in one sentence."""
    cell: Cell | None = None
    """Where, for a rule about one cell."""


def meets(rule: SlotRule, threshold: int, item: Item) -> bool:
    """Tells whether an item meets a slot rule.

    Args:
        rule: The rule.
        threshold: Its threshold in this slot.
        item: The item.

    Returns:
        True when the item's value is on the allowed side, or on the threshold.
    """
    value = int(item[rule.attribute])
    return value <= threshold if rule.bound is Bound.MAX else value >= threshold


def broken_slot_rules(domain: Domain, limits: Mapping[str, int], item: Item) -> list[str]:
    """Lists the slot rules that an item breaks.

    Args:
        domain: The domain of both.
        limits: Threshold by name of rule: the constraints of the slot.
        item: The item.

    Returns:
        Names of the broken rules, in the slot's order; empty when the item is allowed there.
    """
    return [name for name, threshold in limits.items() if not meets(domain.slot_rule(name), threshold, item)]


def measure(rule: GlobalRule, filling: Filling) -> int:
    """Returns what a global rule compares with its threshold.

    Args:
        rule: The rule.
        filling: The grid, full or partial.

    Returns:
        The sum, the count, the multiplicity of the most frequent value, or the largest row sum.
    """
    if rule.kind is GlobalKind.MAX_ROW_SUM:
        return max((sum(int(item[rule.attribute]) for item in row if item is not None) for row in filling), default=0)
    values = [item[rule.attribute] for row in filling for item in row if item is not None]
    match rule.kind:
        case GlobalKind.SUM_MAX | GlobalKind.SUM_MIN:
            return sum(map(int, values))
        case GlobalKind.REPEAT_MAX:
            return max(Counter(values).values(), default=0)
        case GlobalKind.COUNT_MIN:
            return sum(value == rule.counted for value in values)
        case GlobalKind.COUNT_MIN_THRESHOLD:
            return sum(int(value) >= int(rule.counted or 0) for value in values)


def holds(rule: GlobalRule, threshold: int, filling: Filling) -> bool:
    """Tells whether a grid, full or partial, meets a global rule.

    Args:
        rule: The rule.
        threshold: Its threshold in this instance.
        filling: The grid.

    Returns:
        True when the rule is met, or not yet decided because a cell is still empty.
    """
    if rule.kind.is_floor:
        return any(item is None for row in filling for item in row) or measure(rule, filling) >= threshold
    return measure(rule, filling) <= threshold


def broken_global_rules(domain: Domain, limits: Mapping[str, int], filling: Filling) -> list[str]:
    """Lists the global rules that a grid, full or partial, breaks.

    Args:
        domain: The domain.
        limits: Threshold by name of rule.
        filling: The grid.

    Returns:
        Names of the broken rules, in the domain's order.
    """
    return [rule.name for rule in domain.global_rules if not holds(rule, limits[rule.name], filling)]


def filling(puzzle: Puzzle, grid: Grid) -> Filling:
    """Returns a grid with its items in place of their ids.

    Args:
        puzzle: The puzzle whose items they are.
        grid: Item ids; None where empty.

    Returns:
        The items.

    Raises:
        KeyError: An id is not one of the puzzle's items.
    """
    return [[None if item is None else puzzle.items[item] for item in row] for row in grid]


def violations(domain: Domain, puzzle: Puzzle, grid: Grid) -> Iterator[Violation]:
    """Yields every reason why a grid, full or partial, is not allowed: what the environment's global check decides.

    Args:
        domain: The puzzle's domain.
        puzzle: The puzzle.
        grid: A grid for it.

    Yields:
        Cell by cell in reading order: a wrong item, then the broken rules of the slot; at last the broken global rules,
        unless an item is unknown or the shape is wrong, since then nothing can be summed.
    """
    if len(grid) != puzzle.rows or any(len(row) != puzzle.cols for row in grid):
        yield Violation("cell", f"the grid must have {puzzle.rows} rows of {puzzle.cols} cells")
        return
    countable = True
    for row, line in enumerate(grid):
        for col, item in enumerate(line):
            if item is None:
                continue
            if item not in puzzle.items:
                countable = False
            yield from _cell_violations(domain, puzzle, (row, col), item)
    if countable:
        for name in broken_global_rules(domain, puzzle.limits, filling(puzzle, grid)):
            yield Violation(name, f"the grid breaks {name} {puzzle.limits[name]}")


def _cell_violations(domain: Domain, puzzle: Puzzle, cell: Cell, item: str) -> Iterator[Violation]:
    if item not in puzzle.items:
        yield Violation("cell", f"unknown item {item!r}", cell)
        return
    slot = puzzle.slot(*cell)
    if slot is None:
        if item != puzzle.grid[cell[0]][cell[1]]:
            yield Violation("cell", f"the cell is fixed and may not hold {item!r}", cell)
        return
    if item not in slot.candidates:
        yield Violation("cell", f"{item!r} is not a candidate of this slot", cell)
    for name in broken_slot_rules(domain, slot.limits, puzzle.items[item]):
        yield Violation(name, f"{item!r} breaks {name} {slot.limits[name]}", cell)
