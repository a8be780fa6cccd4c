"""How the ranking moves from one split to another, every figure beside deleting as many random tasks."""

from typing import Literal

from reports.cleaning.nulls import Measure
from reports.cleaning.splits import SplitName
from reports.statistics import RankMove, Undefined
from taxonomy.record import Record

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
    """Where each model stood and stands, best initial rank first."""
    measures: tuple[Measure, ...]
    """change_rate, rank_shift, indistinguishable (the paper's 0.01 rule), kendall_tau_b, top_changed."""
    sentence: str
    """The table in one sentence: which figures exceed the null of deleting as many random tasks, or that none does."""
