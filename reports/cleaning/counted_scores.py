"""Scores on the tasks that count for each model, and how often the leader stays first when tasks are resampled."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import (
    Estimate,
    Result,
    ScoreMatrix,
    clustered_mean,
    effective_wilson,
    ordinal_ranks,
    wilson_interval,
)
from agenthard.audit.statistics.matrix import why_unusable
from agenthard.audit.statistics.ranking import share_of_lead, why_no_ranking
from agenthard.audit.statistics.resampling import bootstrap_scores
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings


@dataclass(frozen=True)
class CountedScores:
    """Scores on the counted cells of a complete matrix, best initial score first.

    Attributes:
        matrix: scores without missing cells.
        counted: models × tasks, whether the task counts for the model.
    """

    matrix: ScoreMatrix
    counted: NDArray[np.bool_]

    @classmethod
    def on_all(cls, matrix: ScoreMatrix) -> "CountedScores":
        """Count every task that every model has a verdict on."""
        complete = matrix.complete_tasks()
        return cls(complete, np.ones(complete.passed.shape, dtype=np.bool_))

    @classmethod
    def on_own_tasks(cls, matrix: ScoreMatrix, tasks: Mapping[str, Collection[str]]) -> "CountedScores":
        """Count for each model the tasks named for it, as far as every model has a verdict on them.

        Args:
            matrix: the scores.
            tasks: model → ids of its tasks, all of them in ``matrix``.
        """
        complete = matrix.complete_tasks()
        union = set().union(*tasks.values()) if tasks else set()
        complete = complete.keep(union & set(complete.tasks))
        counted = np.array([[task in own for task in complete.tasks] for own in (set(tasks[m]) for m in matrix.models)])
        return cls(complete, counted.reshape(len(matrix.models), len(complete.tasks)).astype(np.bool_))

    def scores(self) -> dict[str, float]:
        """Mean over the counted tasks, by model; empty when some model has none."""
        if not self.counted.sum(axis=1).all():
            return {}
        weights = self.counted if self.matrix.weights is None else self.counted * self.matrix.weights
        values = (self.matrix.values * weights).sum(axis=1) / weights.sum(axis=1)
        return dict(zip(self.matrix.models, values.tolist(), strict=True))

    def estimate(self, row: int, clusters: Mapping[str, str] | None, level: float) -> Result:
        """Score of one model with its interval.

        One run per task and independent tasks: Wilson. Otherwise Wilson at the effective number of tasks, p(1 − p) over
        the square of the clustered standard error, the cluster being the task or its cluster; when all values are equal
        each cluster counts as one. The ends stay within 0..1.
        """
        counted = np.flatnonzero(self.counted[row])
        n = len(counted)
        if not n:
            return undefined("no task has a verdict for every model", 0, "tasks")
        matrix = self.matrix
        weights = None if matrix.weights is None else matrix.weights[counted].tolist()
        single = not matrix.fractional and (matrix.runs[row, counted] <= 1).all()
        if clusters is None and single and weights is None:
            return wilson_interval(int(self.matrix.passed[row, counted].sum()), n, level, "tasks")
        values = self.matrix.values[row, counted].tolist()
        names = None if clusters is None else [clusters[self.matrix.tasks[i]] for i in counted]
        mean = sum(values) / n if weights is None else float(np.average(values, weights=weights))
        value = min(1.0, max(0.0, mean))
        spread = clustered_mean(values, names, level, weights)
        error = spread.standard_error if isinstance(spread, Estimate) else None
        effective = (
            value * (1 - value) / error**2 if error and 0 < value < 1 else float(len(set(names or counted.tolist())))
        )
        low, high = effective_wilson(value, effective, level)
        return Estimate(
            value=value,
            low=min(low, value),
            high=max(high, value),
            level=level,
            standard_error=error,
            n=n,
            of=n,
            unit="tasks",
            method=f"mean; Wilson interval at the effective number of tasks ({effective:.1f}), clustered error",
        )


def lead_in_resamples(counted: CountedScores, clusters: Mapping[str, str] | None, settings: AnalysisSettings) -> Result:
    """How often the observed leader is first in a paired bootstrap over tasks; a shared first place counts in part.

    It says how firmly these tasks put the leader first, not how probable it is that it is the best model.

    Args:
        counted: the scores.
        clusters: cluster by task id, resampled whole; None for independent tasks.
        settings: resamples and seed.

    Returns:
        The share; undefined for fewer than two models or tasks, when every run passes or fails, when all models have
        the same score, and when several share first place.
    """
    matrix, n = counted.matrix, len(counted.matrix.tasks)
    scores = counted.scores()
    reason = why_unusable(matrix)
    if not reason and not scores:
        reason = "a model has no task with a verdict for every model"
    reason = reason or why_no_ranking(scores.values())
    if reason:
        return undefined(reason, n, "tasks")
    ranks = ordinal_ranks(scores)
    ranking = sorted(ranks, key=ranks.__getitem__)
    means = _resampled(counted, [matrix.models.index(model) for model in ranking], clusters, settings)
    return _top_unchanged([scores[model] for model in ranking], ranking, means, n, settings)


def _resampled(
    counted: CountedScores, rows: Sequence[int], clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> NDArray[np.float64]:
    names = None if clusters is None else [clusters[task] for task in counted.matrix.tasks]
    member, weights = counted.counted[rows].T.astype(np.float64), counted.matrix.weights
    factors = member if weights is None else member * weights[:, None]
    return bootstrap_scores(
        counted.matrix.values[rows].T,
        None if member.all() and weights is None else factors,
        resamples=settings.resamples,
        seed=settings.seed,
        clusters=names,
    )


def _top_unchanged(
    scores: Sequence[float], ranking: Sequence[str], means: NDArray[np.float64], n: int, settings: AnalysisSettings
) -> Result:
    leaders = [model for model, score in zip(ranking, scores, strict=True) if score >= scores[0] - 1e-12]
    if len(leaders) > 1:
        return undefined(f"{len(leaders)} models share first place: {', '.join(leaders)}", n, "tasks")
    return Estimate(
        value=float(share_of_lead(means, 0).mean()),
        n=n,
        of=n,
        unit="tasks",
        method=f"share of {settings.resamples} paired bootstrap resamples of tasks led by {ranking[0]}, ties in part",
        seed=settings.seed,
    )
