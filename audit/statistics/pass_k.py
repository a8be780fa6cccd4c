"""Success in several trials: all of k (pass^k) and at least one of k (pass@k)."""

from collections.abc import Callable, Sequence
from math import comb

from agenthard.audit.statistics.matrix import MatrixError, ScoreMatrix
from agenthard.audit.statistics.means import clustered_mean
from agenthard.audit.statistics.result import Estimate, Result, undefined


def pass_hat_k(counts: Sequence[tuple[int, int]], k: int, level: float = 0.95) -> Result:
    """pass^k, the probability that k independent trials of a task all succeed, averaged over tasks (τ-bench).

    Estimated without bias from c successes in n trials as ``C(c, k) / C(n, k)``. The interval is a t interval over the
    tasks; it is left out when it is undefined (fewer than two tasks, or the same estimate on all).

    Args:
        counts: per task, (successes c, scored trials n). A task with fewer than k trials is left out ("n of N").
        k: trials that must all succeed, at least 1.
        level: coverage of the interval.

    Returns:
        The probability, 0..1. Undefined when no task has k trials.

    Raises:
        ValueError: for k < 1, or successes outside 0..n.

    >>> pass_hat_k([(2, 4)], 2).value  # C(2,2) / C(4,2) = 1/6
    0.16666666666666666
    """
    return _mean(counts, k, level, lambda c, n: comb(c, k) / comb(n, k), f"pass^{k}")


def pass_at_k(counts: Sequence[tuple[int, int]], k: int, level: float = 0.95) -> Result:
    """pass@k, the probability that at least one of k trials succeeds: ``1 − C(n − c, k) / C(n, k)`` (Chen et al. 2021).

    Not to be confused with AgencyBench's Pass@k, the share of scenarios that pass by their k-th attempt. Arguments,
    interval and undefined cases are those of ``pass_hat_k``.

    >>> pass_at_k([(2, 4)], 2).value  # 1 − C(2,2) / C(4,2) = 5/6
    0.8333333333333334
    """
    return _mean(counts, k, level, lambda c, n: 1 - comb(n - c, k) / comb(n, k), f"pass@{k}")


def trial_counts(matrix: ScoreMatrix, model: str) -> tuple[tuple[int, int], ...]:
    """Count a model's successes and scored trials per task, for ``pass_hat_k`` and ``pass_at_k``.

    Args:
        matrix: the scores.
        model: name of the model.

    Returns:
        (successes, scored trials) per task; (0, 0) where none is scored.

    Raises:
        MatrixError: when the matrix has no such model, or holds partial credit, which is neither success nor failure.
    """
    if matrix.fractional:
        raise MatrixError("partial credit is neither success nor failure: pass^k and pass@k need scores of 0 and 1")
    one = matrix.keep_models([model])
    return tuple(zip(one.passed[0].tolist(), one.runs[0].tolist(), strict=True))


def _mean(
    counts: Sequence[tuple[int, int]], k: int, level: float, estimate: Callable[[int, int], float], name: str
) -> Result:
    if k < 1:
        raise ValueError(f"k is at least 1, got {k}")
    for c, n in counts:
        if not 0 <= c <= n:
            raise ValueError(f"a task has {c} successes in {n} trials")
    per_task = [estimate(c, n) for c, n in counts if n >= k]
    if not per_task:
        return undefined(f"none of {len(counts)} tasks has {k} scored trials", 0, "tasks")
    point = Estimate(
        value=sum(per_task) / len(per_task),
        n=len(per_task),
        of=len(counts),
        unit="tasks",
        method=f"{name}, unbiased per task, mean over tasks with {k} trials or more",
    )
    spread = clustered_mean(per_task, level=level)
    if not isinstance(spread, Estimate):
        return point
    return point.model_copy(update=spread.model_dump(include={"low", "high", "level", "standard_error"}))
