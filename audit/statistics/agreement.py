"""Agreement: of models about tasks, of two raters (Cohen's κ), and of any number of raters (Krippendorff's α).

The lower the agreement of models, the better a benchmark tells them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.resampling import percentile_interval
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined

Metric = Literal["nominal", "ordinal", "interval"]
Label = str | float
_BLOCK_CELLS = 1 << 22


def model_agreement(matrix: ScoreMatrix) -> Result:
    """Mean over all pairs of models of the share of tasks on which both are right or both are wrong.

    ``A = mean over i < j of (1/n_ij) Σ_t [x_it x_jt + (1 − x_it)(1 − x_jt)]``, which for pass and fail is the mean of
    ``1[x_it = x_jt]`` (audit paper). With several runs per cell x is the share that passed, and the term is the
    probability that a random run of one model and a random run of the other agree. A also moves with the mean score
    alone: read it together with ``chance_corrected_agreement``.

    Missing cells: pairwise complete; a pair without a common task is left out, and the method says "k of N pairs".

    Args:
        matrix: the scores.

    Returns:
        The agreement, 0..1. Undefined for fewer than two models or tasks, and when every run passes or every run fails.

    >>> model_agreement(ScoreMatrix.from_array([[1, 1, 0, 0], [1, 0, 0, 0]], "ab", "1234")).value
    0.75
    """
    pairs = _pairs_or_reason(matrix)
    if isinstance(pairs, Undefined):
        return pairs
    return _estimate(matrix, pairs.observed, pairs, "mean share of equal outcomes")


def chance_corrected_agreement(matrix: ScoreMatrix) -> Result:
    """Where agreement lies between that of independent models (0) and the most that their scores allow (1).

    ``(A − A_indep) / (A_max − A_indep)`` with, per pair, ``A_indep = p q + (1 − p)(1 − q)`` and
    ``A_max = 1 − |p − q|`` from the pair's scores p and q; A, A_indep and A_max are each averaged over the pairs.
    Missing cells: as in ``model_agreement``; p and q are taken over the pair's common tasks.

    Args:
        matrix: the scores.

    Returns:
        The corrected agreement, at most 1; below 0 when models agree less than by chance. Undefined as
        ``model_agreement``, and when in every pair one model passes or fails everything (A_max = A_indep).
    """
    pairs = _pairs_or_reason(matrix)
    if isinstance(pairs, Undefined):
        return pairs
    if pairs.most - pairs.chance < 1e-12:
        why = "in every pair one model passes or fails all tasks, so its agreement is fixed by the scores"
        return undefined(why, _compared_tasks(matrix), "tasks")
    corrected = (pairs.observed - pairs.chance) / (pairs.most - pairs.chance)
    return _estimate(matrix, corrected, pairs, "agreement corrected by the models' mean scores,")


@dataclass(frozen=True)
class _Pairs:
    """Means over the pairs of models with a common task: observed agreement, that of independent models, the most."""

    observed: float
    chance: float
    most: float
    used: int
    comparisons: int


def _pairs_or_reason(matrix: ScoreMatrix) -> "_Pairs | Undefined":
    reason = why_unusable(matrix)
    if reason:
        return undefined(reason, len(matrix.tasks), "tasks")
    pairs = _pairs(matrix)
    return pairs if pairs.used else undefined("no two models have a score on the same task", len(matrix.tasks), "tasks")


def _pairs(matrix: ScoreMatrix) -> _Pairs:
    values, upper = matrix.values, np.triu_indices(len(matrix.models), 1)
    if matrix.scored.all():
        # Without gaps the pairs that agree on a task follow from its column sums: Σ_{i<j} x_i x_j = (S² − Σ x²)/2.
        n = np.full(len(upper[0]), float(len(matrix.tasks)))
        agree_total = sum(float((x.sum(axis=0) ** 2 - (x**2).sum(axis=0)).sum()) / 2 for x in (values, 1 - values))
        observed = agree_total / float(n.sum())
        score = values.mean(axis=1)
        p, q = score[upper[0]], score[upper[1]]
    else:
        scored = matrix.scored.astype(np.float64)
        values = values * scored
        common = (scored @ scored.T)[upper]
        n = common[common > 0]
        agreeing = (values @ values.T + (scored - values) @ (scored - values).T)[upper][common > 0]
        if not len(n):
            return _Pairs(0.0, 0.0, 0.0, 0, 0)
        observed = float((agreeing / n).mean())
        p, q = (values @ scored.T)[upper][common > 0] / n, (scored @ values.T)[upper][common > 0] / n
    chance, most = p * q + (1 - p) * (1 - q), 1 - np.abs(p - q)
    return _Pairs(observed, float(chance.mean()), float(most.mean()), len(n), int(n.sum()))


def _estimate(matrix: ScoreMatrix, value: float, pairs: _Pairs, method: str) -> Estimate:
    all_pairs = len(matrix.models) * (len(matrix.models) - 1) // 2
    return Estimate(
        value=value,
        n=_compared_tasks(matrix),
        of=len(matrix.tasks),
        unit="tasks",
        method=f"{method} over {pairs.used} of {all_pairs} pairs of models; pairwise complete"
        f" ({pairs.comparisons} of {all_pairs * len(matrix.tasks)} comparisons)",
    )


def _compared_tasks(matrix: ScoreMatrix) -> int:
    return int((matrix.scored.sum(axis=0) >= 2).sum())


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
