"""How the ranking changes from one split to another, compared with deleting as many random tasks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agenthard.audit.statistics import (
    Estimate,
    NullBand,
    NullDistribution,
    RankChangeNulls,
    RankMove,
    Result,
    ScoreMatrix,
    Undefined,
    average_rank_shift,
    indistinguishable_models,
    kendall_tau_b,
    rank_change_nulls,
    rank_moves,
    ranking_change_rate,
)
from agenthard.audit.statistics.ranking import why_no_ranking
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.measures import Measure, beyond, judged, measure
from agenthard.reports.cleaning.splits import Split, SplitName
from agenthard.taxonomy.record import Record

CLOSE = "Indistinguishable models (within 0.01, the paper's rule)"
NEW_LEADER = "Another model comes first"
SELECTED = (
    "the split was selected on these outcomes, so deleting random tasks is not its null; the rows of models that did "
    "not select it say what it does"
)
Reading = Literal["errors_missing", "errors_as_failures"]


class RankingStability(Record):
    """From one split to a smaller one."""

    reading: Reading
    """Whether infrastructure errors are left out (the default), or count as failures of the model."""
    before: SplitName
    """The larger split."""
    after: SplitName
    """The smaller split."""
    n_before: int
    """Tasks before."""
    n_after: int
    """Tasks after."""
    moves: tuple[RankMove, ...] | Undefined
    """Rank of each model before and after, best initial rank first."""
    measures: tuple[Measure, ...]
    """change_rate, rank_shift, indistinguishable (the paper's 0.01 rule), kendall_tau_b, top_changed."""
    sentence: str
    """Summary in one sentence: which figures exceed the null of deleting as many random tasks, or that none does."""


@dataclass(frozen=True)
class Groups:
    """What random deletions keep together.

    Attributes:
        clusters: cluster by task id, whose tasks leave together as in the split; None for independent tasks.
        strata: domain by task id, each of which keeps as many tasks as in the split; None for one domain.
    """

    clusters: Mapping[str, str] | None = None
    strata: Mapping[str, str] | None = None


ALONE = Groups()


def ranking_stability(
    before: Split,
    after: Split,
    scores_before: Mapping[str, float],
    scores_after: Mapping[str, float],
    matrix_before: ScoreMatrix,
    matrix_after: ScoreMatrix,
    reading: Reading,
    settings: AnalysisSettings,
    groups: Groups = ALONE,
) -> RankingStability:
    """Compare two rankings, each figure with the null of deleting as many random tasks.

    Args:
        before: the larger split.
        after: the smaller split.
        scores_before: model → score on the larger split; ties keep this order.
        scores_after: model → score on the smaller split; on the hard split the cross-fitted scores.
        matrix_before: scores on the larger split, from which random tasks are deleted.
        matrix_after: scores on the smaller split, whose size the random subsets have.
        reading: how infrastructure errors are read.
        settings: draws, seed and level.
        groups: clusters and domains of tasks.

    Returns:
        The table with its sentence.
    """
    moves, measures = rank_measures(
        scores_before, scores_after, matrix_before, matrix_after, settings, groups, after.name == "hard"
    )
    return RankingStability(
        reading=reading,
        before=before.name,
        after=after.name,
        n_before=len(matrix_before.complete_tasks().tasks),
        n_after=len(matrix_after.complete_tasks().tasks),
        moves=moves,
        measures=measures,
        sentence=f"From {_part(before, matrix_before)} to {_part(after, matrix_after)}"
        f"{_verdict(measures, settings.level, after.name == 'hard')}.",
    )


def rank_measures(
    scores_before: Mapping[str, float],
    scores_after: Mapping[str, float],
    matrix_before: ScoreMatrix,
    matrix_after: ScoreMatrix,
    settings: AnalysisSettings,
    groups: Groups = ALONE,
    selected: bool = False,
) -> tuple[tuple[RankMove, ...] | Undefined, tuple[Measure, ...]]:
    """Measure how a ranking changes, each figure with the null of deleting as many random tasks.

    Args:
        scores_before: model → score; ties keep this order.
        scores_after: model → the other score.
        matrix_before: scores from which random tasks are deleted.
        matrix_after: scores on some of these tasks, whose number the random subsets have.
        settings: draws, seed and level.
        groups: clusters and domains of tasks.
        selected: whether the outcomes themselves selected the smaller split, which has no such null.

    Returns:
        The moves; and change_rate, rank_shift, kendall_tau_b, indistinguishable, top_changed, judged together.
    """
    why = None if scores_before and scores_after else "no task with a verdict for every model is left"
    why = why or why_no_ranking(scores_before.values())
    moves = undefined(why, len(scores_before), "models") if why else rank_moves(scores_before, scores_after)
    nulls: RankChangeNulls | Undefined
    if selected:
        nulls = undefined(SELECTED, len(matrix_after.tasks), "tasks")
    else:
        nulls = rank_change_nulls(
            matrix_before,
            matrix_after,
            draws=settings.draws,
            seed=settings.seed,
            clusters=groups.clusters,
            strata=groups.strata,
        )

    def of_scores(statistic: Callable[[Mapping[str, float], Mapping[str, float]], Result]) -> Result:
        return moves if isinstance(moves, Undefined) else statistic(scores_before, scores_after)

    def null(name: str) -> NullDistribution | Undefined:
        found: NullDistribution | Undefined = nulls if isinstance(nulls, Undefined) else getattr(nulls, name)
        return found

    rate, shift, tau = (of_scores(f) for f in (ranking_change_rate, average_rank_shift, kendall_tau_b))
    close_before, close_after = (indistinguishable_models(scores) for scores in (scores_before, scores_after))
    return moves, judged(
        (
            measure("change_rate", "Models that change rank", "share", rate, null("change_rate")),
            measure("rank_shift", "Average rank shift", "ranks", shift, null("rank_shift")),
            measure("kendall_tau_b", "Kendall τ-b", "τ-b", tau, null("kendall_tau_b")),
            measure("indistinguishable", CLOSE, "models", close_after, null("indistinguishable"), close_before),
            measure("top_changed", NEW_LEADER, "yes", _top_changed(moves), null("top_changed")),
        ),
        1 - settings.level,
    )


def _top_changed(moves: tuple[RankMove, ...] | Undefined) -> Result:
    if isinstance(moves, Undefined):
        return moves
    changed = float(moves[0].shift != 0)
    return Estimate(
        value=changed, n=len(moves), of=len(moves), unit="models", method="1 when another model comes first, else 0"
    )


def _part(split: Split, matrix: ScoreMatrix) -> str:
    complete = len(matrix.complete_tasks().tasks)
    tasks = f"{split.n:,} tasks" if complete == split.n else f"{complete:,} scored of {split.n:,} tasks"
    return f"the {split.title} split ({tasks})"


def _verdict(measures: Sequence[Measure], level: float, selected: bool) -> str:
    if selected:
        return (
            ", no null says what chance does, because the split was selected on these outcomes; see what it does for "
            "models that did not select it"
        )
    known = [measure for measure in measures if measure.verdict is not None]
    if not known:
        return ": no figure of the ranking can be compared with a null"
    found = [f"{each.title} ({_side(each)})" for each in beyond(known)]
    if not found:
        return ", no change of the ranking exceeds the null of deleting as many random tasks"
    rest = len(known) - len(found)
    others = f"; the other {rest} of {len(known)} do not" if rest else ""
    return (
        f", these figures go beyond deleting as many random tasks: {', '.join(found)}{others} "
        f"(together at most {100 * (1 - level):g} % false alarms)"
    )


def _side(measure: Measure) -> str:
    above = isinstance(measure.null, NullBand) and (measure.null.observed or 0.0) > measure.null.mean
    return "above" if above else "below"
