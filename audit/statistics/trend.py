"""Does a score fall as tasks get harder? Spearman's correlation over tasks, with a bootstrap over tasks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agenthard.audit.statistics import Estimate, Result
from agenthard.audit.statistics.resampling import percentile_interval
from agenthard.audit.statistics.result import check_level, undefined


def rank_trend(
    factor: Sequence[float], score: Sequence[float], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Result:
    """Spearman's rank correlation of a factor with the score of each task.

    A task counts once, with the mean of its trials, so repeated trials do not narrow the interval. Ties take mid-ranks.
    The interval is the percentile interval of a bootstrap over tasks. Resampling n tasks is a multinomial draw over the
    distinct (factor, score) pairs, so the ranks of all resamples are sums over a small table.

    Args:
        factor: one number per task, such as its H or B.
        score: share of the trials of each task that passed.
        level: coverage of the interval.
        resamples: bootstrap resamples; one in which the factor or the score is constant is left out.
        seed: seed of the resamples.

    Returns:
        ρ in −1..1: negative when the score falls as the factor rises. Undefined for fewer than three tasks, and for a
        constant factor or score.

    >>> round(rank_trend([0, 2, 4, 8], [1, 1, 0.5, 0]).value, 4)
    -0.9487
    """
    check_level(level)
    x, y = np.asarray(factor, dtype=np.float64), np.asarray(score, dtype=np.float64)
    if len(x) < 3:
        return undefined(f"{len(x)} task(s) were given; a trend needs three", len(x), "tasks")
    if np.ptp(x) == 0:
        return undefined(f"all {len(x)} tasks have the value {x[0]:g}", len(x), "tasks")
    if np.ptp(y) == 0:
        return undefined(f"all {len(x)} tasks have the score {y[0]:g}", len(x), "tasks")
    xs, ys = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    pairs, counts = np.unique(np.stack([xs, ys]), axis=1, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(x), counts / len(x), size=resamples)
    value = float(_correlations(counts[None, :], pairs)[0])
    return Estimate(
        value=value,
        **percentile_interval(_correlations(drawn, pairs), level),
        n=len(x),
        of=len(x),
        unit="tasks",
        method=f"Spearman's ρ of the tasks' mean scores, percentile interval of {resamples:,} resamples of tasks",
        seed=seed,
    )


def _correlations(counts: ArrayLike, pairs: NDArray[np.intp]) -> NDArray[np.float64]:
    """Correlate the mid-ranks of weighted pairs, once per row of counts; NaN where one side is constant."""
    weights = np.asarray(counts, dtype=np.float64)
    n = weights.sum(axis=1, keepdims=True)
    x, y = (_centred_ranks(weights, side) for side in pairs)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (weights * x * y).sum(axis=1) / np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    constant = ((weights * x * x).sum(axis=1) < 1e-9 * n[:, 0]) | ((weights * y * y).sum(axis=1) < 1e-9 * n[:, 0])
    return np.where(constant, np.nan, found)


def _centred_ranks(weights: NDArray[np.float64], side: NDArray[np.intp]) -> NDArray[np.float64]:
    """Give each pair the mid-rank of its level in each resample, less the mean rank (n + 1) / 2."""
    levels = np.zeros((len(side), side.max() + 1))
    levels[np.arange(len(side)), side] = 1.0
    sizes = weights @ levels
    ranks = np.cumsum(sizes, axis=1) - sizes / 2 + 0.5
    centred: NDArray[np.float64] = (ranks - (weights.sum(axis=1, keepdims=True) + 1) / 2)[:, side]
    return centred
