"""The part of the analysis that needs runs: from an audit, or from a plain table of scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agenthard.audit.statistics import ScoreMatrix, Undefined
from agenthard.reports.cleaning.counted_scores import CountedScores
from agenthard.reports.cleaning.difficulty import HardSplit, item_map
from agenthard.reports.cleaning.figure_data import (
    AgreementMap,
    ItemMap,
    SeparabilityCurve,
    agreement_map,
    separability_curve,
)
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings, CleaningInput, Experiment
from agenthard.reports.cleaning.leaderboard import Board, make_board
from agenthard.reports.cleaning.measures import Measure, judged
from agenthard.reports.cleaning.missing import SplitMissing, split_missing
from agenthard.reports.cleaning.runs import ChosenRuns, RunsUsed, choose_runs
from agenthard.reports.cleaning.splits import Split, SplitName, Undecided, describe_split, undecided_bounds
from agenthard.reports.cleaning.stability import Groups, RankingStability, Reading, ranking_stability
from agenthard.reports.cleaning.stages import ScoreStatistics
from agenthard.taxonomy.record import Record

_WAYS = (("initial", "cleaned"), ("cleaned", "hard"), ("initial", "hard"))


@dataclass(frozen=True)
class ModelsPart:
    """The part of the analysis that needs runs."""

    leaderboards: tuple[Board, ...]
    stability: tuple[RankingStability, ...]
    undecided: Undecided | Undefined
    agreement: tuple[AgreementMap, ...]
    separability_curve: SeparabilityCurve | Undefined
    items: ItemMap | Undefined
    missing: tuple[SplitMissing, ...]

    @classmethod
    def without_runs(cls, reason: Undefined) -> "ModelsPart":
        """Return the part with the reason in every field."""
        return cls((), (), reason, (), reason, reason, ())


@dataclass(frozen=True)
class _View:
    """The runs in one reading of infrastructure errors."""

    reading: Reading
    matrix: ScoreMatrix
    hard: HardSplit | Undefined

    def scores_on(self, split: Split) -> CountedScores:
        """Scores on a split; on the hard split each model's own tasks count."""
        if split.name == "hard" and isinstance(self.hard, HardSplit):
            return CountedScores.on_own_tasks(self.matrix, self.hard.own_tasks)
        return CountedScores.on_all(self.matrix.keep(split.task_ids))


def analyse_models(
    found: CleaningInput,
    chosen: ChosenRuns,
    splits: Sequence[Split],
    hard: HardSplit | Undefined,
    settings: AnalysisSettings,
) -> ModelsPart:
    """Analyse the compared models.

    Args:
        found: tasks, decisions, findings.
        chosen: the runs; at least one comparable model.
        splits: initial, cleaned, and hard where there is one.
        hard: the hard split.
        settings: parameters.

    Returns:
        The part.
    """
    default = _View("errors_missing", chosen.missing, hard)
    failing = _View("errors_as_failures", chosen.failures, hard)
    matrix = default.matrix
    views = (default, failing) if chosen.has_errors else (default,)
    cleaned = next(split for split in splits if split.name == "cleaned")
    groups = Groups(found.clusters, found.categories)
    return ModelsPart(
        leaderboards=tuple(_board(split, default, failing, found.clusters, settings) for split in splits),
        stability=tuple(row for view in views for row in _stability(view, splits, groups, settings)),
        undecided=undecided_bounds(matrix.keep(cleaned.task_ids), found.with_action("review")),
        agreement=tuple(agreement_map(split, matrix.keep(split.task_ids).complete_tasks()) for split in splits),
        separability_curve=separability_curve(
            matrix, [(split, matrix.keep(split.task_ids)) for split in splits], found.clusters, settings
        ),
        items=item_map(matrix, found.categories, found.decisions, found.flagged),
        missing=missing_of(chosen, splits, settings),
    )


def missing_of(chosen: ChosenRuns, splits: Sequence[Split], settings: AnalysisSettings) -> tuple[SplitMissing, ...]:
    """Describe what is missing on the initial and on the issue-cleaned split; nothing where nothing is."""
    if chosen.everyone.scored.all():
        return ()
    return tuple(
        split_missing(split, chosen.everyone.keep(split.task_ids), settings) for split in splits if split.name != "hard"
    )


def _board(
    split: Split, default: _View, failing: _View, clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> Board:
    sizes = None
    if split.name == "hard" and isinstance(default.hard, HardSplit):
        sizes = default.hard.record.cross_fitted
    return make_board(
        split.name,
        split.task_ids,
        default.scores_on(split),
        failing.scores_on(split),
        default.matrix.keep(split.task_ids),
        clusters,
        settings,
        sizes,
    )


def _stability(
    view: _View, splits: Sequence[Split], groups: Groups, settings: AnalysisSettings
) -> list[RankingStability]:
    by_name = {str(split.name): split for split in splits}
    rows = []
    for first, second in _WAYS:
        if second not in by_name:
            continue
        before, after = by_name[first], by_name[second]
        scores_before, scores_after = view.scores_on(before).scores(), view.scores_on(after).scores()
        matrices = view.matrix.keep(before.task_ids), view.matrix.keep(after.task_ids)
        rows.append(
            ranking_stability(before, after, scores_before, scores_after, *matrices, view.reading, settings, groups)
        )
    return rows


class MatrixAnalysis(Record):
    """Leaderboards of a table of scores, all tasks and without the dropped ones."""

    schema_version: str = "1"
    """Version of this layout."""
    runs: RunsUsed
    """Which models are compared."""
    splits: tuple[Split, ...]
    """All tasks; and what is left, when tasks were dropped."""
    leaderboards: tuple[Board, ...]
    """One per split."""
    measures: tuple[tuple[Measure, ...], ...]
    """agreement, agreement_corrected and separability, per split."""
    stability: RankingStability | None
    """How the ranking moves; None when no task was dropped."""
    missing: tuple[SplitMissing, ...] = ()
    """Models whose scores are partly missing, per split; empty where nothing is missing."""


def analyse_matrix(
    matrix: ScoreMatrix, dropped: Collection[str] = (), settings: AnalysisSettings | None = None
) -> MatrixAnalysis:
    """Rank the models of a table, and compare with the ranking without some tasks.

    Args:
        matrix: the scores; an empty cell is a task that was not run.
        dropped: ids of tasks to leave out.
        settings: parameters; the defaults when None.

    Returns:
        The leaderboards, with the null of deleting as many random tasks.

    Raises:
        AnalysisError: when a dropped task is not in the table, all are dropped, or no model can be compared.
    """
    settings = settings or AnalysisSettings()
    unknown = sorted(set(dropped) - set(matrix.tasks))
    if unknown:
        raise AnalysisError(f"{len(unknown)} of the tasks to drop are not in the table, the first is {unknown[0]!r}")
    kept = tuple(task for task in matrix.tasks if task not in set(dropped))
    if not kept:
        raise AnalysisError("no task is left: the table has none, or all were dropped")
    trials = int((matrix.runs + matrix.lost).max(initial=0))
    chosen = choose_runs(
        [Experiment("", matrix, matrix, trials)],
        dict.fromkeys(matrix.tasks, ""),
        None,
        clustered=False,
        min_verdicts=settings.min_verdicts,
    )
    if isinstance(chosen, Undefined) or not chosen.used.comparable:
        most = max((int(row.sum()) for row in matrix.scored), default=0)
        raise AnalysisError(
            f"no model has scores on enough of the {len(matrix.tasks):,} tasks of the table (the most is {most:,}), so "
            "none can be compared; leave the tasks that few models are scored on out of the table"
        )
    scores = chosen.missing
    names: dict[SplitName, tuple[str, ...]] = {"initial": matrix.tasks, "cleaned": kept}
    if not dropped:
        del names["cleaned"]
    splits = tuple(
        describe_split(name, tasks, review=0, initial=len(matrix.tasks), matrix=scores.keep(tasks))
        for name, tasks in names.items()
    )
    counted = [CountedScores.on_all(scores.keep(split.task_ids)) for split in splits]
    statistics = ScoreStatistics(scores, Groups(), settings)
    boards = [
        make_board(split.name, split.task_ids, part, part, scores.keep(split.task_ids), None, settings)
        for split, part in zip(splits, counted, strict=True)
    ]
    stability = None
    if dropped:
        first, second = splits
        before, after = (part.scores() for part in counted)
        left = scores.keep(kept)
        stability = ranking_stability(first, second, before, after, scores, left, "errors_missing", settings)
    return MatrixAnalysis(
        runs=chosen.used,
        splits=splits,
        leaderboards=tuple(boards),
        measures=tuple(judged(statistics.of_split(split.task_ids), 1 - settings.level) for split in splits),
        stability=stability,
        missing=missing_of(chosen, splits, settings),
    )
