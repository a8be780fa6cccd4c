"""Nulls of changes of a ranking: what deleting random tasks does to it."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, require_same_models, why_unusable
from agenthard.audit.statistics.monte_carlo import Tail
from agenthard.audit.statistics.nulls import NullDistribution, summarise_null, why_no_null
from agenthard.audit.statistics.rank_figures import close_models, later_ranks, tau_b_rows
from agenthard.audit.statistics.ranking import kendall_tau_b, rank_moves, why_no_ranking
from agenthard.audit.statistics.result import Estimate, Undefined, undefined
from agenthard.audit.statistics.separation import indistinguishable_models
from agenthard.audit.statistics.subsets import SubsetDraws, matching_subsets
from agenthard.taxonomy.record import Record


class RankChangeNulls(Record):
    """Rank-change figures of a subset of the tasks, each in the null of keeping as many random tasks."""

    change_rate: NullDistribution
    """Share of models whose rank changes; large values speak against the null."""
    rank_shift: NullDistribution
    """Mean |rank shift|; large values speak against the null."""
    kendall_tau_b: NullDistribution | Undefined
    """τ-b between the scores on all tasks and on the subset; small values speak against the null."""
    indistinguishable: NullDistribution
    """Models in a group by the audit paper's 0.01 rule; both tails."""
    top_changed: NullDistribution
    """1 when another model comes first, else 0: the mean is P(new leader | random deletion), without a band."""


def rank_change_nulls(
    matrix: ScoreMatrix,
    cleaned: ScoreMatrix,
    *,
    draws: int = 1000,
    seed: int = 0,
    clusters: Mapping[str, str] | None = None,
    strata: Mapping[str, str] | None = None,
) -> RankChangeNulls | Undefined:
    """Place the rank changes from ``matrix`` to ``cleaned`` among those of random subsets of equal size.

    All draws are ranked at once: subset means are a product of 0/1 selections with the scores. Ranks are ordinal, ties
    keep the initial ranking. Missing cells: tasks of ``matrix`` with a score for every model only, in both.

    Args:
        matrix: the scores before cleaning.
        cleaned: the scores on the tasks that were kept, of the same models.
        draws: random subsets, at least 200.
        seed: seed of the draws.
        clusters: cluster by task id; its tasks leave together as they do in the split.
        strata: domain by task id; each keeps as many tasks as in the split.

    Returns:
        The nulls with the observed values and their percentiles. Undefined for fewer than two models or complete tasks,
        when every run passes or fails, when all models have the same initial score, and when cleaning removed nothing
        or everything.

    Raises:
        DifferentModelsError: when the matrices are about different models.
        MatrixError: when ``cleaned`` has tasks that ``matrix`` does not have.
        ValueError: for fewer than 200 draws.
    """
    require_same_models(matrix.models, cleaned.models)
    complete = matrix.complete_tasks()
    matrix.keep(cleaned.tasks)
    kept = complete.keep(set(cleaned.tasks) & set(complete.tasks))
    total, keep = len(complete.tasks), len(kept.tasks)
    nothing = why_no_null(total, keep, draws) and (
        f"{keep} of {total} complete tasks are kept, so no random deletion compares with it"
    )
    reason = why_unusable(complete) or why_no_ranking(complete.scores().values()) or nothing
    if reason:
        return undefined(reason, total, "tasks")
    left = set(kept.tasks)
    subsets = matching_subsets(
        np.array([task in left for task in complete.tasks]),
        clusters=named(complete.tasks, clusters),
        strata=named(complete.tasks, strata),
        draws=draws,
        seed=seed,
    )
    return _placed(complete, kept, subsets)


def _placed(complete: ScoreMatrix, kept: ScoreMatrix, subsets: SubsetDraws) -> RankChangeNulls:
    """Compute every figure on the subset and on all draws."""
    before, after = complete.scores(), kept.scores()
    moves = rank_moves(before, after)
    order = [complete.models.index(move.model) for move in moves]
    weights = np.ones(len(complete.tasks)) if complete.weights is None else complete.weights
    scores = subsets.sums((complete.values[order] * weights).T) / subsets.sums(weights[:, None])
    initial = np.array([[move.initial for move in moves]])
    shifts = np.abs(later_ranks(np.arange(1, len(order) + 1)[None, :], scores) - np.arange(1, len(order) + 1))
    taus = tau_b_rows(initial, scores)
    taus = taus[np.isfinite(taus)]

    def null(
        values: NDArray[np.float64], method: str, observed: float | None, tail: Tail, indicator: bool = False
    ) -> NullDistribution:
        return summarise_null(values, subsets, method, observed, tail=tail, indicator=indicator)

    moved = np.array([abs(move.shift) for move in moves])
    tau, close = kendall_tau_b(before, after), indistinguishable_models(after)
    return RankChangeNulls(
        change_rate=null(
            (shifts != 0).mean(axis=1), "share of models whose rank changes", float((moved != 0).mean()), "greater"
        ),
        rank_shift=null(shifts.mean(axis=1), "mean |rank shift|", float(moved.mean()), "greater"),
        kendall_tau_b=null(taus, "Kendall τ-b of the scores", tau.value if isinstance(tau, Estimate) else None, "less")
        if len(taus)
        else undefined(f"all models tie on each of {subsets.draws} random subsets", subsets.keep, "tasks"),
        indistinguishable=null(
            close_models(scores),
            "models within 0.01 of the first of their group, greedy from the top",
            close.value if isinstance(close, Estimate) else None,
            "both",
        ),
        top_changed=null(
            (shifts[:, 0] != 0) * 1.0, "another model comes first", float(moves[0].shift != 0), "greater", True
        ),
    )


def named(tasks: Sequence[str], names: Mapping[str, str] | None) -> list[str] | None:
    """List the cluster or stratum of each task; None where there are none."""
    return None if names is None else [names[task] for task in tasks]
