"""Cohen's κ: agreement of two raters beyond chance."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.resampling import percentile_interval
from agenthard.audit.statistics.result import Estimate, Result, check_level, undefined

Label = str | float


def cohen_kappa(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Result:
    """Cohen's κ = (p_o − p_e) / (1 − p_e) (Cohen 1960) with a percentile interval from a bootstrap over items.

    p_o is the share of items with equal labels, ``p_e = Σ_label p_first p_second`` the share expected from the raters'
    own frequencies.

    Args:
        first: labels of one rater; None where there is none.
        second: labels of the other, for the same items in the same order.
        level: coverage of the interval.
        resamples: number of resamples of items; resamples in which p_e is 1 are left out of the interval.
        seed: seed of the bootstrap.

    Returns:
        κ, 1 for perfect agreement, 0 for chance; items that either rater skipped are left out ("n of N"). Undefined
        for fewer than two common items, for NaN, and when both raters gave one and the same label to all (p_e = 1).

    Raises:
        ValueError: when the raters have different numbers of labels.
    """
    check_level(level)
    if len(first) != len(second):
        raise ValueError(f"two raters label the same items, got {len(first)} and {len(second)} labels")
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    labels = sorted({label for pair in both for label in pair}, key=lambda label: (isinstance(label, str), label))
    if any(label != label for label in labels):
        return undefined("a label is NaN; pass None for a missing one", len(both), "items")
    if len(both) < 2:
        return undefined(f"{len(both)} item(s) have two labels; agreement needs two", len(both), "items")
    if len(labels) == 1:
        return undefined("both raters gave the same label to every item (p_e = 1)", len(both), "items")
    column = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for a, b in both:
        table[column[a], column[b]] += 1
    n = len(both)
    drawn = np.random.default_rng(seed).multinomial(n, table.ravel() / n, resamples).reshape(resamples, *table.shape)
    resampled = _kappas(drawn / n)
    return Estimate(
        value=float(_kappas(table[None] / n)[0]),
        n=n,
        of=len(first),
        unit="items",
        method=f"Cohen's κ; percentile interval, {np.isfinite(resampled).sum()} of {resamples} resamples of items",
        seed=seed,
        **percentile_interval(resampled, level),
    )


def _kappas(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """κ of each table of shares; NaN where p_e is 1."""
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = (shares.sum(axis=2) * shares.sum(axis=1)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan))
