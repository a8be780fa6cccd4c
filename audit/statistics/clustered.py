"""Means with standard errors that respect clusters, and the paired difference of two runs on the same tasks."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from agenthard.audit.statistics.result import Estimate, Result, check_level, undefined


def clustered_mean(
    values: Sequence[float | None], clusters: Sequence[str] | None = None, level: float = 0.95
) -> Result:
    """Mean with its clustered standard error and t interval.

    ``SE = sqrt( C/(C − 1) · Σ_c ( Σ_{i∈c} (x_i − x̄) )² ) / n`` with C clusters (inspect_ai), and a t interval with
    C − 1 degrees of freedom. The cluster is the task when there are several runs of it, the scenario when its tasks
    follow on one another. Without clusters every value is its own, and SE is the usual s / √n.

    Args:
        values: one number per run; None is missing and left out ("n of N").
        clusters: name of the cluster of each value; None for independent values.
        level: coverage of the interval.

    Returns:
        The mean, its standard error and interval. Undefined for fewer than two values or clusters, for NaN, and when
        all values are equal, because then the spread is unknown (use a Wilson interval for a rate of 0 or 1).

    Raises:
        ValueError: when there is not one cluster per value.
    """
    check_level(level)
    names = [str(i) for i in range(len(values))] if clusters is None else list(clusters)
    if len(names) != len(values):
        raise ValueError(f"there are {len(names)} clusters for {len(values)} values: give one per value")
    present = [(value, name) for value, name in zip(values, names, strict=True) if value is not None]
    x = np.array([value for value, _ in present], dtype=np.float64)
    member = np.unique([name for _, name in present], return_inverse=True)[1] if present else np.zeros(0, np.intp)
    n_clusters = int(member.max()) + 1 if present else 0
    reason = _why_no_spread(x, n_clusters)
    if reason:
        return undefined(reason, len(x), "values")
    mean = float(x.mean())
    sums = np.bincount(member, weights=x - mean)
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
        method=f"mean, clustered standard error, t interval with {n_clusters - 1} degrees of freedom",
    )


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[str] | None = None,
    level: float = 0.95,
) -> Result:
    """Mean of ``first − second`` over the tasks that both have, with a paired standard error and t interval.

    Two models on the same tasks, or one model under two answer keys, are paired data: an unpaired z-test (lm-eval's
    model comparison) ignores that they succeed on the same tasks and misses real differences.

    Args:
        first: one score per task; None is missing.
        second: the other scores, on the same tasks in the same order.
        clusters: name of the cluster of each task; None for independent tasks.
        level: coverage of the interval.

    Returns:
        The difference; a task that either side misses is left out ("n of N"). Undefined as ``clustered_mean``; so it is
        when the difference is the same on every task.

    Raises:
        ValueError: when the sides have different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"paired scores are about the same tasks, got {len(first)} and {len(second)} of them")
    gaps = [None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)]
    result = clustered_mean(gaps, clusters, level)
    if isinstance(result, Estimate):
        return result.model_copy(update={"unit": "tasks", "method": f"paired difference: {result.method}"})
    return result


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
