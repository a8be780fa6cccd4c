"""A leaderboard from a plain table of scores, without an audit, and what leaving tasks out does to it."""

from collections.abc import Collection

from agenthard.audit.statistics import ScoreMatrix, Undefined
from agenthard.reports.cleaning.boards import Board, make_board
from agenthard.reports.cleaning.choice import choose_runs
from agenthard.reports.cleaning.experiments import RunsUsed
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings, Experiment
from agenthard.reports.cleaning.nulls import Measure
from agenthard.reports.cleaning.ranking import CountedScores
from agenthard.reports.cleaning.splits import Split, SplitName, describe_split
from agenthard.reports.cleaning.stability import RankingStability, ranking_stability
from agenthard.reports.cleaning.stage_table import ScoreStatistics
from agenthard.taxonomy.record import Record


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
            f"no model has a score on all {len(matrix.tasks):,} tasks of the table (the most is {most:,}), so none can "
            "be compared; leave the tasks that are not scored for every model out of the table"
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
    statistics = ScoreStatistics(scores, None, settings)
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
        measures=tuple(statistics.of_split(split.task_ids) for split in splits),
        stability=stability,
    )
