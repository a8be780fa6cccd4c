"""Decoys: candidates that meet their slot's own rules and yet break the whole (the paper's Algorithm 1).

For each decoy slot in order, natural items within the slot's rules are proposed, those that miss the hard condition
are left out, the open-prefix preference says which of the rest may be taken, and among these the decoys are chosen so
that, attribute by attribute, nothing tells them from natural items, and so from the truth.
"""

from dataclasses import dataclass, field

import numpy as np

from agenthard.ace.domain import GlobalKind
from agenthard.ace.errors import UnmetConditionError
from agenthard.ace.generator.calibration import calibrated, features, weighted_choice
from agenthard.ace.generator.combinations import Combinations
from agenthard.ace.generator.preference import Preference, demanded_level
from agenthard.ace.generator.scaffold import Scaffold
from agenthard.ace.generator.space import Box, Floats, Ints, Space

_PROPOSALS = 600
_PROPOSALS_PER_DECOY = 40
_SETS = 64
"""Sets of decoys that are compared for a slot."""


@dataclass(slots=True)
class DecoySlot:
    """A slot's proposals, and which of them are its decoys."""

    slot: int
    """Index of the slot."""
    items: Ints
    """The proposals, one per row."""
    deviations: Ints
    """How much more than the truth each loads every column."""
    chosen: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Indices of the proposals that are decoys, in the order they were chosen."""

    @property
    def decoys(self) -> Ints:
        """Deviations of the decoys."""
        return self.deviations[self.chosen]


def draw_decoys(
    rng: np.random.Generator, scaffold: Scaffold, slack: Ints, attempts: tuple[int, int, int]
) -> list[DecoySlot]:
    """Draws the decoys of every decoy slot.

    Args:
        rng: Source of randomness.
        scaffold: The frame of the instance.
        slack: By column: how much more than the truth it may be loaded.
        attempts: After how many proposals the demand on the preference level falls.

    Returns:
        The decoy slots in order.

    Raises:
        UnmetConditionError: Too few proposals of a slot meet the hard condition.
    """
    order = scaffold.decoy_slots
    combinations = Combinations([scaffold.slots[index].decoys for index in order], slack, scaffold.plane)
    preference = Preference(scaffold, slack)
    owed = np.zeros(len(scaffold.space.is_number))
    done: list[DecoySlot] = []
    for position, index in enumerate(order):
        slot = propose(rng, scaffold, index)
        wanted = scaffold.slots[index].decoys
        possible = np.flatnonzero(combinations.broken_by(slot.deviations))
        if len(possible) < wanted:
            raise UnmetConditionError(
                "hard condition",
                f"decoy slot {position + 1} of {len(order)} needs {wanted} decoys, "
                f"and {len(possible)} of {len(slot.items)} proposals break the whole in every combination",
            )
        if position < len(order) - 1:
            levels = preference.levels(index, slot.deviations[possible])
            possible = possible[levels <= demanded_level(levels, wanted, attempts)]
        sets = draw_sets(rng, scaffold, slot, possible)
        excess = owed + natural_excess(rng, scaffold, slot, sets)
        best = int((excess**2).sum(axis=1).argmin())
        owed, slot.chosen = excess[best], sets[best]
        combinations.extend(slot.decoys, _least(scaffold, order[position + 1 :]))
        preference.extend(slot.decoys)
        done.append(slot)
    return done


def propose(rng: np.random.Generator, scaffold: Scaffold, index: int) -> DecoySlot:
    """Draws natural items within a slot's rules.

    Args:
        rng: Source of randomness.
        scaffold: The frame of the instance.
        index: Index of the slot.

    Returns:
        The slot with its proposals, none chosen.
    """
    frame = scaffold.slots[index]
    items = scaffold.space.draw(rng, frame.box, max(_PROPOSALS, _PROPOSALS_PER_DECOY * frame.decoys))
    return DecoySlot(index, items, scaffold.space.loads(items, frame.cell[0]) - scaffold.loads[scaffold.at(index)])


def draw_sets(rng: np.random.Generator, scaffold: Scaffold, slot: DecoySlot, possible: Ints) -> Ints:
    """Draws sets of decoys whose attributes are on average those of natural items, at about the level of the truth.

    Args:
        rng: Source of randomness.
        scaffold: The frame of the instance.
        slot: The slot with its proposals.
        possible: Indices of the proposals that may be decoys.

    Returns:
        One row per set: the indices of its proposals.
    """
    frame = scaffold.slots[slot.slot]
    described = features(scaffold.space, slot.items, scaffold.truth[scaffold.at(slot.slot)], frame.box)
    levels = slot.deviations[possible] @ scaffold.plane
    weights = calibrated(described[possible], described.mean(axis=0), -(levels**2) / 2)
    sets: Ints = possible[weighted_choice(rng, weights, frame.decoys, _SETS)]
    return sets


def natural_excess(rng: np.random.Generator, scaffold: Scaffold, slot: DecoySlot, sets: Ints) -> Floats:
    """Compares sets of decoys with as many natural items, by how they lie about the truth.

    Where the rules leave no set whose averages are natural, the sets nearest to it are still found so, and what is
    missing can be made up in another slot.

    Args:
        rng: Source of randomness.
        scaffold: The frame of the instance.
        slot: The slot with its proposals.
        sets: Indices of proposals, one row per set.

    Returns:
        By set and attribute: the share of decoys above the truth less the share below it, or for words the share that
        is the truth's, each less the same of natural items.
    """
    truth = scaffold.truth[scaffold.at(slot.slot)]
    sides = np.where(scaffold.space.is_number, np.sign(slot.items - truth), slot.items == truth)
    natural = rng.choice(len(sides), size=sets.shape[1], replace=False)
    excess: Floats = sides[sets].mean(axis=1) - sides[natural].mean(axis=0)
    return excess


def _least(scaffold: Scaffold, slots: list[int]) -> Ints:
    """By column: the least that these slots together can deviate from their truths."""
    least = np.zeros(scaffold.space.columns, dtype=np.int64)
    for index in slots:
        frame = scaffold.slots[index]
        loads = least_loads(scaffold.space, frame.box, frame.cell[0])
        least += np.minimum(loads - scaffold.loads[scaffold.at(index)], 0)
    return least


def least_loads(space: Space, box: Box, row: int) -> Ints:
    """Returns the least that any allowed item can load each column.

    Args:
        space: The domain.
        box: The allowed items.
        row: Row of the grid.

    Returns:
        One number per column, or one below it; different columns may need different items.
    """
    least: Ints = space.loads(np.stack([box.low, box.high]), row).min(axis=0)
    for rule in space.rules:
        if rule.rule.kind in (GlobalKind.REPEAT_MAX, GlobalKind.COUNT_MIN, GlobalKind.COUNT_MIN_THRESHOLD):
            least[rule.first : rule.first + rule.count] = -1 if rule.rule.kind.is_floor else 0
    return least
