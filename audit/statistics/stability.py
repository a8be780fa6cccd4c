"""How firmly the data hold a ranking: bootstrap rank intervals, and whether the top model would stay on top."""

from collections.abc import Sequence

import numpy as np

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.ranking import rank_rows, why_no_ranking
from agenthard.audit.statistics.resampling import all_bootstrap_means
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined


def rank_intervals(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    clusters: Sequence[str] | None = None,
) -> dict[str, Estimate] | Undefined:
    """Rank of each model with a percentile interval from a paired bootstrap over tasks.

    Ranks are ordinal; ties keep the observed ranking, and ties of that the order of the matrix. The ends are ranks that
    occurred, rounded outwards. Missing cells: complete tasks only.

    Args:
        matrix: the scores.
        level: coverage of each interval.
        resamples: number of resamples.
        seed: seed of the bootstrap.
        clusters: name of the cluster of each complete task; None for independent tasks.

    Returns:
        Model → rank (1 is best) with its interval, best first. Undefined for fewer than two models or complete tasks,
        when every run passes or fails, and when all models have the same score.
    """
    check_level(level)
    complete = matrix.complete_tasks()
    scores = complete.values.mean(axis=1) if complete.tasks else np.zeros(len(complete.models))
    reason = why_unusable(complete) or why_no_ranking(scores)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    order = np.argsort(rank_rows(scores[None, :])[0])
    means = all_bootstrap_means(complete.values[order].T, resamples=resamples, seed=seed, clusters=clusters)
    ranks, tail = rank_rows(means), (1 - level) / 2
    low = np.quantile(ranks, tail, axis=0, method="lower")
    high = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    return {
        complete.models[row]: Estimate(
            value=position + 1,
            low=min(float(low[position]), position + 1),
            high=max(float(high[position]), position + 1),
            level=level,
            n=len(complete.tasks),
            of=len(matrix.tasks),
            unit="tasks",
            method=f"ordinal rank, percentile interval of {resamples} paired bootstrap resamples; complete tasks only",
            seed=seed,
        )
        for position, row in enumerate(order)
    }


def top_unchanged(
    matrix: ScoreMatrix, *, resamples: int = 2000, seed: int = 0, clusters: Sequence[str] | None = None
) -> Result:
    """P(top-1 unchanged): share of paired bootstrap resamples of tasks in which the observed best model is first.

    A resample in which it ties for first place counts as unchanged, because ties keep the observed ranking. Missing
    cells: complete tasks only.

    Args:
        matrix: the scores.
        resamples: number of resamples.
        seed: seed of the bootstrap.
        clusters: name of the cluster of each complete task; None for independent tasks.

    Returns:
        The probability, 0..1. Undefined as ``rank_intervals``, and when several models share first place.
    """
    complete = matrix.complete_tasks()
    scores = complete.values.mean(axis=1) if complete.tasks else np.zeros(len(complete.models))
    reason = why_unusable(complete) or why_no_ranking(scores)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    leaders = np.flatnonzero(scores >= scores.max() - 1e-12)
    if len(leaders) > 1:
        return undefined(
            f"{len(leaders)} models share first place: {', '.join(complete.models[i] for i in leaders)}",
            len(complete.tasks),
            "tasks",
        )
    means = all_bootstrap_means(complete.values.T, resamples=resamples, seed=seed, clusters=clusters)
    kept = means[:, leaders[0]] >= means.max(axis=1) - 1e-12
    return Estimate(
        value=float(kept.mean()),
        n=len(complete.tasks),
        of=len(matrix.tasks),
        unit="tasks",
        method=f"share of {resamples} paired bootstrap resamples led by {complete.models[leaders[0]]};"
        f" complete tasks only",
        seed=seed,
    )
