"""Nulls of agreement and separability, from all random subsets at once instead of one matrix per subset."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.agreement import chance_corrected_agreement, model_agreement
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.nulls import NullDistribution, null_of, summarise_null
from agenthard.audit.statistics.resampling import bootstrap_scores
from agenthard.audit.statistics.result import Result, Undefined
from agenthard.audit.statistics.separation import (
    binomial_ends,
    interval_ends,
    separability,
    share_of_disjoint_intervals,
)
from agenthard.audit.statistics.subsets import SubsetDraws

Null = NullDistribution | Undefined
_CHUNK_PAIRS = 1 << 19


def agreement_nulls(matrix: ScoreMatrix, subsets: SubsetDraws) -> tuple[Null, Null]:
    """Null of ``model_agreement`` and of ``chance_corrected_agreement``.

    The agreement of a complete matrix is a mean over tasks of one number per task, so that all draws are one product.

    Args:
        matrix: the scores before cleaning.
        subsets: random subsets of its tasks.

    Returns:
        Both nulls; each equals what single matrices give, to which it is left where a subset has no value.
    """
    values, keep = matrix.values, subsets.keep
    first, second = np.triu_indices(len(matrix.models), 1)
    if not _all_usable(matrix, subsets):
        return _one_by_one(matrix, subsets)
    # The pairs that agree on a task follow from its column sums: Σ_{i<j} x_i x_j = (S² − Σ x²)/2.
    agreeing = np.sum([x.sum(axis=0) ** 2 - (x**2).sum(axis=0) for x in (values, 1 - values)], axis=0) / 2
    observed = subsets.sums(agreeing[:, None])[:, 0] / (keep * len(first))
    scores = subsets.sums(values.T) / keep
    chance, most = np.empty(len(scores)), np.empty(len(scores))
    rows = max(1, _CHUNK_PAIRS // len(first))
    for start in range(0, len(scores), rows):
        p, q = (scores[start : start + rows][:, models] for models in (first, second))
        chance[start : start + rows] = (p * q + (1 - p) * (1 - q)).mean(axis=1)
        most[start : start + rows] = (1 - np.abs(p - q)).mean(axis=1)
    if (most - chance < 1e-12).any():
        return _one_by_one(matrix, subsets)
    one = matrix.take(np.flatnonzero(subsets.selected[0]))
    corrected = (observed - chance) / (most - chance)
    return (
        summarise_null(observed, subsets, _method(model_agreement(one))),
        summarise_null(corrected, subsets, _method(chance_corrected_agreement(one))),
    )


def _one_by_one(matrix: ScoreMatrix, subsets: SubsetDraws) -> tuple[Null, Null]:
    return (
        null_of(lambda positions: model_agreement(matrix.take(positions)), subsets),
        null_of(lambda positions: chance_corrected_agreement(matrix.take(positions)), subsets),
    )


def separability_null(
    matrix: ScoreMatrix,
    subsets: SubsetDraws,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    clusters: Sequence[str] | None = None,
    bootstrap_draws: int = 200,
) -> Null:
    """Null of ``separability``: exact intervals for single runs of independent tasks, else one bootstrap per subset.

    Args:
        matrix: the scores before cleaning.
        subsets: random subsets of its tasks.
        level: coverage of each interval.
        resamples: resamples of each bootstrap.
        seed: seed of each bootstrap.
        clusters: cluster of each task; None for independent tasks.
        bootstrap_draws: subsets that are used where each needs a bootstrap of its own.

    Returns:
        The null.
    """

    def statistic(positions: NDArray[np.intp]) -> Result:
        names = None if clusters is None else [clusters[i] for i in positions]
        return separability(matrix.take(positions), level=level, resamples=resamples, seed=seed, clusters=names)

    exact = matrix.plain and clusters is None
    if not exact:
        few = min(bootstrap_draws, subsets.draws)
        subsets = SubsetDraws(subsets.selected[:few], subsets.keep, subsets.seed, subsets.design)
    if not _all_usable(matrix, subsets):
        return null_of(statistic, subsets)
    method = _method(statistic(np.flatnonzero(subsets.selected[0])))
    if not exact:
        shares = [_bootstrapped(matrix, row, level, resamples, seed, clusters) for row in subsets.selected]
        return summarise_null(shares, subsets, method)
    table = binomial_ends(np.arange(subsets.keep + 1), subsets.keep, level)
    passed = np.rint(subsets.sums(matrix.values.T)).astype(np.intp)
    return summarise_null(_disjoint_shares(*(end[passed] for end in table)), subsets, method)


def _bootstrapped(
    matrix: ScoreMatrix,
    selected: NDArray[np.bool_],
    level: float,
    resamples: int,
    seed: int,
    clusters: Sequence[str] | None,
) -> float:
    positions = np.flatnonzero(selected)
    names = None if clusters is None else [clusters[i] for i in positions.tolist()]
    values = np.ascontiguousarray(matrix.values[:, positions].T)
    weights = None if matrix.weights is None else matrix.weights[positions]
    means = bootstrap_scores(values, weights, resamples=resamples, seed=seed, clusters=names)
    return share_of_disjoint_intervals(*interval_ends(means, level))


def _disjoint_shares(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """``share_of_disjoint_intervals`` of each row."""
    models = low.shape[1]
    rows = max(1, _CHUNK_PAIRS // models**2)
    shares = [
        (low[i : i + rows, :, None] > high[i : i + rows, None, :] + 1e-12).sum(axis=(1, 2))
        for i in range(0, len(low), rows)
    ]
    return np.asarray(100 * np.concatenate(shares) / (models * (models - 1) / 2))


def _method(result: Result) -> str:
    """The method of a statistic on one subset, which is that of all, because they are equally large."""
    return "" if isinstance(result, Undefined) else result.method


def _all_usable(matrix: ScoreMatrix, subsets: SubsetDraws) -> bool:
    """Whether models can be compared on each of the subsets."""
    if len(matrix.models) < 2 or subsets.keep < 2 or not matrix.scored.all():
        return False
    counts = np.stack([matrix.passed.sum(axis=0), matrix.runs.sum(axis=0)], axis=1).astype(np.float64)
    passed, runs = subsets.sums(counts).T
    return bool(((passed > 0) & (passed < runs)).all())
