"""Rates with an interval, also when some cases are undecided or the sample is more balanced than the population."""

from math import exp, log, sqrt
from statistics import NormalDist

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
        return undefined(f"the number of {unit} is 0", 0, unit)
    return Estimate(value=count / total, n=total, of=total, unit=unit, method=method)


def _rate(successes: int, n: int, low: float, high: float, level: float, unit: str, method: str) -> Result:
    if not n:
        return undefined(f"the number of {unit} is 0", 0, unit)
    return Estimate(value=successes / n, low=low, high=high, level=level, n=n, of=n, unit=unit, method=method)


def prevalence_adjusted_precision(
    true_positives: int,
    false_negatives: int,
    false_positives: int,
    true_negatives: int,
    prevalence: float,
    level: float = 0.95,
) -> Result:
    """Precision that a detector with this sensitivity and specificity has at another share of flawed tasks.

    ``PPV = se π / (se π + (1 − sp)(1 − π))`` (Bayes). The interval is symmetric in logit(PPV), with variance
    ``(1 − se)/TP + sp/FP`` (Mercaldo et al. 2007); it is left out when TP or FP is 0.

    Args:
        true_positives: flawed tasks that were flagged.
        false_negatives: flawed tasks that were not.
        false_positives: sound tasks that were flagged.
        true_negatives: sound tasks that were not.
        prevalence: share π of flawed tasks where the detector will be used, strictly between 0 and 1.
        level: coverage of the interval.

    Returns:
        The precision, 0..1. Undefined when no labelled task is flawed, none is sound, or none was flagged.

    Raises:
        ValueError: for negative counts, or a prevalence outside (0, 1).

    >>> round(prevalence_adjusted_precision(80, 20, 20, 80, 0.1).value, 3)  # .8 at 50 : 50
    0.308
    """
    check_level(level)
    if min(true_positives, false_negatives, false_positives, true_negatives) < 0:
        raise ValueError("counts of labelled tasks are 0 or more")
    if not 0 < prevalence < 1:
        raise ValueError(f"the prevalence lies strictly between 0 and 1, got {prevalence}")
    flawed, sound = true_positives + false_negatives, false_positives + true_negatives
    for name, count in (("flawed", flawed), ("sound", sound), ("flagged", true_positives + false_positives)):
        if not count:
            return undefined(f"no labelled task is {name}", flawed + sound, "labelled tasks")
    sensitivity, false_rate = true_positives / flawed, false_positives / sound
    hits, false_alarms = sensitivity * prevalence, false_rate * (1 - prevalence)
    point = Estimate(
        value=hits / (hits + false_alarms),
        n=flawed + sound,
        of=flawed + sound,
        unit="labelled tasks",
        method=f"precision at a prevalence of {prevalence:g}, from sensitivity {sensitivity:.3f} and specificity"
        f" {1 - false_rate:.3f}",
    )
    if not true_positives or not false_positives:
        return point
    half = NormalDist().inv_cdf((1 + level) / 2) * sqrt(
        (1 - sensitivity) / true_positives + (1 - false_rate) / false_positives
    )
    centre = log(hits / false_alarms)
    low, high = (1 / (1 + exp(-end)) for end in (centre - half, centre + half))
    return point.model_copy(update={"low": low, "high": high, "level": level})
