"""Share of pairs of models whose bootstrap intervals are disjoint."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.resampling import all_bootstrap_means
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined

ARENA_HARD_ROUNDS = 100
ARENA_HARD_LEVEL = 0.90
"""Its intervals run from the 5 % to the 95 % quantile and are called 95 % there; they cover 90 %."""
_TOUCH = 1e-12


def score_intervals(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    clusters: Sequence[str] | None = None,
) -> dict[str, Estimate] | Undefined:
    """Score of each model with a percentile interval from a paired bootstrap over tasks.

    The same resampled tasks serve all models. The standard error is the standard deviation of the resampled means; it
    is not divided by √resamples (lighteval does that, and is too small by 31 times at 1,000 resamples).
    Missing cells: only tasks with a score for every model are used ("n of N").

    Args:
        matrix: the scores.
        level: coverage of each interval.
        resamples: number of resamples.
        seed: seed of the bootstrap.
        clusters: name of the cluster of each complete task, whole clusters being resampled; None for independent tasks.

    Returns:
        Model → score in 0..1 with its interval, in the order of the matrix. Undefined for fewer than two models or
        complete tasks, and when every run passes or every run fails.
    """
    check_level(level)
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    means = all_bootstrap_means(complete.values.T, resamples=resamples, seed=seed, clusters=clusters)
    lows, highs = _quantiles(means, level)
    drawn = "clusters of tasks" if clusters is not None else "tasks"
    return {
        model: Estimate(
            value=float(complete.values[row].mean()),
            low=float(lows[row]),
            high=float(highs[row]),
            level=level,
            standard_error=float(means[:, row].std(ddof=1)) if resamples > 1 else None,
            n=len(complete.tasks),
            of=len(matrix.tasks),
            unit="tasks",
            method=f"percentile interval of {resamples} paired bootstrap resamples of {drawn}; complete tasks only",
            seed=seed,
        )
        for row, model in enumerate(complete.models)
    }


def separability(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    clusters: Sequence[str] | None = None,
) -> Result:
    """Separability with confidence: ``100 · (pairs of models with disjoint intervals) / C(M, 2)``.

    Pairs are counted, never distinct intervals: models with equal or touching intervals are not separated, so four
    identical models give 0. Intervals, missing cells and arguments are those of ``score_intervals``.

    Returns:
        The separability in percent, 0..100. Undefined as ``score_intervals``.
    """
    check_level(level)
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    means = all_bootstrap_means(complete.values.T, resamples=resamples, seed=seed, clusters=clusters)
    return Estimate(
        value=share_of_disjoint_intervals(*_quantiles(means, level)),
        level=level,
        n=len(complete.tasks),
        of=len(matrix.tasks),
        unit="tasks",
        method=f"pairs with disjoint percentile intervals, {resamples} paired bootstrap resamples"
        f"{' of clusters' if clusters is not None else ''}; complete tasks only",
        seed=seed,
    )


def arena_hard_separability(matrix: ScoreMatrix, *, seed: int = 0) -> Result:
    """Separability as Arena-Hard's code computes it: 100 rounds, 5 % to 95 % quantiles, each model resampled alone.

    Only for comparing with figures made by that code: its interval covers 90 %, and 100 rounds leave its ends noisy.
    Missing cells: complete tasks only.

    Args:
        matrix: the scores.
        seed: seed of the bootstrap; model i uses the i-th child of it.

    Returns:
        The separability in percent, 0..100. Undefined as ``score_intervals``.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    n = len(complete.tasks)
    streams = np.random.default_rng(seed).spawn(len(complete.models))
    means = np.stack(
        [
            row[rng.integers(0, n, (ARENA_HARD_ROUNDS, n))].mean(axis=1)
            for row, rng in zip(complete.values, streams, strict=True)
        ],
        axis=1,
    )
    return Estimate(
        value=share_of_disjoint_intervals(*_quantiles(means, ARENA_HARD_LEVEL)),
        level=ARENA_HARD_LEVEL,
        n=n,
        of=len(matrix.tasks),
        unit="tasks",
        method="Arena-Hard's parity mode: 100 unpaired rounds, 5 % to 95 % quantiles; complete tasks only",
        seed=seed,
    )


def share_of_disjoint_intervals(
    lows: Sequence[float] | NDArray[np.float64], highs: Sequence[float] | NDArray[np.float64]
) -> float:
    """Count the pairs of intervals that do not even touch.

    Args:
        lows: lower end per model.
        highs: upper end per model, in the same order; at least two models.

    Returns:
        100 · disjoint pairs / all pairs.

    >>> share_of_disjoint_intervals([0.4, 0.4, 0.4, 0.4], [0.6, 0.6, 0.6, 0.6])
    0.0
    >>> share_of_disjoint_intervals([0.1, 0.3, 0.2], [0.2, 0.4, 0.4])
    33.333333333333336
    """
    low, high = np.asarray(lows, dtype=np.float64), np.asarray(highs, dtype=np.float64)
    above = low[:, None] > high[None, :] + _TOUCH
    return float(100 * above.sum() / (len(low) * (len(low) - 1) / 2))


def _quantiles(means: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high
