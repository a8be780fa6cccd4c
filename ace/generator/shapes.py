"""Shapes of margins: what a learner is shown of how a candidate stands against the global rules, whichever these are.

What one slot at a time can tell is told by the distribution of shapes: where that of the truths is that of the decoys,
no learner of shapes finds truths more often than by guessing, however it learns. So the two are brought together by
their distance, and no learner has to be known.
"""

from collections.abc import Sequence

import numpy as np

from agenthard.ace.generator.space import Floats

FAR = 9.0
"""Margins are cut off here, in standard deviations of what the other slots may add; rules that a slot does not touch
have this margin."""
_LEAST = 5
"""Least margins, and least differences from the slot's mean, of a shape."""
_MIDDLE = np.array([-0.7, -0.15, 0.25, 0.63, 1.1, -0.75, -0.3, 0.0, 0.05, 0.38])
_WIDTH = np.array([0.6, 0.45, 0.45, 0.55, 0.9, 0.5, 0.5, 0.3, 0.3, 0.5])
"""Medians of the measures in coupled instances of all domains, and how far their quartiles are apart."""
_CUT = 3.0
"""Widths from the middle beyond which a measure is as far as any."""
_DIGITS = 9
"""Digits of a distance; what is beyond them may differ between machines."""


def shapes(margins: Floats) -> Floats:
    """Return the shapes of candidates.

    Args:
        margins: By set, candidate of one slot, and rule: the margin in standard deviations of what the others may add.

    Returns:
        By set, candidate and measure: the least margins in order, then the least differences from the slot's mean, in
        widths from their middle.
    """
    apart = margins - margins.mean(axis=1, keepdims=True)
    measured = np.concatenate([_least(margins, FAR), _least(apart, 0.0)], axis=2)
    standard: Floats = np.clip((measured - _MIDDLE) / _WIDTH, -_CUT, _CUT)
    return standard


def distance(shown: Sequence[Floats]) -> Floats:
    """Tell how far the truths' shapes are from those of the decoys, as distributions.

    Args:
        shown: By slot, with axes set, candidate (the truth first) and measure. Slots may have one set each, or as many
            as another.

    Returns:
        By set: the energy distance, times the number of slots; 0 where both are the same.
    """
    number = max(map(len, shown))
    every = [np.broadcast_to(each, (number, *each.shape[1:])) for each in shown]
    truths = np.stack([each[:, 0] for each in every], axis=1)
    decoys = np.concatenate([each[:, 1:] for each in every], axis=1)
    between, own, theirs = _apart(truths, decoys), _apart(truths, truths), _apart(decoys, decoys)
    energy: Floats = (truths.shape[1] * (2 * between - own - theirs)).round(_DIGITS)
    return energy


def _apart(some: Floats, others: Floats) -> Floats:
    """By set: the mean distance of two shapes, one of each kind."""
    squares = (some**2).sum(axis=2)[:, :, None] + (others**2).sum(axis=2)[:, None]
    mean: Floats = np.sqrt(np.maximum(squares - 2 * some @ others.transpose(0, 2, 1), 0)).mean(axis=(1, 2))
    return mean


def _least(values: Floats, rest: float) -> Floats:
    """The least values of the last axis in order; what is lacking is filled up."""
    least = np.sort(values, axis=2)[:, :, :_LEAST]
    return np.pad(least, ((0, 0), (0, 0), (0, _LEAST - least.shape[2])), constant_values=rest)
