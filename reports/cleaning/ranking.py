"""Scores of models on tasks that may differ from model to model, with ranks and their bootstrap intervals.

On the initial and the cleaned split every model is scored on the same tasks. On the hard split each is scored on the
tasks that the *other* models select, so that no score is selected on the outcome it reports. Both are a mean over
"counted" cells: a model's sum of values over its number of counted tasks, and a bootstrap resamples tasks for all
models at once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import (
    Estimate,
    Result,
    ScoreMatrix,
    Undefined,
    clustered_mean,
    ordinal_ranks,
    wilson_interval,
)
from agenthard.audit.statistics.matrix import why_unusable
from agenthard.audit.statistics.ranking import rank_rows, why_no_ranking
from agenthard.audit.statistics.resampling import all_bootstrap_means
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
        sizes = self.counted.sum(axis=1)
        if not sizes.all():
            return {}
        values = (self.matrix.values * self.counted).sum(axis=1) / sizes
        return dict(zip(self.matrix.models, values.tolist(), strict=True))

    def estimate(self, row: int, clusters: Mapping[str, str] | None, level: float) -> Result:
        """Score of one model with its interval.

        One run per task and independent tasks: Wilson. Otherwise the t interval of the clustered standard error, the
        cluster being the task or its cluster; when all values are equal the spread is unknown and no interval is given.
        """
        counted = np.flatnonzero(self.counted[row])
        n = len(counted)
        if not n:
            return undefined("no task has a verdict for every model", 0, "tasks")
        if clusters is None and (self.matrix.runs[row, counted] <= 1).all():
            return wilson_interval(int(self.matrix.passed[row, counted].sum()), n, level, "tasks")
        values = self.matrix.values[row, counted].tolist()
        names = None if clusters is None else [clusters[self.matrix.tasks[i]] for i in counted]
        spread = clustered_mean(values, names, level)
        if isinstance(spread, Estimate):
            return spread.model_copy(update={"unit": "tasks"})
        method = f"mean; no interval: {spread.reason}"
        return Estimate(value=sum(values) / n, n=n, of=n, unit="tasks", method=method)


def ranks_with_intervals(
    counted: CountedScores, clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> tuple[dict[str, Estimate], Result] | Undefined:
    """Rank of each model with a percentile interval, and how often the leader stays first.

    Ranks are ordinal and ties keep the order of the matrix. On equal tasks these are the figures of
    ``agenthard.audit.statistics.rank_intervals`` and ``top_unchanged``, from one bootstrap instead of two.

    Args:
        counted: the scores.
        clusters: cluster by task id, resampled whole; None for independent tasks.
        settings: level, resamples and seed.

    Returns:
        Model → rank with its interval, best first; and P(top-1 unchanged). Undefined for fewer than two models or
        tasks, when every run passes or fails, and when all models have the same score.
    """
    matrix, n = counted.matrix, len(counted.matrix.tasks)
    scores = counted.scores()
    reason = why_unusable(matrix)
    if not reason and not scores:
        reason = "a model has no task with a verdict for every model"
    reason = reason or why_no_ranking(scores.values())
    if reason:
        return undefined(reason, n, "tasks")
    observed = ordinal_ranks(scores)
    ranking = sorted(observed, key=observed.__getitem__)
    rows = [matrix.models.index(model) for model in ranking]
    means = _resampled(counted, rows, clusters, settings)
    ranks, tail = rank_rows(means), (1 - settings.level) / 2
    low = np.quantile(ranks, tail, axis=0, method="lower")
    high = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    method = f"ordinal rank, percentile interval of {settings.resamples} paired bootstrap resamples of tasks"
    intervals = {
        model: Estimate(
            value=i + 1,
            low=min(float(low[i]), i + 1),
            high=max(float(high[i]), i + 1),
            level=settings.level,
            n=n,
            of=n,
            unit="tasks",
            method=method,
            seed=settings.seed,
        )
        for i, model in enumerate(ranking)
    }
    return intervals, _top_unchanged([scores[model] for model in ranking], ranking, means, n, settings)


def _resampled(
    counted: CountedScores, rows: Sequence[int], clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> NDArray[np.float64]:
    names = None if clusters is None else [clusters[task] for task in counted.matrix.tasks]
    member = counted.counted[rows].T.astype(np.float64)
    values = counted.matrix.values[rows].T * member
    if member.all():
        return all_bootstrap_means(values, resamples=settings.resamples, seed=settings.seed, clusters=names)
    columns = np.column_stack([values, member])
    means = all_bootstrap_means(columns, resamples=settings.resamples, seed=settings.seed, clusters=names)
    sums, sizes = np.hsplit(means, 2)
    return np.asarray(sums / np.where(sizes > 0, sizes, 1.0))


def _top_unchanged(
    scores: Sequence[float], ranking: Sequence[str], means: NDArray[np.float64], n: int, settings: AnalysisSettings
) -> Result:
    leaders = [model for model, score in zip(ranking, scores, strict=True) if score >= scores[0] - 1e-12]
    if len(leaders) > 1:
        return undefined(f"{len(leaders)} models share first place: {', '.join(leaders)}", n, "tasks")
    return Estimate(
        value=float((means[:, 0] >= means.max(axis=1) - 1e-12).mean()),
        n=n,
        of=n,
        unit="tasks",
        method=f"share of {settings.resamples} paired bootstrap resamples of tasks led by {ranking[0]}",
        seed=settings.seed,
    )
