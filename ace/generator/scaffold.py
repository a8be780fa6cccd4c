"""The frame of an instance: the truth grid, the slots and their rules, and who gets decoys."""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from agenthard.ace.errors import UnmetConditionError
from agenthard.ace.generator.filters import allowed_share
from agenthard.ace.generator.plane import draw_balanced_truth, draw_plane
from agenthard.ace.generator.shares import draw_shares
from agenthard.ace.generator.space import Box, Floats, Ints, Space, load_space
from agenthard.ace.instance import Cell


@dataclass(frozen=True, slots=True)
class SlotFrame:
    """A slot before it has candidates."""

    cell: Cell
    """Row and column."""
    limits: dict[str, int]
    """Threshold by name of slot rule."""
    box: Box
    """The items its rules allow."""
    decoys: int
    """How many decoys it gets."""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """The frame of an instance."""

    space: Space
    """The domain."""
    cols: int
    """Columns of the grid."""
    slots: tuple[SlotFrame, ...]
    """The slots, row by row."""
    truth: Ints
    """The full grid, one item per row of the array, cell by cell in reading order."""
    loads: Ints
    """What each of them loads the columns of the global rules."""
    plane: Floats
    """Weights of the columns (agenthard.ace.generator.plane)."""

    def at(self, slot: int) -> int:
        """Returns the position of a slot's cell in the arrays.

        Args:
            slot: Index of the slot.

        Returns:
            Row times columns plus column.
        """
        row, col = self.slots[slot].cell
        return row * self.cols + col

    @property
    def decoy_slots(self) -> list[int]:
        """Indices of the slots that get decoys, in order."""
        return [index for index, slot in enumerate(self.slots) if slot.decoys]


def draw_scaffold(
    rng: np.random.Generator, space: Space, rows: int, cols: int, hidden_slots: int, budget: int
) -> Scaffold:
    """Draws the frame of an instance.

    A slot's rules are drawn before its truth, and the truth among the items they allow: so the truth is to its rules
    as any other allowed item is, and its distance from a threshold says nothing.

    Args:
        rng: Source of randomness.
        space: The domain, on a grid of as many rows.
        rows: Rows of the grid.
        cols: Columns of the grid.
        hidden_slots: Number of slots.
        budget: Decoys in the whole instance.

    Returns:
        The frame.

    Raises:
        UnmetConditionError: Some slot rules of the domain allow everything or nothing, whatever their thresholds.
    """
    plane = draw_plane(rng, space)
    cells = np.sort(rng.choice(rows * cols, size=hidden_slots, replace=False)).tolist()
    shares = draw_shares(rng, hidden_slots, budget)
    decoys = dict(zip(np.sort(rng.choice(hidden_slots, len(shares), replace=False)).tolist(), shares, strict=True))
    truth = space.draw(rng, space.natural, rows * cols)
    slots = []
    for index, (cell, names) in enumerate(zip(cells, _rule_sets(rng, space, hidden_slots), strict=True)):
        limits = _draw_limits(rng, space, names)
        slot = SlotFrame(divmod(cell, cols), limits, space.box(limits), decoys.get(index, 0))
        if slot.decoys:
            truth[cell] = draw_balanced_truth(rng, space, slot.box, slot.cell[0], plane)
        else:
            truth[cell] = space.draw(rng, slot.box, 1)[0]
        slots.append(slot)
    loads = np.concatenate([space.loads(truth[row * cols : (row + 1) * cols], row) for row in range(rows)])
    return Scaffold(space, cols, tuple(slots), truth, loads, plane)


def _rule_sets(rng: np.random.Generator, space: Space, slots: int) -> list[list[str]]:
    """Deals the slot rules round, so that together the slots carry all of them, and fills each slot to two."""
    names = [rule.name for rule in space.domain.slot_rules]
    order = rng.permutation(names).tolist()
    dealt: list[list[str]] = [[] for _ in range(slots)]
    for position in range(max(slots, len(names)) if slots else 0):
        dealt[position % slots].append(order[position % len(names)])
    for mine in dealt:
        others = [name for name in names if name not in mine]
        mine += rng.permutation(others).tolist()[: max(0, 2 - len(mine))]
    return dealt


def _draw_limits(rng: np.random.Generator, space: Space, names: list[str]) -> dict[str, int]:
    choices = _usable_limits(space.domain.name, tuple(names))
    if not choices:
        raise UnmetConditionError(
            "filters", f"the slot rules {', '.join(names)} allow every item or none, whatever their thresholds"
        )
    return choices[int(rng.integers(len(choices)))]


@cache
def _usable_limits(domain: str, names: tuple[str, ...]) -> list[dict[str, int]]:
    """All thresholds of these rules under which some natural item is allowed and some is not."""
    space = load_space(domain, 1)
    combined = product(*(space.domain.slot_rule(name).thresholds for name in names))
    choices = [dict(zip(names, thresholds, strict=True)) for thresholds in combined]
    return [limits for limits in choices if 0 < allowed_share(space, space.box(limits)) < 1]
