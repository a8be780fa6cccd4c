"""Two sets of scores of the same models on the same tasks: one set of outputs under two keys, or two rounds of runs."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import (
    NullBand,
    RankMove,
    Result,
    ScoreMatrix,
    Undefined,
    paired_difference,
    require_same_models,
)
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.leaderboard import CountedScores
from agenthard.reports.cleaning.measures import Measure
from agenthard.reports.cleaning.runs import reorder_models
from agenthard.reports.cleaning.splits import split_id
from agenthard.reports.cleaning.stability import rank_measures
from agenthard.taxonomy.record import Record

_SAME = 1e-12


class ModelDelta(Record):
    """One model on both sides, on the same tasks."""

    model: str
    """Model."""
    first: Result
    """Score of the first side, with its interval."""
    second: Result
    """Score of the second side."""
    difference: Result
    """second − first with a paired interval; undefined when it is the same on every task."""
    gained: int
    """Tasks on which its score is higher on the second side."""
    lost: int
    """Tasks on which it is lower."""


class TaskFlip(Record):
    """One task on which scores differ between the sides."""

    task_id: str
    """Task."""
    gained: int
    """Models whose score is higher on the second side."""
    lost: int
    """Models whose score is lower."""


class ScoreComparison(Record):
    """Two sets of scores side by side."""

    tasks: int
    """Common tasks on which every model has a verdict on both sides."""
    of: int
    """Common tasks."""
    split_id: str
    """Id of the tasks that were compared."""
    only_first: tuple[str, ...]
    """Tasks of the first side only; they are left out."""
    only_second: tuple[str, ...]
    """Tasks of the second side only; they are left out."""
    models: tuple[ModelDelta, ...]
    """Models, best on the first side first."""
    flips: tuple[TaskFlip, ...]
    """Tasks whose scores differ, those of most models first."""
    moves: tuple[RankMove, ...] | Undefined
    """Ranks on both sides; ties keep the order of the first."""
    measures: tuple[Measure, ...]
    """Rank changes with the null of deleting as many random tasks as have changed scores."""
    sentence: str
    """How many tasks and scores changed in which direction, and whether the ranking moved more than chance would."""


def compare_scores(
    first: ScoreMatrix,
    second: ScoreMatrix,
    settings: AnalysisSettings,
    clusters: Mapping[str, str] | None = None,
) -> ScoreComparison:
    """Compare two tables of scores of the same models.

    Args:
        first: one side.
        second: the other side.
        settings: level, draws and seed.
        clusters: cluster by task id; None for independent tasks.

    Returns:
        The comparison on the common tasks.

    Raises:
        DifferentModelsError: when the sides are about different models.
    """
    require_same_models(first.models, second.models)
    shared = set(first.tasks) & set(second.tasks)
    common = [task for task in first.tasks if task in shared]
    one, other = _aligned(first, second, common)
    values, later = one.values, other.values
    up, down = later - values > _SAME, values - later > _SAME
    changed = {one.tasks[i] for i in np.flatnonzero((up | down).any(axis=0))}
    before, after = CountedScores.on_all(one), CountedScores.on_all(other)
    moves, measures = rank_measures(before.scores(), after.scores(), one, one.drop(changed), settings)
    models = [_delta(i, before, after, up, down, clusters, settings) for i in range(len(one.models))]
    flips = [
        TaskFlip(task_id=task, gained=int(up[:, i].sum()), lost=int(down[:, i].sum()))
        for i, task in enumerate(one.tasks)
        if task in changed
    ]
    flips.sort(key=lambda flip: -(flip.gained + flip.lost))
    return ScoreComparison(
        tasks=len(one.tasks),
        of=len(common),
        split_id=split_id(one.tasks),
        only_first=tuple(task for task in first.tasks if task not in shared),
        only_second=tuple(task for task in second.tasks if task not in shared),
        models=tuple(models),
        flips=tuple(flips),
        moves=moves,
        measures=measures,
        sentence=_sentence(len(one.tasks), models, flips, measures),
    )


def _aligned(first: ScoreMatrix, second: ScoreMatrix, tasks: Sequence[str]) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both sides on the tasks that are complete on both, in one order; models best on the first side first."""
    complete = set(first.keep(tasks).complete_tasks().tasks) & set(second.keep(tasks).complete_tasks().tasks)
    kept = [task for task in tasks if task in complete]
    one, other = (matrix.take(_places(matrix, kept)) for matrix in (first, second))
    scores = one.values.mean(axis=1) if kept else np.zeros(len(one.models))
    models = [one.models[i] for i in np.argsort(-np.round(scores, 12), kind="stable")]
    return reorder_models(one, models), reorder_models(other, models)


def _places(matrix: ScoreMatrix, tasks: Sequence[str]) -> list[int]:
    place = {task: i for i, task in enumerate(matrix.tasks)}
    return [place[task] for task in tasks]


def _delta(
    row: int,
    before: CountedScores,
    after: CountedScores,
    up: NDArray[np.bool_],
    down: NDArray[np.bool_],
    clusters: Mapping[str, str] | None,
    settings: AnalysisSettings,
) -> ModelDelta:
    names = None if clusters is None else [clusters[task] for task in before.matrix.tasks]
    earlier, later = before.matrix.values[row].tolist(), after.matrix.values[row].tolist()
    return ModelDelta(
        model=before.matrix.models[row],
        first=before.estimate(row, clusters, settings.level),
        second=after.estimate(row, clusters, settings.level),
        difference=paired_difference(later, earlier, names, settings.level),
        gained=int(up[row].sum()),
        lost=int(down[row].sum()),
    )


def _sentence(tasks: int, models: Sequence[ModelDelta], flips: Sequence[TaskFlip], measures: Sequence[Measure]) -> str:
    gained, lost = sum(model.gained for model in models), sum(model.lost for model in models)
    text = (
        f"On {tasks:,} common tasks, the scores of {len(flips):,} tasks differ for some of {len(models)} models: "
        f"{gained:,} scores rise and {lost:,} fall"
    )
    nulls = [measure.null for measure in measures if isinstance(measure.null, NullBand)]
    if not nulls:
        return f"{text}; no figure of the ranking can be compared with a null."
    beyond = [m.title for m in measures if isinstance(m.null, NullBand) and m.null.exceeds]
    if not beyond:
        return f"{text}; no change of the ranking exceeds the null of deleting as many random tasks as have changed."
    return (
        f"{text}; these figures leave the 5–95 % band of deleting as many random tasks as have changed: "
        f"{', '.join(beyond)}."
    )
