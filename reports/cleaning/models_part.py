"""Everything the analysis says about models: leaderboards, stability, bounds, agreement, separability, difficulty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agenthard.audit.statistics import ScoreMatrix, Undefined
from agenthard.reports.cleaning.analysis import Undecided
from agenthard.reports.cleaning.boards import Board, make_board
from agenthard.reports.cleaning.choice import ChosenRuns
from agenthard.reports.cleaning.figure_data import agreement_map, separability_curve
from agenthard.reports.cleaning.figures import AgreementMap, ItemMap, SeparabilityCurve
from agenthard.reports.cleaning.hard import HardSplit
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput
from agenthard.reports.cleaning.items import item_map
from agenthard.reports.cleaning.panels import undecided_bounds
from agenthard.reports.cleaning.ranking import CountedScores
from agenthard.reports.cleaning.splits import Split
from agenthard.reports.cleaning.stability import RankingStability, Reading, ranking_stability

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

    @classmethod
    def without_runs(cls, reason: Undefined) -> "ModelsPart":
        """Give the reason everywhere."""
        return cls((), (), reason, (), reason, reason)


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
    return ModelsPart(
        leaderboards=tuple(_board(split, default, failing, found.clusters, settings) for split in splits),
        stability=tuple(row for view in views for row in _stability(view, splits, settings)),
        undecided=undecided_bounds(matrix.keep(cleaned.task_ids), found.with_action("review")),
        agreement=tuple(agreement_map(split, matrix.keep(split.task_ids)) for split in splits),
        separability_curve=separability_curve(
            matrix, [(split, matrix.keep(split.task_ids)) for split in splits], found.clusters, settings
        ),
        items=item_map(matrix, found.categories, found.decisions, found.flagged),
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


def _stability(view: _View, splits: Sequence[Split], settings: AnalysisSettings) -> list[RankingStability]:
    by_name = {str(split.name): split for split in splits}
    rows = []
    for first, second in _WAYS:
        if second not in by_name:
            continue
        before, after = by_name[first], by_name[second]
        scores_before, scores_after = view.scores_on(before).scores(), view.scores_on(after).scores()
        matrices = view.matrix.keep(before.task_ids), view.matrix.keep(after.task_ids)
        rows.append(ranking_stability(before, after, scores_before, scores_after, *matrices, view.reading, settings))
    return rows
