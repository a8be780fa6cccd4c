"""Leaderboards of two audits side by side, on common tasks of equal content and the same models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from agenthard.audit.statistics import (
    DifferentModelsError,
    Estimate,
    Result,
    ScoreMatrix,
    Undefined,
    require_same_models,
)
from agenthard.audit.statistics.resampling import all_bootstrap_means, percentile_interval
from agenthard.audit.statistics.result import PREFIX, undefined
from agenthard.reports.cleaning.counted_scores import CountedScores
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings, CleaningInput
from agenthard.reports.cleaning.leaderboard import Board, make_board
from agenthard.reports.cleaning.runs import ChosenRuns, RunsUsed, choose_runs, reorder_models, require_comparable
from agenthard.reports.comparison.scores import ScoreComparison, compare_scores
from agenthard.taxonomy.record import Record


class CleanedDelta(Record):
    """One model on the two cleaned splits."""

    model: str
    """Model."""
    difference: Result
    """Score on the second cleaned split minus score on the first, with a paired bootstrap interval over their tasks."""


class BoardsComparison(Record):
    """Leaderboards of two audits on common tasks of equal content and common models."""

    first_runs: RunsUsed
    """Runs of the first audit."""
    second_runs: RunsUsed
    """Runs of the second audit."""
    left_out: tuple[str, ...]
    """Models that only one side can compare; empty unless the comparison was restricted to common models."""
    scores: ScoreComparison
    """All common tasks, regardless of decisions: differences come from the runs."""
    first_cleaned: Board
    """Leaderboard of the first audit's cleaned split."""
    second_cleaned: Board
    """Leaderboard of the second audit's cleaned split."""
    cleaned: tuple[CleanedDelta, ...]
    """What the change of the cleaned split does to each score."""


def compare_boards(
    first: CleaningInput,
    second: CleaningInput,
    tasks: Sequence[str],
    settings: AnalysisSettings,
    *,
    experiment: str | None,
    common_models: bool,
) -> BoardsComparison | Undefined:
    """Compare the leaderboards of two audits.

    Args:
        first: the earlier audit.
        second: the later audit.
        tasks: tasks that both have with equal content, in the order of the first.
        settings: parameters.
        experiment: which runs; None = chosen on the first side.
        common_models: restrict to the models that both sides can compare.

    Returns:
        The comparison; undefined without runs or comparable models on either side, or when the models differ.

    Raises:
        AnalysisError: when the first audit has no such experiment.
    """
    if not tasks:
        return undefined("no task has the same content in both audits", 0, "tasks")
    one = _choose(first, tasks, experiment, settings)
    if isinstance(one, Undefined):
        return _on_side("first", one)
    try:
        other = _choose(second, tasks, one.used.experiment, settings)
    except AnalysisError as error:
        return undefined(f"in the second audit {error}")
    if isinstance(other, Undefined):
        return _on_side("second", other)
    shared = [model for model in one.missing.models if model in other.missing.models]
    left_out = sorted(set(one.missing.models) ^ set(other.missing.models))
    if left_out and not common_models:
        try:
            require_same_models(one.missing.models, other.missing.models)
        except DifferentModelsError as error:
            return undefined(str(error).removeprefix("the comparison is undefined because "), len(shared), "models")
    if not shared:
        return undefined("the two audits have no comparable model in common", 0, "models")
    sides = [reorder_models(chosen.missing, shared) for chosen in (one, other)]
    failures = [reorder_models(chosen.failures, shared) for chosen in (one, other)]
    kept = [_kept(audit, tasks) for audit in (first, second)]
    boards = [_cleaned_board(*parts, second.clusters, settings) for parts in zip(sides, failures, kept, strict=True)]
    return BoardsComparison(
        first_runs=one.used,
        second_runs=other.used,
        left_out=tuple(left_out),
        scores=compare_scores(sides[0], sides[1], settings, second.clusters),
        first_cleaned=boards[0],
        second_cleaned=boards[1],
        cleaned=_cleaned_deltas(sides[0].keep(kept[0]), sides[1].keep(kept[1]), second.clusters, settings),
    )


def _choose(
    audit: CleaningInput, tasks: Sequence[str], experiment: str | None, settings: AnalysisSettings
) -> ChosenRuns | Undefined:
    wanted = set(tasks)
    parts = []
    for e in audit.experiments:
        there = wanted & set(e.missing.tasks)
        parts.append(replace(e, missing=e.missing.keep(there), failures=e.failures.keep(there)))
    categories = {task: category for task, category in audit.categories.items() if task in wanted}
    chosen = choose_runs(
        parts, categories, experiment, clustered=audit.clusters is not None, min_verdicts=settings.min_verdicts
    )
    return require_comparable(chosen, parts, categories)


def _on_side(side: str, reason: Undefined) -> Undefined:
    return undefined(f"in the {side} audit {reason.reason.removeprefix(PREFIX)}")


def _kept(audit: CleaningInput, tasks: Sequence[str]) -> tuple[str, ...]:
    stays = set(audit.with_action("keep", "unchecked", "review"))
    return tuple(task for task in tasks if task in stays)


def _cleaned_board(
    missing: ScoreMatrix,
    failures: ScoreMatrix,
    tasks: tuple[str, ...],
    clusters: Mapping[str, str] | None,
    settings: AnalysisSettings,
) -> Board:
    part = missing.keep(tasks)
    scores, other = CountedScores.on_all(part), CountedScores.on_all(failures.keep(tasks))
    return make_board("cleaned", tasks, scores, other, part, clusters, settings)


def _cleaned_deltas(
    first: ScoreMatrix, second: ScoreMatrix, clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> tuple[CleanedDelta, ...]:
    """Difference of each model's scores on two sets of tasks that overlap; tasks are resampled for both at once."""
    one, other = first.complete_tasks(), second.complete_tasks()
    tasks = list(dict.fromkeys([*one.tasks, *other.tasks]))
    if not one.tasks or not other.tasks:
        reason = undefined("a cleaned split has no task with a verdict for every model", 0, "tasks")
        return tuple(CleanedDelta(model=model, difference=reason) for model in first.models)
    columns = []
    for matrix in (one, other):
        place = {task: i for i, task in enumerate(tasks)}
        rows = [place[task] for task in matrix.tasks]
        values, member = np.zeros((len(tasks), len(matrix.models))), np.zeros((len(tasks), 1))
        values[rows], member[rows] = matrix.values.T, 1
        columns += [values, member]
    names = None if clusters is None else [clusters[task] for task in tasks]
    means = all_bootstrap_means(np.hstack(columns), resamples=settings.resamples, seed=settings.seed, clusters=names)
    m = len(first.models)
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = means[:, m + 1 : 2 * m + 1] / means[:, -1:] - means[:, :m] / means[:, m : m + 1]
    before, after = one.values.mean(axis=1), other.values.mean(axis=1)
    return tuple(
        CleanedDelta(
            model=model,
            difference=Estimate(
                value=float(after[i] - before[i]),
                n=len(tasks),
                of=len(tasks),
                unit="tasks",
                method=f"second − first cleaned split, percentile interval of {settings.resamples} paired bootstrap "
                "resamples of their tasks",
                seed=settings.seed,
                **percentile_interval(gaps[:, i], settings.level),
            ),
        )
        for i, model in enumerate(first.models)
    )
