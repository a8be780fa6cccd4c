"""What deleting the same number of random tasks does to a ranking: the null of every rank-change figure."""

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, require_same_models, why_unusable
from agenthard.audit.statistics.nulls import LEAST_DRAWS, NullDistribution, summarise_null
from agenthard.audit.statistics.ranking import kendall_tau_b, rank_moves, rank_rows, why_no_ranking
from agenthard.audit.statistics.resampling import random_subsets
from agenthard.audit.statistics.result import Estimate, Undefined, undefined
from agenthard.taxonomy.record import Record


class RankChangeNulls(Record):
    """Rank-change figures of a subset of the tasks, each in the null of keeping as many random tasks."""

    change_rate: NullDistribution
    """Share of models whose rank changes."""
    rank_shift: NullDistribution
    """Mean |rank shift|."""
    kendall_tau_b: NullDistribution | Undefined
    """τ-b between the scores on all tasks and on the subset."""
    top_changed: NullDistribution
    """1 when another model comes first, else 0; the mean is the probability of a new leader."""


def rank_change_nulls(
    matrix: ScoreMatrix, cleaned: ScoreMatrix, *, draws: int = 1000, seed: int = 0
) -> RankChangeNulls | Undefined:
    """Place the rank changes from ``matrix`` to ``cleaned`` among those of random subsets of equal size.

    All draws are ranked at once: subset means are a product of 0/1 selections with the scores. Ranks are ordinal, ties
    keep the initial ranking. Missing cells: tasks of ``matrix`` with a score for every model only, in both.

    Args:
        matrix: the scores before cleaning.
        cleaned: the scores on the tasks that were kept, of the same models.
        draws: random subsets, at least 200.
        seed: seed of the draws.

    Returns:
        The nulls with the observed values and their percentiles. Undefined for fewer than two models or complete tasks,
        when every run passes or fails, when all models have the same initial score, and when cleaning removed nothing
        or everything.

    Raises:
        DifferentModelsError: when the matrices are about different models.
        MatrixError: when ``cleaned`` has tasks that ``matrix`` lacks.
        ValueError: for fewer than 200 draws.
    """
    if draws < LEAST_DRAWS:
        raise ValueError(f"a null distribution needs at least {LEAST_DRAWS} draws, got {draws}")
    require_same_models(matrix.models, cleaned.models)
    complete = matrix.complete_tasks()
    matrix.keep(cleaned.tasks)
    kept = complete.keep(set(cleaned.tasks) & set(complete.tasks))
    total, keep = len(complete.tasks), len(kept.tasks)
    reason = why_unusable(complete) or why_no_ranking(complete.scores().values())
    if not reason and not 1 <= keep < total:
        reason = f"{keep} of {total} complete tasks are kept, so no random deletion compares with it"
    if reason:
        return undefined(reason, total, "tasks")
    before, after = complete.scores(), kept.scores()
    moves = rank_moves(before, after)
    order = [complete.models.index(move.model) for move in moves]
    selected = np.zeros((draws, total))
    np.put_along_axis(selected, random_subsets(total, keep, draws, seed), 1.0, axis=1)
    subset_scores = selected @ complete.values[order].T / keep
    shifts = np.abs(rank_rows(subset_scores) - np.arange(1, len(order) + 1))
    taus = _tau_b(np.array([move.initial for move in moves]), subset_scores)
    taus = taus[np.isfinite(taus)]

    def null(values: NDArray[np.float64], method: str, observed: float | None) -> NullDistribution:
        return summarise_null(values, total, keep, draws, seed, method, observed)

    observed_shifts = np.array([abs(move.shift) for move in moves])
    observed_tau = kendall_tau_b(before, after)
    return RankChangeNulls(
        change_rate=null(
            (shifts != 0).mean(axis=1), "share of models whose rank changes", float((observed_shifts != 0).mean())
        ),
        rank_shift=null(shifts.mean(axis=1), "mean |rank shift|", float(observed_shifts.mean())),
        kendall_tau_b=null(
            taus, "Kendall τ-b of the scores", observed_tau.value if isinstance(observed_tau, Estimate) else None
        )
        if len(taus)
        else undefined(f"all models tie on each of {draws} random subsets", keep, "tasks"),
        top_changed=null((shifts[:, 0] != 0) * 1.0, "another model comes first", float(moves[0].shift != 0)),
    )


def _tau_b(initial: NDArray[np.float64], later: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's τ-b of one version with each row of others; NaN for a row whose models all tie."""
    first, second = np.triu_indices(len(initial), 1)
    before = np.sign(np.round(initial[first] - initial[second], 12))
    after = np.sign(np.round(later[:, first] - later[:, second], 12))
    with np.errstate(invalid="ignore"):
        return np.asarray(after @ before / np.sqrt(np.abs(before).sum() * np.abs(after).sum(axis=1)))
