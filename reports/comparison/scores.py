"""Two sets of scores of the same models on the same tasks: one set of outputs under two keys, or two rounds of runs."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import (
    Estimate,
    NullDistribution,
    RankExchange,
    RankMove,
    Result,
    ScoreMatrix,
    TogetherTest,
    Undefined,
    changes_together,
    paired_difference,
    rank_exchange,
    rank_moves,
    require_same_models,
)
from agenthard.audit.statistics.rank_nulls import named
from agenthard.audit.statistics.ranking import why_no_ranking
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.counted_scores import CountedScores
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.measures import Measure, beyond, judged, measure
from agenthard.reports.cleaning.runs import reorder_models
from agenthard.reports.cleaning.splits import split_id
from agenthard.reports.cleaning.stability import NEW_LEADER
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.record import Record

_SAME = 1e-12
SWAPPING = "swapping the two sides at random"
NAMED = 10
"""Tasks named in the sentence; all are in the table."""


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
    p: float | None
    """p-value, corrected over all tasks (false discovery rate): run-to-run noise moves as many models one way; None
    when untested."""
    rescored: bool
    """Whether that is significant, and some figure of the comparison too: the sides score this task differently."""


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
    """How far tasks move all models together, and changes of scores and ranks with intervals, judged as one claim
    against swapping the two sides."""
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
    before, after = CountedScores.on_all(one), CountedScores.on_all(other)
    moves = _moves(before.scores(), after.scores())
    together = changes_together(one, other, draws=settings.draws, seed=settings.seed, alpha=1 - settings.level)
    ranks = rank_exchange(
        one,
        other,
        clusters=named(one.tasks, clusters),
        draws=settings.draws,
        resamples=settings.resamples,
        level=settings.level,
        seed=settings.seed,
    )
    measures = _measures(together, ranks, settings)
    models = [_delta(i, before, after, up, down, clusters, settings) for i in range(len(one.models))]
    tested = {} if isinstance(together, Undefined) else {each.task: each.p for each in together.tasks}
    flips = [
        TaskFlip(
            task_id=task,
            gained=int(up[:, i].sum()),
            lost=int(down[:, i].sum()),
            p=tested.get(task),
            rescored=bool(beyond(measures)) and tested.get(task, 1.0) <= 1 - settings.level,
        )
        for i, task in enumerate(one.tasks)
        if (up | down)[:, i].any()
    ]
    flips.sort(key=lambda flip: (not flip.rescored, -(flip.gained + flip.lost)))
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
        sentence=_sentence(len(one.tasks), models, flips, measures, together),
    )


def _moves(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[RankMove, ...] | Undefined:
    why = why_no_ranking(before.values())
    return undefined(why, len(before), "models") if why else rank_moves(before, after)


_FIGURES = (
    ("score_shift", "Average change of a score", "points"),
    ("change_rate", "Models that change rank", "share"),
    ("rank_shift", "Average rank shift", "ranks"),
    ("kendall_tau_b", "Kendall τ-b", "τ-b"),
)


def _measures(
    together: TogetherTest | Undefined, ranks: RankExchange | Undefined, settings: AnalysisSettings
) -> tuple[Measure, ...]:
    """Judge all figures as one claim: the two sides differ by chance alone."""

    def of(
        null: NullDistribution | Undefined, found: Result | None = None
    ) -> tuple[Result, NullDistribution | Undefined]:
        if isinstance(null, Undefined):
            return null, null
        if found is None:
            n, method = null.of, null.method
            found = Estimate(value=null.observed or 0.0, n=n, of=n, unit="tasks", method=method)
        return found, null

    tested = together if isinstance(together, Undefined) else together.together
    rows = [measure("together", "Evidence that models change together on tasks", "sum", *of(tested))]
    for name, title, unit in _FIGURES:
        if isinstance(ranks, Undefined):
            rows.append(measure(name, title, unit, ranks, ranks))
        else:
            rows.append(measure(name, title, unit, *of(getattr(ranks, name), ranks.bootstrap[name])))
    leader = of(ranks if isinstance(ranks, Undefined) else ranks.top_changed)
    rows.append(measure("top_changed", NEW_LEADER, "yes", *leader))
    return judged(rows, 1 - settings.level, SWAPPING)


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


def _sentence(
    tasks: int,
    models: Sequence[ModelDelta],
    flips: Sequence[TaskFlip],
    measures: Sequence[Measure],
    together: TogetherTest | Undefined,
) -> str:
    gained, lost = sum(model.gained for model in models), sum(model.lost for model in models)
    text = (
        f"On {tasks:,} common tasks, the scores of {len(flips):,} tasks differ for some of {len(models)} models: "
        f"{gained:,} scores rise and {lost:,} fall"
    )
    if not any(measure.verdict for measure in measures):
        return f"{text}; nothing can be compared with swapping the sides."
    found = [flip.task_id for flip in flips if flip.rescored]
    far = [each.title for each in beyond(measures)]
    if not far and not found:
        return f"{text}; nothing exceeds chance, which {SWAPPING} shows{_power(together, len(models))}."
    tasks_ = ""
    if found:
        more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
        tasks_ = (
            f"; on {plural(len(found), 'task')} the sides score differently, beyond run-to-run noise "
            f"({', '.join(found[:NAMED])}{more})"
        )
    figures = f"; these figures go beyond {SWAPPING}: {', '.join(far)}" if far else ""
    return f"{text}{tasks_}{figures}."


def _power(together: TogetherTest | Undefined, models: int) -> str:
    """Say what could have been found, since few models cannot tell one task from noise."""
    if isinstance(together, Undefined):
        return ""
    if together.least is None:
        return f"; {models} models are too few to tell any single task from noise"
    enough = f"all {models}" if together.least == models else f"{together.least} or more of the {models}"
    return f"; a single task can be told from noise where {enough} models move one way"
