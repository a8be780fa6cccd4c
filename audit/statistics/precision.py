"""What a judge's precision, measured on a balanced sample, means where flaws are rare."""

from math import exp, log, sqrt
from statistics import NormalDist

from agenthard.audit.statistics.result import Estimate, Result, check_level, undefined


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
