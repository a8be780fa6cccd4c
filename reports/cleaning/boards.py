"""A leaderboard of one split that says how sure it is: intervals, rank intervals, tied sets, two readings of errors."""

from collections.abc import Mapping, Sequence

from agenthard.audit.statistics import (
    Estimate,
    PairComparison,
    Result,
    ScoreMatrix,
    Undefined,
    compare_pairs,
    ordinal_ranks,
    tied_sets,
)
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.ranking import CountedScores, ranks_with_intervals
from agenthard.reports.cleaning.splits import SplitName, split_id
from agenthard.taxonomy.record import Record

PAIR_RESAMPLES = 20_000
"""Resamples of the paired bootstrap; enough for Holm at 5 % with 32 models."""


class BoardRow(Record):
    """One model on one split."""

    model: str
    """Model."""
    rank: int | None
    """Ordinal rank by score, 1 is best; ties keep the initial order. None when it has no score."""
    passed: int
    """Runs that passed, on the tasks that count for ``score``."""
    runs: int
    """Runs with a verdict on these tasks."""
    tasks: int
    """Tasks that count for ``score``: tasks of the split on which every comparable model has a verdict."""
    of: int
    """Tasks of the split for this model (the hard split differs slightly from model to model)."""
    score: Result
    """Mean over these tasks of the share of runs that passed, with its interval; infrastructure errors are left out."""
    rank_interval: Result
    """Rank with its bootstrap interval (value, low, high are ranks)."""
    tied_with: tuple[str, ...] = ()
    """Models that stand in a tied set with it, best first; the ranking among them is not supported by the data."""
    errors_as_failures: Result
    """The other reading: a run without a verdict because of the infrastructure is a failure; all tasks of the split."""
    rank_errors_as_failures: int | None
    """Rank under the other reading."""


class Board(Record):
    """The leaderboard of one split."""

    split: SplitName
    """Which split."""
    split_id: str
    """Its id."""
    n: int
    """Tasks of the split."""
    complete: int
    """Tasks of it on which every listed model has a verdict."""
    rows: tuple[BoardRow, ...]
    """Models, best first."""
    tied_sets: tuple[tuple[str, ...], ...] | Undefined
    """Longest stretches of neighbouring ranks without a significant pair inside (paired tests, Holm)."""
    paired_separability: Result
    """Share of pairs of models that differ significantly (paired tests, Holm), in percent."""
    top_unchanged: Result
    """P(top-1 unchanged): share of bootstrap resamples of tasks in which the observed best model stays first."""
    method: str
    """How scores, intervals, ties and missing runs are treated on this board."""


def make_board(
    split: SplitName,
    tasks: Sequence[str],
    missing: CountedScores,
    failures: CountedScores,
    tested: ScoreMatrix,
    clusters: Mapping[str, str] | None,
    settings: AnalysisSettings,
    sizes: Mapping[str, int] | None = None,
) -> Board:
    """Make the leaderboard of a split.

    Args:
        split: which split.
        tasks: its tasks.
        missing: scores with infrastructure errors left out.
        failures: scores with infrastructure errors as failures, of the same models.
        tested: scores on which pairs of models are tested. On the hard split these are the tasks of the published
            split: it is selected symmetrically in the models of a pair, so a paired test on it stays valid although
            their scores on it would not be.
        clusters: cluster by task id; None for independent tasks.
        settings: parameters.
        sizes: tasks of the split for each model, where they differ.

    Returns:
        The board, best model first.
    """
    ranked = ranks_with_intervals(missing, clusters, settings)
    scores = missing.scores()
    ranks = ordinal_ranks(scores) if scores else {}
    other = failures.scores()
    other_ranks = ordinal_ranks(other) if other else {}
    pairs = compare_models(tested, clusters, settings)
    sets = pairs if isinstance(pairs, Undefined) else tied_sets(scores, pairs)
    intervals, top = (ranked, ranked) if isinstance(ranked, Undefined) else ranked
    models = missing.matrix.models
    rows = []
    for model in sorted(models, key=ranks.__getitem__) if ranks else models:
        row, counted = models.index(model), missing.counted[models.index(model)]
        rows.append(
            BoardRow(
                model=model,
                rank=ranks.get(model),
                passed=int(missing.matrix.passed[row, counted].sum()),
                runs=int(missing.matrix.runs[row, counted].sum()),
                tasks=int(counted.sum()),
                of=len(tasks) if sizes is None else sizes[model],
                score=missing.estimate(row, clusters, settings.level),
                rank_interval=intervals if isinstance(intervals, Undefined) else intervals[model],
                tied_with=() if isinstance(sets, Undefined) else _tied_with(model, sets),
                errors_as_failures=failures.estimate(failures.matrix.models.index(model), clusters, settings.level),
                rank_errors_as_failures=other_ranks.get(model),
            )
        )
    return Board(
        split=split,
        split_id=split_id(tasks),
        n=len(tasks),
        complete=len(missing.matrix.tasks),
        rows=tuple(rows),
        tied_sets=sets,
        paired_separability=_share_significant(pairs, len(models)),
        top_unchanged=top,
        method=_method(missing, clusters, settings),
    )


def compare_models(
    matrix: ScoreMatrix, clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> tuple[PairComparison, ...] | Undefined:
    """Test all pairs of models: exact McNemar for single runs of independent tasks, else the paired bootstrap."""
    if matrix.binary and clusters is None:
        return compare_pairs(matrix, test="mcnemar", alpha=1 - settings.level)
    names = None if clusters is None else [clusters[task] for task in matrix.complete_tasks().tasks]
    return compare_pairs(
        matrix,
        test="bootstrap",
        alpha=1 - settings.level,
        resamples=PAIR_RESAMPLES,
        seed=settings.seed,
        clusters=names,
    )


def _tied_with(model: str, sets: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    together = [name for tied in sets if model in tied for name in tied if name != model]
    return tuple(dict.fromkeys(together))


def _share_significant(pairs: tuple[PairComparison, ...] | Undefined, models: int) -> Result:
    if isinstance(pairs, Undefined):
        return pairs
    possible = models * (models - 1) // 2
    return Estimate(
        value=100 * sum(pair.significant for pair in pairs) / possible,
        n=len(pairs),
        of=possible,
        unit="pairs of models",
        method="pairs that differ significantly, paired tests, Holm",
    )


def _method(missing: CountedScores, clusters: Mapping[str, str] | None, settings: AnalysisSettings) -> str:
    single = missing.matrix.binary and clusters is None
    level = f"{100 * settings.level:g} %"
    interval = f"{level} Wilson interval"
    if not single:
        cluster = "repeated runs of a task" if clusters is None else "variants of one base task"
        interval = f"{level} t interval of the standard error clustered by {cluster}"
        interval += ", Wilson for single runs" if clusters is None else ""
    test = "exact McNemar tests" if single else f"paired bootstrap, {PAIR_RESAMPLES:,} resamples"
    counted = "the tasks that the other models select" if not missing.counted.all() else "the same tasks for all"
    return (
        f"score: mean over {counted} of the share of runs that passed, {interval}; runs without a verdict are "
        f"left out, and so are tasks that not every model has a verdict on; ranks are ordinal, ties keep the initial "
        f"order; tied sets: {test}, Holm at {1 - settings.level:g}"
    )
