"""How well a benchmark separates models.

Pairs with disjoint bootstrap intervals, models with nearly equal scores, and the smallest detectable difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.ranking import ordinal_ranks, why_no_ranking
from agenthard.audit.statistics.resampling import bootstrap_scores
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined

PAPER_THRESHOLD = 0.01
"""Meaningless across sizes: with 89 tasks the smallest gap above 0 is 0.0112. Prefer ``tied_sets``."""
_SLACK = 1e-12

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

    Single runs of independent tasks need no resampling: the resampled mean of a row of k ones is Binomial(n, k/n)/n
    (``binomial_ends``). Otherwise the same resampled tasks serve all models. The standard error is the standard
    deviation of the resampled means; it is not divided by √resamples (lighteval does that, and is too small by 31
    times at 1,000 resamples).
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
    ends = _ends(complete, level, resamples, seed, clusters)
    return {
        model: Estimate(
            value=float(complete.means()[row]),
            low=float(ends.low[row]),
            high=float(ends.high[row]),
            level=level,
            standard_error=None if ends.error is None else float(ends.error[row]),
            n=len(complete.tasks),
            of=len(matrix.tasks),
            unit="tasks",
            method=f"{ends.method}; complete tasks only",
            seed=None if ends.exact else seed,
        )
        for row, model in enumerate(complete.models)
    }


@dataclass(frozen=True)
class _Ends:
    """Percentile intervals of all models."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    error: NDArray[np.float64] | None
    method: str
    exact: bool


def _ends(complete: ScoreMatrix, level: float, resamples: int, seed: int, clusters: Sequence[str] | None) -> _Ends:
    """Take the exact bootstrap where there is one: the resampled passes of a 0/1 row with mean p are Binomial(n, p)."""
    n = len(complete.tasks)
    if complete.plain and clusters is None:
        passed = complete.passed.sum(axis=1)
        low, high = binomial_ends(passed, n, level)
        share = passed / n
        return _Ends(low, high, np.sqrt(share * (1 - share) / n), "exact percentile interval of the bootstrap", True)
    means = bootstrap_scores(complete.values.T, complete.weights, resamples=resamples, seed=seed, clusters=clusters)
    drawn = "clusters of tasks" if clusters is not None else "tasks"
    method = f"percentile interval of {resamples} paired bootstrap resamples of {drawn}"
    return _Ends(*interval_ends(means, level), means.std(axis=0, ddof=1) if resamples > 1 else None, method, False)


def binomial_ends(passed: ArrayLike, n: int, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile interval that infinitely many bootstrap resamples of a 0/1 row give: Binomial(n, k/n) quantiles / n.

    Args:
        passed: number of ones, k; one number or an array.
        n: length of the row, at least 1.
        level: coverage.

    Returns:
        Lower and upper ends.

    >>> [round(float(end), 3) for end in binomial_ends(60, 100, 0.95)]
    [0.5, 0.69]
    """
    count, tail = np.asarray(passed, dtype=np.float64), (1 - level) / 2
    low, high = (_binomial_quantile(q, n, count) / n for q in (tail, 1 - tail))
    return low, high


def _binomial_quantile(q: float, n: int, count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smallest k with P(Binomial(n, count/n) ≤ k) ≥ q, as ``scipy.stats.binom.ppf``, which takes a second to import."""
    from scipy.special import bdtr, bdtrik

    share = np.clip(count / n, 1e-300, 1.0)
    inside = (count > 0) & (count < n)
    above = np.ceil(bdtrik(q, n, np.where(inside, share, 0.5)))
    below = np.maximum(above - 1, 0)
    found = np.where(bdtr(below, n, np.where(inside, share, 0.5)) >= q, below, above)
    return np.asarray(np.where(inside, found, count))


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
    ends = _ends(complete, level, resamples, seed, clusters)
    return Estimate(
        value=share_of_disjoint_intervals(ends.low, ends.high),
        level=level,
        n=len(complete.tasks),
        of=len(matrix.tasks),
        unit="tasks",
        method=f"pairs with disjoint intervals, {ends.method}; complete tasks only",
        seed=None if ends.exact else seed,
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
        value=share_of_disjoint_intervals(*interval_ends(means, ARENA_HARD_LEVEL)),
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


def interval_ends(means: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile interval of each column, as ``np.quantile`` interpolates; a sort of columns takes a fifth of its time.

    Args:
        means: one row per resample, one column per model, without NaN.
        level: coverage.

    Returns:
        Lower and upper ends.
    """
    ordered = np.ascontiguousarray(means.T)
    ordered.sort(axis=1)
    tail = (1 - level) / 2
    low, high = (_interpolated(ordered, share) for share in (tail, 1 - tail))
    return low, high


def _interpolated(ordered: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    place = share * (ordered.shape[1] - 1)
    below = int(place)
    part, first = place - below, ordered[:, below]
    last = ordered[:, min(below + 1, ordered.shape[1] - 1)]
    ends: NDArray[np.float64] = first + (last - first) * part if part < 0.5 else last - (last - first) * (1 - part)
    return ends


def indistinguishable_groups(
    scores: Mapping[str, float], threshold: float = PAPER_THRESHOLD
) -> tuple[tuple[str, ...], ...]:
    """Group neighbours of the ranking greedily.

    Walk down the ranking; a model opens a group, and the following models join while they are at most ``threshold``
    below the group's first model; the next one opens a new group. Groups of one are left out.

    Args:
        scores: model → score; ties keep the order given.
        threshold: largest difference within a group, in the scores' units.

    Returns:
        Groups of two or more, best first.

    Raises:
        ValueError: when a score is NaN.

    >>> indistinguishable_groups({"a": 0.70, "b": 0.695, "c": 0.689, "d": 0.50})
    (('a', 'b'),)
    """
    ranks = ordinal_ranks(scores)
    groups: list[list[str]] = []
    for model in sorted(ranks, key=ranks.__getitem__):
        if groups and scores[groups[-1][0]] - scores[model] <= threshold + _SLACK:
            groups[-1].append(model)
        else:
            groups.append([model])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def indistinguishable_models(scores: Mapping[str, float], threshold: float = PAPER_THRESHOLD) -> Result:
    """Count the models in a group of two or more, by the paper's greedy rule (``indistinguishable_groups``).

    Args:
        scores: model → score; ties keep the order given.
        threshold: largest difference within a group.

    Returns:
        The number of models. Undefined for fewer than two models, a score that is NaN, and when all scores are equal.
    """
    reason = why_no_ranking(scores.values())
    if reason:
        return undefined(reason, len(scores), "models")
    count = sum(len(group) for group in indistinguishable_groups(scores, threshold))
    return _count(count, len(scores), f"models within {threshold} of the first of their group, greedy from the top")


def close_pairs(scores: Mapping[str, float], threshold: float = PAPER_THRESHOLD) -> Result:
    """Count the pairs of models whose scores differ by less than the threshold.

    Args:
        scores: model → score.
        threshold: difference that a pair stays below.

    Returns:
        The number of pairs. Undefined as ``indistinguishable_models``.
    """
    reason = why_no_ranking(scores.values())
    if reason:
        return undefined(reason, len(scores), "models")
    values = list(scores.values())
    count = sum(abs(a - b) < threshold - _SLACK for i, a in enumerate(values) for b in values[i + 1 :])
    return _count(count, len(scores), f"pairs of models less than {threshold} apart")


def _count(value: int, models: int, method: str) -> Estimate:
    return Estimate(value=value, n=models, of=models, unit="models", method=method)


Z_95_80 = 2.8
"""1.96 + 0.84: normal quantiles for a two-sided test at 5 % and a power of 80 %, rounded as in the published tables."""


def detectable_difference(n: int, agreement: float) -> Result:
    """Minimum detectable difference of two scores on the same n tasks, 95 % confidence and 80 % power.

    ``2.8 · sqrt((1 − A)/n)``: the difference of two models on a task has a variance of about 1 − A, the share of tasks
    on which they differ.

    Args:
        n: number of tasks.
        agreement: mean model agreement A, 0..1.

    Returns:
        The difference in score units (0.13 = 13 points). Undefined for fewer than two tasks, and for an agreement of 1,
        which says that no two models ever differ.

    Raises:
        ValueError: when the agreement lies outside 0..1.

    >>> round(100 * detectable_difference(165, 0.66).value)
    13
    """
    if not 0 <= agreement <= 1:
        raise ValueError(f"an agreement lies in 0..1, got {agreement}")
    return _detectable(n, n, 1 - agreement)


def minimum_detectable_difference(matrix: ScoreMatrix) -> Result:
    """Minimum detectable difference of a matrix: ``detectable_difference`` with its own size and disagreement.

    The disagreement is the mean over pairs of models of the mean squared difference per task, which is 1 − A for pass
    and fail and stays the right variance for several runs per cell. Missing cells: complete tasks only.

    Args:
        matrix: the scores.

    Returns:
        The difference in score units. Undefined for fewer than two models or complete tasks, when every run passes or
        fails, and when no two models differ.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    x = complete.values
    squares = (x**2).mean(axis=1)
    first, second = np.triu_indices(len(x), 1)
    gaps = squares[first] + squares[second] - 2 * (x @ x.T / x.shape[1])[first, second]
    return _detectable(len(complete.tasks), len(matrix.tasks), float(gaps.mean()))


def _detectable(n: int, of: int, disagreement: float) -> Result:
    if n < 2:
        return undefined(f"{n} task(s) were given; a comparison needs two", n, "tasks")
    if disagreement < 1e-12:
        return undefined("the models agree on all tasks, so nothing says how much they vary", n, "tasks")
    return Estimate(
        value=Z_95_80 * sqrt(disagreement / n),
        level=0.95,
        n=n,
        of=of,
        unit="tasks",
        method="paired, 95 % confidence and 80 % power: 2.8 · sqrt((1 − A)/n); complete tasks only",
    )
