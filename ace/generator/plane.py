"""One weighted sum of an instance's rules, on which the truth and its decoys lie close together.

An item that is better than the truth under every rule could replace it, so it is not a decoy; one that is worse under
every rule is an obvious decoy. Good decoys are as good as the truth on the whole, better under some rules and
worse under others. The whole is measured by weights drawn for each instance: an item's *level*.
"""

import numpy as np

from agenthard.ace.domain import GlobalKind
from agenthard.ace.generator.calibration import calibrated
from agenthard.ace.generator.space import Box, Floats, Ints, Space

_TRUTH_WIDTH = 0.3
"""How far a truth's level may lie from the middle of its slot, in standard deviations of one attribute."""
_TRUTH_PROPOSALS = 200


def draw_plane(rng: np.random.Generator, space: Space) -> Floats:
    """Draws the weights of the columns: some for each sum over the grid, none for the other rules.

    Args:
        rng: Source of randomness.
        space: The domain.

    Returns:
        A weight per column, such that a level of 1 is about one standard deviation of a natural item.
    """
    sums = [rule for rule in space.rules if rule.rule.kind in (GlobalKind.SUM_MAX, GlobalKind.SUM_MIN)]
    weights = np.zeros(space.columns)
    if sums:
        at = [rule.attribute for rule in sums]
        deviation = np.maximum(space.natural.high - space.natural.low, 1)[at] / np.sqrt(12)
        shares = rng.dirichlet([3.0] * len(sums))
        weights[[rule.first for rule in sums]] = shares / deviation / np.linalg.norm(shares)
    return weights


def draw_balanced_truth(rng: np.random.Generator, space: Space, box: Box, row: int, plane: Floats) -> Ints:
    """Draws the truth of a decoy slot: near the middle level of its slot, every attribute by itself still natural.

    Args:
        rng: Source of randomness.
        space: The domain.
        box: What the slot allows.
        row: Row of the slot.
        plane: Weights of the columns.

    Returns:
        The item.
    """
    items = space.draw(rng, box, _TRUTH_PROPOSALS)
    ends = space.loads(np.stack([box.low, box.high]), row) @ plane
    levels = space.loads(items, row) @ plane - ends.mean()
    numbers = space.is_number & (box.high > box.low)
    place = ((items - (box.low + box.high) / 2) / np.maximum(box.high - box.low, 1) * 2)[:, numbers]
    moments = np.hstack([place, place**2, place**4])
    weights = calibrated(moments, moments.mean(axis=0), -(levels**2) / (2 * _TRUTH_WIDTH**2))
    truth: Ints = items[int(rng.choice(len(items), p=weights))]
    return truth
