"""Rows of leaderboards and of statistics as plain texts, for terminals and for Markdown."""

from agenthard.audit.statistics import Estimate
from agenthard.reports.amounts import amount, said, span
from agenthard.reports.cleaning.boards import BoardRow
from agenthard.reports.cleaning.nulls import Measure, NullBand

BOARD_COLUMNS = ("rank", "model", "passed", "score", "rank interval", "tied with", "errors as failures")
MEASURE_COLUMNS = ("figure", "observed", "random deletions: mean", "5–95 %", "percentile", "outside the band")


def board_cells(row: BoardRow) -> tuple[str, ...]:
    """Write a row of a leaderboard, in the order of ``BOARD_COLUMNS``."""
    ranks = row.rank_interval
    interval = "undefined"
    if isinstance(ranks, Estimate) and ranks.low is not None and ranks.high is not None:
        interval = f"{ranks.low:g}–{ranks.high:g}"
    return (
        "–" if row.rank is None else str(row.rank),
        row.model,
        f"{row.passed:,}/{row.runs:,}",
        said(row.score, "share"),
        interval,
        str(len(row.tied_with)),
        said(row.errors_as_failures, "share"),
    )


def measure_cells(measure: Measure) -> tuple[str, ...]:
    """Write a statistic beside its null, in the order of ``MEASURE_COLUMNS``."""
    value, null = said(measure.observed, measure.unit), measure.null
    if not isinstance(null, NullBand):
        return measure.title, value, null.reason, "", "", ""
    return (
        measure.title,
        value,
        amount(null.mean, measure.unit),
        span(null.low, null.high, measure.unit),
        "" if null.percentile is None else f"{null.percentile:.1f}",
        {True: "yes", False: "no", None: ""}[null.exceeds],
    )
