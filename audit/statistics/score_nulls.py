"""Nulls of figures that reports show, from arrays of all random subsets instead of one matrix per subset.

Each equals what ``matrix_null`` or ``random_subset_null`` gives, and is left to it where a subset has no value.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.agreement import chance_corrected_agreement, model_agreement
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.nulls import (
    LEAST_DRAWS,
    NullDistribution,
    matrix_null,
    selections,
    summarise_null,
)
from agenthard.audit.statistics.resampling import all_bootstrap_means, random_subsets
from agenthard.audit.statistics.result import Result, Undefined
from agenthard.audit.statistics.separation import (
    interval_ends,
    separability,
    share_of_disjoint_intervals,
)

Null = NullDistribution | Undefined


def agreement_nulls(matrix: ScoreMatrix, *, keep: int, draws: int = LEAST_DRAWS, seed: int = 0) -> tuple[Null, Null]:
    """Null of ``model_agreement`` and of ``chance_corrected_agreement``.

    Args:
        matrix: the scores before cleaning.
        keep: tasks in each subset.
        draws: number of subsets, at least 200.
        seed: seed of the draws.

    Returns:
        Both nulls.
    """

    def slow() -> tuple[Null, Null]:
        return (
            matrix_null(matrix, model_agreement, keep=keep, draws=draws, seed=seed),
            matrix_null(matrix, chance_corrected_agreement, keep=keep, draws=draws, seed=seed),
        )

    if not _all_usable(matrix, keep, draws, seed):
        return slow()
    selected, values = selections(len(matrix.tasks), keep, draws, seed), matrix.values
    first, second = np.triu_indices(len(matrix.models), 1)
    # The pairs that agree on a task follow from its column sums: Σ_{i<j} x_i x_j = (S² − Σ x²)/2.
    agreeing = np.sum([x.sum(axis=0) ** 2 - (x**2).sum(axis=0) for x in (values, 1 - values)], axis=0) / 2
    observed = selected @ agreeing / (keep * len(first))
    scores = selected @ values.T / keep
    # One line of memory per subset: sums are then made in the order of a single subset, equal to the last digit.
    p, q = (np.ascontiguousarray(scores[:, models]) for models in (first, second))
    chance, most = (p * q + (1 - p) * (1 - q)).mean(axis=1), (1 - np.abs(p - q)).mean(axis=1)
    if (most - chance < 1e-12).any():
        return slow()
    one = matrix.take(random_subsets(len(matrix.tasks), keep, draws, seed)[0])

    def null(found: NDArray[np.float64], result: Result) -> NullDistribution:
        return summarise_null(found, len(matrix.tasks), keep, draws, seed, _method(result), None)

    corrected = (observed - chance) / (most - chance)
    return null(observed, model_agreement(one)), null(corrected, chance_corrected_agreement(one))


def separability_null(
    matrix: ScoreMatrix,
    *,
    keep: int,
    draws: int = LEAST_DRAWS,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 2000,
    clusters: Mapping[str, str] | None = None,
) -> Null:
    """Null of ``separability``, with the same seed for the subsets and the bootstrap on each.

    Args:
        matrix: the scores before cleaning.
        keep: tasks in each subset.
        draws: number of subsets, at least 200.
        seed: seed of the draws and of each bootstrap.
        level: coverage of each interval.
        resamples: resamples of each bootstrap.
        clusters: cluster by task id; None for independent tasks.

    Returns:
        The null.
    """

    def statistic(part: ScoreMatrix) -> Result:
        names = None if clusters is None else [clusters[task] for task in part.tasks]
        return separability(part, level=level, resamples=resamples, seed=seed, clusters=names)

    total = len(matrix.tasks)
    if not _all_usable(matrix, keep, draws, seed):
        return matrix_null(matrix, statistic, keep=keep, draws=draws, seed=seed)
    values = np.ascontiguousarray(matrix.values.T)
    names = None if clusters is None else np.array([clusters[task] for task in matrix.tasks])
    subsets = random_subsets(total, keep, draws, seed)
    shares = []
    for drawn in subsets:
        own = None if names is None else names[drawn].tolist()
        means = all_bootstrap_means(values[drawn], resamples=resamples, seed=seed, clusters=own)
        shares.append(share_of_disjoint_intervals(*interval_ends(means, level)))
    return summarise_null(shares, total, keep, draws, seed, _method(statistic(matrix.take(subsets[0]))), None)


def _method(result: Result) -> str:
    """The method of a statistic on one subset, which is that of all, because they are equally large."""
    return "" if isinstance(result, Undefined) else result.method


def _all_usable(matrix: ScoreMatrix, keep: int, draws: int, seed: int) -> bool:
    """Whether models can be compared on each of the subsets."""
    total = len(matrix.tasks)
    if len(matrix.models) < 2 or not 2 <= keep < total or draws < LEAST_DRAWS or not matrix.scored.all():
        return False
    subsets = random_subsets(total, keep, draws, seed)
    passed, runs = matrix.passed.sum(axis=0)[subsets].sum(axis=1), matrix.runs.sum(axis=0)[subsets].sum(axis=1)
    return bool(((passed > 0) & (passed < runs)).all())
