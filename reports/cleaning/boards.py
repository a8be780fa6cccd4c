"""A leaderboard of one split that says how sure it is: intervals, rank intervals, tied sets, two readings of errors."""

from reports.cleaning.splits import SplitName
from reports.statistics import Result, Undefined
from taxonomy.record import Record


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
