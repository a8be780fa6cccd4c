"""Coupled decoys: looking at one slot at a time does not tell the truth from them.

A solver that takes every other slot at its mean can ask of each candidate how well it would then fit the global rules.
With decoys that are chosen slot by slot this *look-ahead* often finds the truth. Here the decoys of one slot after the
other are chosen again, given all the others, against a family of attackers: five ways to pick what fits best, any that
weighs how candidates stand against the rules, and any that learns the shapes of margins. A weighing can only find
truths that on the whole stand higher or lower than their decoys, or nearer to the middle, so the truths of an instance
are brought to stand as their decoys do; and learned shapes can only tell truths whose shapes are distributed otherwise.
"""

from collections.abc import Sequence

import numpy as np

from agenthard.ace.domain import GlobalKind
from agenthard.ace.generator.combinations import Combinations
from agenthard.ace.generator.decoys import DecoySlot, draw_sets, natural_excess
from agenthard.ace.generator.preference import Preference
from agenthard.ace.generator.scaffold import Scaffold
from agenthard.ace.generator.shapes import FAR, distance, shapes
from agenthard.ace.generator.space import Bools, Floats, Ints

_SWEEPS = 8
_BALANCE = 0.05
"""What a squared unit of unnatural excess costs, where a truth found or missed against the plan costs 1."""
_STANDING = 8.0
"""What it costs, as a mean over the measures, that truths stand a standard deviation above or below their decoys."""
_SPREAD = 1.0
"""The same where their squared distance from the middle is a variance off.."""
_SHAPES = 10.0
"""What a unit of distance between the shapes of truths and decoys costs."""


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
    firsts = np.array([rule.first for rule in scaffold.space.rules])
    excess = [natural_excess(rng, scaffold, slot, slot.chosen[None])[0] for slot in slots]

    def cost(changed: int, sets: Ints, excesses: Floats) -> Floats:
        held = [
            _with_truth(slot.decoys[None] if at != changed else slot.deviations[sets]) for at, slot in enumerate(slots)
        ]
        found = look_ahead(held, relevant, slack, scale)
        total = np.sum([each for at, each in enumerate(excess) if at != changed], axis=0) + excesses
        result: Floats = np.abs(found - wanted).sum(axis=1) + _BALANCE * (total**2).sum(axis=1)
        margins = rule_margins(held, relevant, slack, firsts)
        result += _imbalance(standing(margins)) + _SHAPES * distance([shapes(each) for each in margins])
        return result

    for sweep in range(_SWEEPS):
        for at in rng.permutation(len(slots)).tolist():
            slot = slots[at]
            possible = _possible(scaffold, slack, slots, at)
            if len(possible) < len(slot.chosen):
                continue
            drawn = draw_sets(rng, scaffold, slot, possible)
            # Once all sets are good as wholes, single decoys are exchanged.
            sets = np.concatenate([slot.chosen[None], _exchanged(rng, slot.chosen, drawn) if sweep else drawn])
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


def rule_margins(held: Sequence[Ints], relevant: Sequence[Bools], slack: Ints, firsts: Ints) -> list[Floats]:
    """Say how far inside each global rule candidates stay with the other slots at their mean.

    Args:
        held: As for :func:`look_ahead`.
        relevant: As for :func:`look_ahead`.
        slack: By column: how much more than the truth it may be loaded.
        firsts: First column of each rule.

    Returns:
        By slot, with axes set, candidate and rule: the least margin in units of the others' spread.
    """
    means = [each.mean(axis=1) for each in held]
    variances = [each.var(axis=1) for each in held]
    margins = []
    for at, each in enumerate(held):
        others = (sum(means) - means[at])[:, None]
        spread = np.sqrt(np.maximum((sum(variances) - variances[at])[:, None], 0.09))
        inside = np.clip((slack - others - each + 0.5) / spread, -FAR, FAR)
        margins.append(np.minimum.reduceat(np.where(relevant[at], inside, FAR), firsts, axis=2))
    return margins


def standing(margins: Sequence[Floats]) -> Floats:
    """Tells how the truths stand among their slots' candidates, by what a learner of look-ahead can be given.

    The measures are the margin to each global rule, and the same as far as it is broken; how far all rules are broken
    together; and the three least margins.

    Args:
        margins: What :func:`rule_margins` returns.

    Returns:
        By set, slot and measure: by how many standard deviations of the slot's candidates the truth is above their
        mean; 0 where they are all alike.
    """
    stands = []
    for by_rule in margins:
        broken = np.minimum(by_rule, 0)
        least = np.sort(by_rule, axis=2)[:, :, :3]
        measures = np.concatenate([by_rule, broken, broken.sum(axis=2, keepdims=True), least], axis=2)
        measures -= measures.mean(axis=1, keepdims=True)
        deviation = np.sqrt((measures**2).mean(axis=1))
        stands.append(np.where(deviation < 0.02, 0.0, measures[:, 0] / np.maximum(deviation, 0.05)))
    number = max(len(each) for each in stands)
    return np.stack([np.broadcast_to(each, (number, each.shape[1])) for each in stands], axis=1)


def _imbalance(stands: Floats) -> Floats:
    """What it costs that truths stand otherwise than their decoys, by set: on average, and in distance."""
    slots = stands.shape[1]
    on_average = (stands.sum(axis=1) ** 2).mean(axis=1)
    in_distance = ((stands**2 - 1).sum(axis=1) ** 2).mean(axis=1)
    cost: Floats = (_STANDING * on_average + _SPREAD * in_distance) / slots
    return cost


def _exchanged(rng: np.random.Generator, chosen: Ints, drawn: Ints) -> Ints:
    """Sets that differ from the chosen one by a decoy, which comes from a drawn set."""
    rows = np.arange(len(drawn))
    places = rng.integers(len(chosen), size=len(drawn))
    new = drawn[rows, rng.integers(drawn.shape[1], size=len(drawn))]
    sets = np.repeat(chosen[None], len(drawn), axis=0)
    sets[rows, places] = new
    return sets[~np.isin(new, chosen)]


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
