"""The leaderboard of one split: scores with intervals, rank intervals, tied sets, two readings of errors.

On the initial and the cleaned split every model is scored on the same tasks. On the hard split each is scored on the
tasks that the *other* models select, so that no score is selected on the outcome it reports. Both are a mean over
"counted" cells: a model's sum of values over its number of counted tasks, and a bootstrap resamples tasks for all
models at once.
"""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from agenthard.audit.statistics import (
    Estimate,
    PairComparison,
    Reliability,
    Result,
    ScoreMatrix,
    Undefined,
    compare_pairs,
    modelled_scores,
    ordinal_ranks,
    rank_sets,
    tied_sets,
)
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.counted_scores import CountedScores, lead_in_resamples
from agenthard.reports.cleaning.differences import PairDifference, pair_differences
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import SplitName, split_id
from agenthard.reports.cleaning.trials import TrialTable, reliability_of, trial_table
from agenthard.taxonomy.record import Record

PAIR_RESAMPLES = 20_000
"""Resamples of the paired bootstrap; enough for Holm at 5 % with 32 models, and raised for more."""
MOST_PAIR_RESAMPLES = 200_000
"""Enough for 100 models; the tests of more say that they could not run."""


class BoardRow(Record):
    """One model on one split."""

    model: str
    """Model."""
    rank: int | None
    """Ordinal rank by score, 1 is best; ties keep the initial order. None when it has no score."""
    passed: int | float
    """Runs that passed, on the tasks that count for ``score``; the sum of their scores for partial credit."""
    runs: int
    """Runs with a verdict on these tasks."""
    tasks: int
    """Tasks that count for ``score``: tasks of the split on which every comparable model has a verdict."""
    of: int
    """Tasks of the split for this model (the hard split differs slightly from model to model)."""
    score: Result
    """Mean over these tasks of the share of runs that passed, with its interval; infrastructure errors are left out."""
    rank_interval: Result
    """Rank with the range that the tests of pairs support, for all models together (value, low, high are ranks)."""
    tied_with: tuple[str, ...] | None = ()
    """Models in a tied set with it, best first; the ranking among them is not supported by the data. None when the
    tests could not run."""
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
    """Share of bootstrap resamples of tasks that the observed best model leads, shared first places in part."""
    differences: tuple[PairDifference, ...] | Undefined
    """Paired differences of each model to the leader and to the next one, and the tasks they would need."""
    trials: TrialTable | None = None
    """pass^k and pass@k; None where no task has repeated runs, or runs have partial credit."""
    reliability: Reliability | Undefined = undefined("it was not computed")
    """How reliably these tasks tell these models apart, and the variance of a run by its source."""
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
    modelled = {} if missing.scores() else modelled_scores(tested, settings.level)
    scores = missing.scores() or {m: each.value for m, each in modelled.items() if isinstance(each, Estimate)}
    scores = scores if len(scores) == len(tested.models) else {}
    ranks = ordinal_ranks(scores) if scores else {}
    other = failures.scores()
    other_ranks = ordinal_ranks(other) if other else {}
    pairs = compare_models(tested, clusters, settings)
    sets = pairs if isinstance(pairs, Undefined) else tied_sets(scores, pairs)
    intervals = pairs if isinstance(pairs, Undefined) else rank_sets(scores, pairs, settings.level)
    models = missing.matrix.models
    rows = []
    for model in sorted(models, key=ranks.__getitem__) if ranks else models:
        row, counted = models.index(model), missing.counted[models.index(model)]
        rows.append(
            BoardRow(
                model=model,
                rank=ranks.get(model),
                passed=round(missing.matrix.passed[row, counted].sum().item(), 6),
                runs=int(missing.matrix.runs[row, counted].sum()),
                tasks=int(counted.sum()),
                of=len(tasks) if sizes is None else sizes[model],
                score=modelled[model] if scores and modelled else missing.estimate(row, clusters, settings.level),
                rank_interval=intervals if isinstance(intervals, Undefined) else intervals[model],
                tied_with=None if isinstance(sets, Undefined) else _tied_with(model, sets),
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
        top_unchanged=lead_in_resamples(missing, clusters, settings),
        differences=pairs
        if isinstance(pairs, Undefined)
        else pair_differences(sorted(ranks, key=ranks.__getitem__), tested, pairs, clusters, settings.level),
        trials=_trials([row.model for row in rows], missing, settings.level),
        reliability=reliability_of(tested, clusters, settings.level),
        method=_method(missing, tested, clusters, settings),
    )


def _trials(models: Sequence[str], missing: CountedScores, level: float) -> TrialTable | None:
    matrix = missing.matrix
    if matrix.fractional:
        return None
    counts = {}
    for model in models:
        row = matrix.models.index(model)
        own = np.flatnonzero(missing.counted[row])
        counts[model] = list(zip(matrix.passed[row, own].tolist(), matrix.runs[row, own].tolist(), strict=True))
    return trial_table(counts, level)


def compare_models(
    matrix: ScoreMatrix, clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> tuple[PairComparison, ...] | Undefined:
    """Test all pairs of models on the tasks that both have.

    Exact McNemar for single runs of independent tasks, pass or fail. For several runs or clusters the paired bootstrap
    with as many resamples as Holm's correction of these pairs needs. With partial credit, weights, or missing cells
    among several runs, paired t by cluster.
    """
    if matrix.plain and clusters is None:
        return compare_pairs(matrix, test="mcnemar", alpha=1 - settings.level)
    names = None if clusters is None else [clusters[task] for task in matrix.tasks]
    if by_t(matrix):
        return compare_pairs(matrix, test="t", alpha=1 - settings.level, clusters=names)
    return compare_pairs(
        matrix,
        test="bootstrap",
        alpha=1 - settings.level,
        resamples=_pair_resamples(len(matrix.models), settings.level),
        seed=settings.seed,
        clusters=names,
    )


def _pair_resamples(models: int, level: float) -> int:
    """Resamples with which the smallest p-value stays below alpha after Holm's correction of all pairs."""
    return max(PAIR_RESAMPLES, min(MOST_PAIR_RESAMPLES, ceil(models * (models - 1) / (1 - level))))


def by_t(matrix: ScoreMatrix) -> bool:
    """Whether paired t compares pairs: partial credit, weights, or missing cells where McNemar cannot be used."""
    return matrix.fractional or matrix.weights is not None or not matrix.scored.all()


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


def _method(
    missing: CountedScores, tested: ScoreMatrix, clusters: Mapping[str, str] | None, settings: AnalysisSettings
) -> str:
    single = missing.matrix.plain and clusters is None
    level = f"{100 * settings.level:g} %"
    interval = f"{level} Wilson interval"
    if not single:
        cluster = "repeated runs of a task" if clusters is None else "variants of one base task"
        interval = f"{level} Wilson interval at the effective number of tasks, clustered by {cluster}"
        interval += ", Wilson for single runs" if clusters is None else ""
    test = (
        "exact McNemar tests"
        if single
        else f"paired bootstrap, {_pair_resamples(len(tested.models), settings.level):,} resamples"
    )
    test = "paired t tests by cluster" if not single and by_t(tested) else test
    test += "" if tested.scored.all() else ", each pair on the tasks that both have"
    counted = "the tasks that the other models select" if not missing.counted.all() else "the same tasks for all"
    if not missing.matrix.tasks:
        return (
            "score: no task has a verdict for every model, so missing runs count with their probability in a mixed "
            f"logit (missing at random assumed); ranges of ranks and tied sets: {test}, Holm at {1 - settings.level:g}"
        )
    counted += ", weighted" if tested.weights is not None else ""
    return (
        f"score: mean over {counted} of the {'score of runs' if tested.fractional else 'share of runs that passed'}, "
        f"{interval}; runs without a verdict are "
        f"left out, and so are tasks that not every model has a verdict on; ranks are ordinal, ties keep the initial "
        f"order; ranges of ranks and tied sets: {test}, Holm at {1 - settings.level:g}"
    )
