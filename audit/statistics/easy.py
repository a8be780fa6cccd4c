"""SMART filtering's rule for easy tasks, with the share of them that is kept at random."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

EASY_PROBABILITY = 0.8
KEPT_SHARE = 0.10


def easy_tasks(
    tasks: Sequence[str], right: ArrayLike, probability: ArrayLike, threshold: float = EASY_PROBABILITY
) -> tuple[str, ...]:
    """Tasks that every filter model gets right with a probability above the threshold on the right option (SMART).

    Args:
        tasks: task ids.
        right: models × tasks, whether the model chose the right option.
        probability: models × tasks, probability that the model gave the right option.
        threshold: probability that an easy task exceeds for every model.

    Returns:
        Ids of the easy tasks, in the given order; none without a filter model.

    Raises:
        ValueError: when the shapes differ, or a probability lies outside 0..1 or is NaN.
    """
    correct, sure = np.asarray(right, dtype=bool), np.asarray(probability, dtype=np.float64)
    if correct.shape != sure.shape or correct.ndim != 2 or correct.shape[1] != len(tasks):
        raise ValueError(f"expected models × {len(tasks)} tasks twice, got {correct.shape} and {sure.shape}")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise ValueError("a probability lies in 0..1 and is not NaN")
    if not len(correct):
        return ()
    easy = np.flatnonzero((correct & (sure > threshold)).all(axis=0))
    return tuple(tasks[int(i)] for i in easy)


def keep_some(easy: Sequence[str], rng: np.random.Generator, share: float = KEPT_SHARE) -> tuple[str, ...]:
    """Choose the easy tasks that stay, at random.

    Args:
        easy: ids of the easy tasks.
        rng: source of randomness.
        share: share of them to keep, rounded to the nearest whole task.

    Returns:
        Ids that stay, in the given order.

    Raises:
        ValueError: when the share lies outside 0..1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies in 0..1, got {share}")
    chosen = rng.permutation(len(easy))[: round(share * len(easy))]
    return tuple(easy[i] for i in sorted(chosen))
