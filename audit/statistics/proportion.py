"""Rates with an interval, also when some cases are undecided."""

from agenthard.audit.statistics.intervals import wilson
from agenthard.audit.statistics.result import Estimate, Result, check_level, undefined
from agenthard.taxonomy.record import Record


class UndecidedShare(Record):
    """A rate among decided cases, and how far the undecided ones could move it."""

    decided: Result
    """yes / (yes + no) with a Wilson interval; ``n`` of ``of`` cases are decided."""
    least: Result
    """yes / all: every undecided case counted as a no."""
    most: Result
    """(yes + undecided) / all: every undecided case counted as a yes."""


def wilson_interval(successes: int, n: int, level: float = 0.95, unit: str = "runs") -> Result:
    """Rate with its Wilson score interval (Wilson 1927), which holds for small n and for rates of 0 and 1.

    Args:
        successes: k, from 0 to n.
        n: independent trials.
        level: coverage of the interval.
        unit: what ``n`` counts.

    Returns:
        k / n with the interval. Undefined for n = 0.

    Raises:
        ValueError: when k lies outside 0..n, or the level outside (0, 1).
    """
    low, high = wilson(successes, n, level)
    return _rate(successes, n, low, high, level, unit, "Wilson interval")


def clopper_pearson_interval(successes: int, n: int, level: float = 0.95, unit: str = "runs") -> Result:
    """Rate with its exact interval (Clopper and Pearson 1934), which covers at least ``level`` and so is wider.

    The ends are the beta quantiles ``B(α/2; k, n − k + 1)`` and ``B(1 − α/2; k + 1, n − k)``; 0 for k = 0, 1 for k = n.
    Arguments and undefined cases are those of ``wilson_interval``.
    """
    from scipy.special import betaincinv

    tail = (1 - check_level(level)) / 2
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n, got {successes} of {n}")
    low = float(betaincinv(successes, n - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return _rate(successes, n, low, high, level, unit, "exact (Clopper–Pearson) interval")


def share_with_undecided(yes: int, no: int, undecided: int, level: float = 0.95, unit: str = "tasks") -> UndecidedShare:
    """Rate of yes among the decided cases, with the bounds if the undecided ones counted either way.

    A task whose judge timed out is undecided: it is neither flagged nor clean. (A released pipeline counts an API
    time-out as a flagged task.)

    Args:
        yes: cases decided one way.
        no: cases decided the other way.
        undecided: cases without a decision.
        level: coverage of the Wilson interval.
        unit: what is counted.

    Returns:
        The rate and its bounds. Undefined parts when no case is decided, or none exists.

    Raises:
        ValueError: for a negative number.
    """
    if min(yes, no, undecided) < 0:
        raise ValueError(f"counts are 0 or more, got {yes} yes, {no} no, {undecided} undecided")
    total = yes + no + undecided
    decided = wilson_interval(yes, yes + no, level, unit)
    if isinstance(decided, Estimate):
        decided = decided.model_copy(update={"of": total, "method": f"{decided.method}; undecided cases left out"})
    return UndecidedShare(
        decided=decided,
        least=_bound(yes, total, unit, "undecided counted as no"),
        most=_bound(yes + undecided, total, unit, "undecided counted as yes"),
    )


def _bound(count: int, total: int, unit: str, method: str) -> Result:
    if not total:
        return undefined(f"there are no {unit}", 0, unit)
    return Estimate(value=count / total, n=total, of=total, unit=unit, method=method)


def _rate(successes: int, n: int, low: float, high: float, level: float, unit: str, method: str) -> Result:
    if not n:
        return undefined(f"there are no {unit}", 0, unit)
    return Estimate(value=successes / n, low=low, high=high, level=level, n=n, of=n, unit=unit, method=method)
