"""What a paired comparison of two models can detect, and how many tasks it takes, among several pairs."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.result import Estimate, Result, undefined

POWER = 0.8
_HALVINGS = 30


def detectable_by_test(
    n: int, disagreement: float, *, pairs: int = 1, alpha: float = 0.05, power: float = POWER
) -> Result:
    """Smallest difference of two scores that the exact McNemar test of n tasks finds, for the worst of several pairs.

    A pair is tested at alpha / pairs, the first step of Holm's correction, so the power holds for any one pair whatever
    the others are. The number of tasks on which two models differ is Binomial(n, d), the first model is right on each
    with probability (1 + δ/d)/2, and δ is found by bisection of the exact power.

    Args:
        n: tasks.
        disagreement: share d of tasks on which two models differ; at least δ, and raised to it where it is smaller.
        pairs: pairs that are tested together.
        alpha: family-wise error rate.
        power: probability of finding the difference.

    Returns:
        The difference in score units; undefined for fewer than two tasks, and where even a model that is right on every
        task could not be told from one that is right on none.

    >>> one, many = (detectable_by_test(165, 0.34, pairs=pairs).value for pairs in (1, 120))
    >>> round(100 * one), round(100 * many)
    (13, 20)
    """
    if n < 2:
        return undefined(f"{n} task(s) were given; a comparison needs two", n, "tasks")
    own = alpha / pairs
    critical = _critical(n, own)
    if _power(n, 1.0, 1.0, critical) < power:
        return undefined(
            f"{n} tasks are too few for {pairs:,} pair(s) at {alpha:g}, whatever the difference", n, "tasks"
        )
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = _power(n, max(disagreement, middle), middle, critical) >= power
        low, high = (low, middle) if enough else (middle, high)
    return Estimate(
        value=high,
        level=1 - alpha,
        n=n,
        of=n,
        unit="tasks",
        method=f"exact McNemar test at {alpha:g} / {pairs:,} pair(s), {100 * power:g} % power",
    )


def tasks_needed(
    difference: float, disagreement: float, *, pairs: int = 1, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Tasks that tell two models apart: ``(z_{1 − α/2m} + z_power)² · (d − δ²) / δ²`` (Miller 2024, paired).

    Args:
        difference: δ, difference of the two scores.
        disagreement: d, mean squared difference per task; the share of tasks on which they differ for single runs.
        pairs: m, pairs that are tested together.
        alpha: family-wise error rate.
        power: probability of finding the difference.

    Returns:
        The number, at least 2; None for equal scores, which no number of tasks tells apart.

    >>> tasks_needed(0.1, 0.34), tasks_needed(0.02, 0.34)
    (260, 6664)
    """
    from scipy.special import ndtri

    if abs(difference) < 1e-12:
        return None
    z = float(ndtri(1 - alpha / (2 * pairs)) + ndtri(power))
    return max(2, ceil(z**2 * max(disagreement - difference**2, 0.0) / difference**2))


def _critical(n: int, alpha: float) -> NDArray[np.float64]:
    """Largest number of rarer outcomes that is significant among 0 to n differing tasks; −1 for none."""
    from scipy.special import bdtr, bdtrik

    differing = np.arange(n + 1)
    near = np.floor(np.nan_to_num(bdtrik(alpha / 2, np.maximum(differing, 1), 0.5), nan=0.0))
    found = np.full(n + 1, -1.0)
    for count in (near - 1, near, near + 1):
        inside = (count >= 0) & (count < differing)
        hit = inside & (2 * bdtr(np.clip(count, 0, differing), differing, 0.5) <= alpha)
        found = np.where(hit, count, found)
    return found


def _power(n: int, disagreement: float, difference: float, critical: NDArray[np.float64]) -> float:
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    m = np.arange(n + 1)
    log = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1) + xlogy(m, disagreement) + xlog1py(n - m, -disagreement)
    rarer = (1 - difference / disagreement) / 2 if disagreement else 0.5
    test = critical >= 0
    hit = np.where(test, bdtr(np.maximum(critical, 0), m, rarer) + bdtr(np.maximum(critical, 0), m, 1 - rarer), 0.0)
    return float(np.minimum(np.exp(log) @ hit, 1.0))
