"""Krippendorff's α: agreement of any number of raters, some of whom may have skipped some units."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.resampling import percentile_interval
from agenthard.audit.statistics.result import Estimate, Result, check_level, undefined

Metric = Literal["nominal", "ordinal", "interval"]
Label = str | float
_BLOCK_CELLS = 1 << 22


def krippendorff_alpha(
    units: Sequence[Sequence[Label | None]],
    metric: Metric = "nominal",
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Result:
    """Krippendorff's α = 1 − D_o / D_e (Krippendorff 2011) with a percentile interval from a bootstrap over units.

    "nominal" for names (categories of flaws), "ordinal" for ordered grades given as numbers (severity), "interval" for
    measurements. D_o is the mean squared distance of labels within units, D_e that of labels drawn from all units.

    Args:
        units: one sequence of labels per unit, one label per rater; None where a rater gave none. A unit with fewer
            than two labels says nothing about agreement and is left out ("n of N").
        metric: how far two labels are apart; ordinal and interval need numbers.
        level: coverage of the interval.
        resamples: number of resamples of units; resamples in which D_e is 0 are left out of the interval.
        seed: seed of the bootstrap.

    Returns:
        α, 1 for perfect agreement, 0 for chance. Undefined (never 1.0) when all labels are equal, D_e = 0; for fewer
        than two usable units; for NaN.

    Raises:
        ValueError: when ordinal or interval labels are not numbers.
    """
    check_level(level)
    usable = [[label for label in unit if label is not None] for unit in units]
    usable = [unit for unit in usable if len(unit) > 1]
    labels = {label for unit in usable for label in unit}
    if metric != "nominal" and not all(isinstance(label, int | float) for label in labels):
        raise ValueError(f"{metric} labels are numbers, got {sorted(map(str, labels))[:5]}")
    if any(label != label for label in labels):
        return undefined("a label is NaN; pass None for a missing one", len(usable), "units")
    if len(usable) < 2:
        return undefined(f"{len(usable)} unit(s) have two labels or more; agreement needs two", len(usable), "units")
    if len(labels) == 1:
        return undefined("all labels are equal, so agreement by chance is total (D_e = 0)", len(usable), "units")
    values = sorted(labels, key=lambda label: (isinstance(label, str), label))
    column = {label: i for i, label in enumerate(values)}
    counts = np.zeros((len(usable), len(values)))
    for row, unit in enumerate(usable):
        for label in unit:
            counts[row, column[label]] += 1
    draws = np.random.default_rng(seed).multinomial(len(usable), np.full(len(usable), 1 / len(usable)), resamples)
    everything = np.vstack([np.ones(len(usable)), draws])
    blocks = np.array_split(everything, 1 + everything.shape[0] * len(values) ** 2 // _BLOCK_CELLS)
    alphas = np.concatenate([_alphas(block, counts, values, metric) for block in blocks])
    return Estimate(
        value=float(alphas[0]),
        n=len(usable),
        of=len(units),
        unit="units",
        method=f"Krippendorff's α, {metric}; percentile interval, {np.isfinite(alphas[1:]).sum()} of {resamples}"
        " resamples of units",
        seed=seed,
        **percentile_interval(alphas[1:], level),
    )


def _alphas(
    weights: NDArray[np.float64], counts: NDArray[np.float64], values: Sequence[Label], metric: Metric
) -> NDArray[np.float64]:
    """α for each row of weights of units; NaN where D_e is 0."""
    n_values = len(values)
    sizes = counts.sum(axis=1)
    # Ordered pairs of labels within each unit, each unit's pairs weighing its number of labels in all.
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(n_values), np.arange(n_values)] -= counts
    pairs /= (sizes - 1)[:, None, None]
    coincidences = (weights @ pairs.reshape(len(counts), -1)).reshape(-1, n_values, n_values)
    totals = weights @ counts
    n = totals.sum(axis=1)
    distance = _squared_distances(totals, values, metric)
    observed = (coincidences * distance).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan))


def _squared_distances(totals: NDArray[np.float64], values: Sequence[Label], metric: Metric) -> NDArray[np.float64]:
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        numbers = np.array(values, dtype=np.float64)
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    # Ordinal: labels between two grades, those of the two grades counted half.
    middles = np.cumsum(totals, axis=1) - totals / 2
    return np.asarray((middles[:, :, None] - middles[:, None, :]) ** 2)
