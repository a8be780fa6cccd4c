"""Coupled decoys: looking at one slot at a time does not tell the truth from them.

A solver that takes every other slot at its mean can ask of each candidate how well it would then fit the global rules.
With decoys that are chosen slot by slot this *look-ahead* often finds the truth. Here the decoys of one slot after the
other are chosen again, given all the others, until look-ahead finds no more truths than guessing would.
"""

from collections.abc import Sequence

import numpy as np

from agenthard.ace.domain import GlobalKind
from agenthard.ace.generator.combinations import Combinations
from agenthard.ace.generator.decoys import DecoySlot, draw_sets, natural_excess
from agenthard.ace.generator.preference import Preference
from agenthard.ace.generator.scaffold import Scaffold
from agenthard.ace.generator.space import Bools, Floats, Ints

_SWEEPS = 4
_BALANCE = 0.05
"""What a squared unit of unnatural excess costs, where a truth found or missed against the plan costs 1."""


def couple(
    rng: np.random.Generator, scaffold: Scaffold, limits: dict[str, int], slack: Ints, slots: Sequence[DecoySlot]
) -> None:
    """Chooses decoys again so that look-ahead finds truths no more often than guessing.

    Args:
        rng: Source of randomness.
        scaffold: The frame of the instance.
        limits: Threshold by name of global rule.
        slack: By column: how much more than the truth it may be loaded.
        slots: The decoy slots with their decoys; changed in place.
    """
    if len(slots) < 2:
        return
    wanted = np.array([rng.random() < 1 / (1 + len(slot.chosen)) for slot in slots], dtype=float)
    scale = np.maximum(1, np.concatenate([np.full(r.count, abs(limits[r.rule.name])) for r in scaffold.space.rules]))
    relevant = [_relevant(scaffold, slot) for slot in slots]
    excess = [natural_excess(rng, scaffold, slot, slot.chosen[None])[0] for slot in slots]

    def cost(changed: int, sets: Ints, excesses: Floats) -> Floats:
        held = [
            _with_truth(slot.decoys[None] if at != changed else slot.deviations[sets]) for at, slot in enumerate(slots)
        ]
        found = look_ahead(held, relevant, slack, scale)
        total = np.sum([each for at, each in enumerate(excess) if at != changed], axis=0) + excesses
        result: Floats = np.abs(found - wanted).sum(axis=1) + _BALANCE * (total**2).sum(axis=1)
        return result

    for _ in range(_SWEEPS):
        for at in rng.permutation(len(slots)).tolist():
            slot = slots[at]
            possible = _possible(scaffold, slack, slots, at)
            if len(possible) < len(slot.chosen):
                continue
            sets = np.concatenate([slot.chosen[None], draw_sets(rng, scaffold, slot, possible)])
            excesses = np.concatenate([excess[at][None], natural_excess(rng, scaffold, slot, sets[1:])])
            best = int(cost(at, sets, excesses).argmin())
            slot.chosen, excess[at] = sets[best], excesses[best]


def look_ahead(held: Sequence[Ints], relevant: Sequence[Bools], slack: Ints, scale: Floats) -> Floats:
    """Tells how often look-ahead finds the truth, in several ways of looking.

    The ways differ in what makes a candidate fit best with the other slots at their mean: the fewest broken rules and
    then the least excess, the least excess, the largest least margin (as shares of the thresholds), the least excess
    again (in units of how much the slot's candidates differ), and the likeliest to fit when the other slots' spread is
    counted too.

    Args:
        held: By slot: deviations from the truth, with axes set, candidate (the truth first) and column. Slots may have
            one set each, or as many as another.
        relevant: By slot: the columns that its candidates load.
        slack: By column: how much more than the truth it may be loaded.
        scale: By column: size of the threshold.

    Returns:
        By set and slot: the share of ways that find the truth, from 0 to 1; a way that finds several counts in part.
    """
    from scipy.special import log_ndtr

    means = [each.mean(axis=1) for each in held]
    variances = [each.var(axis=1) for each in held]
    found = np.zeros((max(len(each) for each in held), len(held)))
    for at, each in enumerate(held):
        columns = relevant[at]
        others = (sum(means) - means[at])[:, None, columns]
        spread = np.sqrt(np.maximum((sum(variances) - variances[at])[:, None, columns], 1e-9))
        margins = slack[columns] - others - each[:, :, columns]
        excess = np.maximum(-margins / scale[columns], 0)
        broken = (excess > 1e-9).sum(axis=2)
        fits = np.maximum(log_ndtr((margins + 0.5) / spread), -50).sum(axis=2)
        least = (margins / scale[columns]).min(axis=2)
        own = np.maximum(np.abs(each - means[at][:, None]).mean(axis=1, keepdims=True)[:, :, columns], 1)
        relative = np.maximum(-margins / own, 0).sum(axis=2)
        ways = (-1000.0 * broken - excess.sum(axis=2), -excess.sum(axis=2), least, -relative, fits)
        for scores in ways:
            best = scores >= scores.max(axis=1, keepdims=True) - 1e-9
            found[:, at] += best[:, 0] / best.sum(axis=1) / len(ways)
    return found


def _with_truth(decoys: Ints) -> Ints:
    return np.concatenate([np.zeros_like(decoys[:, :1]), decoys], axis=1)


def _relevant(scaffold: Scaffold, slot: DecoySlot) -> Bools:
    columns = np.ones(scaffold.space.columns, dtype=bool)
    for rule in scaffold.space.rules:
        if rule.rule.kind is GlobalKind.MAX_ROW_SUM:
            columns[rule.first : rule.first + rule.count] = False
            columns[rule.first + scaffold.slots[slot.slot].cell[0]] = True
    return columns


def _possible(scaffold: Scaffold, slack: Ints, slots: Sequence[DecoySlot], at: int) -> Ints:
    """The proposals that break the whole whatever all other slots hold, and hide as well as the slot's decoys do."""
    slot = slots[at]
    combinations = Combinations([len(each.chosen) for each in slots], slack, scaffold.plane)
    for other in slots:
        if other is not slot:
            combinations.extend(other.decoys)
    possible = np.flatnonzero(combinations.broken_by(slot.deviations))
    if at == len(slots) - 1:
        return possible
    preference = Preference(scaffold, slack)
    for earlier in slots[:at]:
        preference.extend(earlier.decoys)
    stage = preference.levels(slot.slot, slot.decoys).max()
    hidden: Ints = possible[preference.levels(slot.slot, slot.deviations[possible]) <= stage]
    return hidden
