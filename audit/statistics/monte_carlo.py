"""p-values from random draws: their Monte-Carlo error, Holm's correction of a family, and verdicts."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agenthard.audit.statistics.paired_tests import holm
from agenthard.taxonomy.record import Record

Tail = Literal["greater", "less", "both"]
"""Which values of a statistic speak against the null."""
Verdict = Literal["beyond", "within", "undecided"]
"""Whether a figure goes beyond its null; undecided where more draws would be needed to tell."""
ERROR_LEVEL = 0.999
"""Coverage of the interval of a p-value: wide, because a page shows many."""
_SAME = 1e-12


class MonteCarloP(Record):
    """A p-value from random draws."""

    p: float
    """(1 + draws at least as extreme) / (1 + draws); twice the smaller tail for two tails, at most 1."""
    low: float
    """Lower end of the 99.9 % interval of the p-value that infinitely many draws would give."""
    high: float
    """Its upper end."""
    tail: Tail
    """Which values are extreme."""
    draws: int
    """Random draws."""


def monte_carlo_p(draws: ArrayLike, observed: float, tail: Tail) -> MonteCarloP:
    """Place an observed value among draws of its null.

    The observed value counts as one draw (Phipson and Smyth 2010), so that p is never 0 and the test is valid with any
    number of draws. The interval is Clopper and Pearson's for the share of extreme draws.

    Args:
        draws: values of the statistic under the null, at least one.
        observed: the value in question.
        tail: which values are extreme.

    Returns:
        The p-value with its Monte-Carlo error.

    >>> monte_carlo_p([1, 2, 3, 4], 4, "greater").p  # one draw of four is as large, and the observed one
    0.4
    """
    values = np.asarray(draws, dtype=np.float64)
    above = int((values >= observed - _SAME).sum())
    below = int((values <= observed + _SAME).sum())
    count = {"greater": above, "less": below, "both": min(above, below)}[tail]
    factor, total = 2 if tail == "both" else 1, len(values)
    low, high = _clopper_pearson(count, total)
    p = min(1.0, factor * (1 + count) / (1 + total))
    return MonteCarloP(p=p, low=min(p, factor * low), high=max(p, min(1.0, factor * high)), tail=tail, draws=total)


def _clopper_pearson(count: int, total: int) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail = (1 - ERROR_LEVEL) / 2
    low = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    return low, high


def adjusted(family: Sequence[MonteCarloP]) -> tuple[MonteCarloP, ...]:
    """Apply Holm's correction to the figures of one claim, and to both ends of their Monte-Carlo intervals.

    Holm's adjusted p-values grow with every p-value of the family, so the ends of the intervals bound them.

    Args:
        family: p-values of the figures of one claim.

    Returns:
        Adjusted p-values with their intervals, in the given order.
    """
    parts = (holm([getattr(each, name) for each in family]) for name in ("p", "low", "high"))
    return tuple(
        each.model_copy(update={"p": p, "low": min(p, low), "high": max(p, high)})
        for each, p, low, high in zip(family, *parts, strict=True)
    )


def verdict(adjusted_p: MonteCarloP, alpha: float) -> Verdict:
    """Judge an adjusted p-value: undecided where its Monte-Carlo interval holds alpha."""
    if adjusted_p.high <= alpha:
        return "beyond"
    return "undecided" if adjusted_p.low <= alpha else "within"
