"""Weights that give a chosen few the averages of the many.

Decoys must break the rules, so they cannot be drawn freely, and what is not drawn freely shows. These weights correct
for it: among the items that are possible decoys they prefer those that bring the averages of some features back to
what they are among all natural items, and change the odds as little as that needs (maximum entropy).
"""

import numpy as np

from agenthard.ace.generator.space import Box, Floats, Ints, Space

_RIDGE = 1e-3
_STEPS = 12
_CLOSE = 0.01
_FINE = 12


def calibrated(features: Floats, target: Floats, prior: Floats) -> Floats:
    """Returns the weights nearest to a prior under which the features have given averages.

    Solved by Newton's method on the dual: the weights are ``exp(prior + features @ multipliers)``, normalised. A small
    ridge keeps the multipliers finite when no weights reach the target; the averages then come as near as they can.

    Args:
        features: One row per item.
        target: Average wanted of each feature.
        prior: Logarithm of each item's weight before calibration, up to a constant.

    Returns:
        Weights that add up to 1.
    """
    centred = features - target
    multipliers = np.zeros(features.shape[1])
    weights = _softmax(prior)
    for _ in range(_STEPS):
        average = weights @ centred
        if np.abs(average).max(initial=0.0) < _CLOSE:
            break
        spread = (centred * weights[:, None]).T @ centred - np.outer(average, average)
        step = np.linalg.solve(spread + _RIDGE * np.eye(len(target)), average + _RIDGE * multipliers)
        multipliers -= step * min(1.0, 3.0 / max(np.abs(step).max(), 1e-12))
        weights = _softmax(centred @ multipliers + prior)
    return weights


def features(space: Space, items: Ints, truth: Ints, box: Box) -> Floats:
    """Describes items by what a reader could tell a truth by.

    For a number: whether it is below, at or above the truth's, how far from the middle of what the slot allows, and
    how far squared; for a word, whether it is the truth's.

    Args:
        space: The domain.
        items: One row per item.
        truth: The truth of the slot.
        box: What the slot allows.

    Returns:
        One row per item, one column per feature.
    """
    same = (items == truth).astype(float)
    width = (box.high - box.low).astype(float)
    place = (items - (box.low + box.high) / 2) / np.maximum(width, 1) * np.sqrt(12)
    numbers = space.is_number & (width > 0)
    coarse = numbers & (width < _FINE)
    described: Floats = np.hstack(
        [
            np.sign(items - truth)[:, numbers],
            0.5 * place[:, numbers],
            0.3 * place[:, numbers] ** 2,
            1.5 * same[:, coarse | (~space.is_number & (width > 0))],
        ]
    )
    return described


def weighted_choice(rng: np.random.Generator, weights: Floats, count: int, rounds: int = 1) -> Ints:
    """Draws sets of distinct items by weight.

    Args:
        rng: Source of randomness.
        weights: Weight of each item, not negative; at least ``count`` items.
        count: Items in a set.
        rounds: How many sets to draw, independently.

    Returns:
        One row of indices per set.
    """
    noise = rng.gumbel(size=(rounds, len(weights)))
    # Rounding hides differences in the last digits, which depend on the machine's linear algebra.
    keys = np.round(np.log(weights / weights.max() + 1e-9), 6) + noise
    chosen: Ints = np.argpartition(-keys, count - 1, axis=1)[:, :count]
    return chosen


def _softmax(logarithms: Floats) -> Floats:
    weights: Floats = np.exp(logarithms - logarithms.max())
    weights /= weights.sum()
    return weights
