"""Mean scores: clustered standard errors, paired differences, and bounds when some tasks are undecided."""

from collections.abc import Collection, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined
from agenthard.taxonomy.record import Record


def clustered_mean(
    values: Sequence[float | None],
    clusters: Sequence[str] | None = None,
    level: float = 0.95,
    weights: Sequence[float] | None = None,
) -> Result:
    """Mean with its clustered standard error and t interval.

    ``SE = sqrt( C/(C − 1) · Σ_c ( Σ_{i∈c} (x_i − x̄) )² ) / n`` with C clusters (inspect_ai), and a t interval with
    C − 1 degrees of freedom. The cluster is the task when there are several runs of it, the scenario when its tasks
    follow on one another. Without clusters every value is its own, and SE is the usual s / √n.

    Args:
        values: one number per run; None is missing and left out ("n of N").
        clusters: name of the cluster of each value; None for independent values.
        level: coverage of the interval.
        weights: weight of each value, above 0; the mean is then ``Σ w x / Σ w``, and w (x − x̄) over the mean weight
            takes the place of x − x̄ (linearised). None where all count equally.

    Returns:
        The mean, its standard error and interval. Undefined for fewer than two values or clusters, for NaN, and when
        all values are equal, because then the spread is unknown (use a Wilson interval for a rate of 0 or 1).

    Raises:
        ValueError: when there is not one cluster, or weight, per value.
    """
    check_level(level)
    factors = [1.0] * len(values) if weights is None else list(weights)
    if len(factors) != len(values):
        raise ValueError(f"there are {len(factors)} weights for {len(values)} values: give one per value")
    names = [str(i) for i in range(len(values))] if clusters is None else list(clusters)
    if len(names) != len(values):
        raise ValueError(f"there are {len(names)} clusters for {len(values)} values: give one per value")
    present = [row for row in zip(values, names, factors, strict=True) if row[0] is not None]
    x = np.array([value for value, *_ in present], dtype=np.float64)
    w = np.array([weight for *_, weight in present], dtype=np.float64)
    member = np.unique([name for _, name, _ in present], return_inverse=True)[1] if present else np.zeros(0, np.intp)
    n_clusters = int(member.max()) + 1 if present else 0
    reason = _why_no_spread(x, n_clusters)
    if reason:
        return undefined(reason, len(x), "values")
    mean = float(x.mean()) if weights is None else float(w @ x / w.sum())
    sums = np.bincount(member, weights=x - mean if weights is None else w * (x - mean) / w.mean())
    error = sqrt(n_clusters / (n_clusters - 1) * float((sums**2).sum())) / len(x)
    half = float(stdtrit(n_clusters - 1, (1 + level) / 2)) * error
    return Estimate(
        value=mean,
        low=mean - half,
        high=mean + half,
        level=level,
        standard_error=error,
        n=len(x),
        of=len(values),
        unit="values",
        method=f"{'' if weights is None else 'weighted '}mean, clustered standard error, t interval with "
        f"{n_clusters - 1} degrees of freedom",
    )


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[str] | None = None,
    level: float = 0.95,
    weights: Sequence[float] | None = None,
) -> Result:
    """Mean of ``first − second`` over the tasks that both have, with a paired standard error and t interval.

    Two models on the same tasks, or one model under two answer keys, are paired data: an unpaired z-test (lm-eval's
    model comparison) ignores that they succeed on the same tasks and misses real differences.

    Args:
        first: one score per task; None is missing.
        second: the other scores, on the same tasks in the same order.
        clusters: name of the cluster of each task; None for independent tasks.
        level: coverage of the interval.
        weights: weight of each task; None where all count equally.

    Returns:
        The difference; a task that either side misses is left out ("n of N"). Undefined as ``clustered_mean``; so it is
        when the difference is the same on every task.

    Raises:
        ValueError: when the sides have different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"paired scores are about the same tasks, got {len(first)} and {len(second)} of them")
    gaps = [None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)]
    result = clustered_mean(gaps, clusters, level, weights)
    if isinstance(result, Estimate):
        return result.model_copy(update={"unit": "tasks", "method": f"paired difference: {result.method}"})
    return result


def paired_gap(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[str] | None = None,
    level: float = 0.95,
    weights: Sequence[float] | None = None,
) -> Result:
    """Mean of ``first − second`` as ``paired_difference``, with a value also where all differences are equal.

    There the spread is unknown, so the estimate has no interval.

    Args:
        first: one score per pair.
        second: the other scores, in the same order.
        clusters: name of the cluster of each pair; None for independent pairs.
        level: coverage of the interval.
        weights: weight of each pair; None where all count equally.

    Returns:
        The difference. Undefined as ``paired_difference`` in all other cases, such as without pairs.

    >>> paired_gap([1, 1, 1], [0, 0, 0]).value
    1.0
    """
    found = paired_difference(first, second, clusters, level, weights)
    gaps = {a - b for a, b in zip(first, second, strict=True)}
    if isinstance(found, Estimate) or len(gaps) != 1:
        return found
    method = f"all {len(first):,} pairs differ by the same; no spread, so no interval"
    return Estimate(value=gaps.pop(), n=len(first), of=len(first), unit="tasks", method=method)


def _why_no_spread(x: NDArray[np.float64], n_clusters: int) -> str | None:
    if len(x) < 2:
        return f"{len(x)} value(s) were given; a standard error needs two"
    if not np.isfinite(x).all():
        return "a value is NaN or infinite; pass None for a missing one"
    if n_clusters < 2:
        return "all values belong to one cluster; a clustered standard error needs two"
    if np.ptp(x) == 0:
        return f"all {len(x)} values are equal to {x[0]:g}, so their spread is unknown"
    return None


class ScoreBounds(Record):
    """One model's score with the undecided tasks in, out, and chosen for or against it."""

    model: str
    """Model."""
    kept: float
    """Score when all undecided tasks stay."""
    dropped: float
    """Score when all undecided tasks go."""
    least: float
    """Lowest score that any choice of undecided tasks to drop gives."""
    most: float
    """Highest score that any choice gives."""


def score_bounds(matrix: ScoreMatrix, undecided: Collection[str]) -> tuple[ScoreBounds, ...] | Undefined:
    """Bound every model's score over all ways to keep or drop the undecided tasks.

    A task whose judge timed out or gave no verdict may be flawed or sound. The lowest mean is reached by adding, in
    rising order, the undecided tasks on which the model is worst while they lower it; the highest the other way round.
    Missing cells: complete tasks only.

    Args:
        matrix: the scores on the tasks that are kept or undecided.
        undecided: ids of the tasks without a decision.

    Returns:
        One record per model, in the order of the matrix. Undefined when no decided task has a score for every model.

    Raises:
        MatrixError: when an undecided task is not in the matrix.
    """
    decided, open_tasks = matrix.drop(undecided).complete_tasks(), matrix.keep(undecided).complete_tasks()
    if not decided.tasks:
        return undefined("no decided task has a score for every model", 0, "tasks")
    rows = []
    for model, sure, maybe in zip(matrix.models, decided.values, open_tasks.values, strict=True):
        rising = np.cumsum(np.concatenate([[sure.sum()], np.sort(maybe)]))
        falling = np.cumsum(np.concatenate([[sure.sum()], np.sort(maybe)[::-1]]))
        sizes = np.arange(len(sure), len(sure) + len(maybe) + 1)
        rows.append(
            ScoreBounds(
                model=model,
                kept=float(rising[-1] / sizes[-1]),
                dropped=float(sure.mean()),
                least=float((rising / sizes).min()),
                most=float((falling / sizes).max()),
            )
        )
    return tuple(rows)


def may_draw_level(matrix: ScoreMatrix, undecided: Collection[str], leader: str) -> tuple[str, ...]:
    """Models that reach the leader's score for some way to keep or drop the undecided tasks, the same for both models.

    The bounds of ``score_bounds`` are reached by different choices, so overlapping bounds say too much. The difference
    of two scores is a sum over the kept tasks; it is largest when every task that favours the other model is kept.
    Complete tasks only.

    Args:
        matrix: the scores on the tasks that are kept or undecided.
        undecided: ids of the tasks without a decision.
        leader: the model in question.

    Returns:
        The other models, in the order of the matrix.

    Raises:
        MatrixError: when an undecided task is not in the matrix.
    """
    decided, open_tasks = matrix.drop(undecided).complete_tasks(), matrix.keep(undecided).complete_tasks()
    row = matrix.models.index(leader)
    sure = (decided.values - decided.values[row]).sum(axis=1)
    gain = np.maximum(open_tasks.values - open_tasks.values[row], 0).sum(axis=1)
    return tuple(model for i, model in enumerate(matrix.models) if i != row and sure[i] + gain[i] >= -1e-12)
