"""The page on which several audits are side by side: one HTML file that opens offline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agenthard.reports.kit.page import write_figure_page
from agenthard.reports.survey.categories import CategoryCount
from agenthard.reports.survey.evaluators import EvaluatorTest
from agenthard.reports.survey.record import Survey
from agenthard.reports.survey.tables import write_tables

STYLES = ("base.css", "top.css", "tables.css", "survey.css", "media.css")
SCRIPTS = ("dom.js", "sorting.js", "scrolling.js", "downloads.js")
CAUSES = {
    "check": "by a changed check",
    "task": "in a changed task",
    "task_set": "in tasks that only one version has",
    "other": "otherwise",
}
_MOST = 5
"""Findings about an evaluator that are named per test."""


def write_survey(found: Survey, page: Path) -> list[Path]:
    """Write the page, with ``survey.json`` and ``tables/`` next to it.

    Args:
        found: the survey.
        page: the HTML file to write.

    Returns:
        The files written, the page first.
    """
    page.parent.mkdir(parents=True, exist_ok=True)
    write_figure_page(
        page,
        "survey.html.j2",
        title=found.title,
        figures={},
        styles=STYLES,
        scripts=SCRIPTS,
        filters={},
        survey=found,
        headline=headline(found),
        matrix=_matrix(found),
        tests=_tests(found),
        causes=CAUSES,
        most=_MOST,
    )
    return [page, *write_tables(found, page.parent)]


def headline(found: Survey) -> str:
    """Say in one sentence what was read and what was flagged."""
    read, there = (sum(getattr(each.unseen, name) for each in found.benchmarks) for name in ("read", "there"))
    flagged, dropped, review = (
        sum(getattr(each, name).k for each in found.benchmarks) for name in ("flagged", "dropped", "review")
    )
    runs = sum(not each.unseen.runs for each in found.benchmarks)
    different = sum(bool(each.differences) for each in found.benchmarks)
    text = (
        f"{len(found.benchmarks):,} audits read {read:,} of {there:,} tasks and flagged {flagged:,}: {dropped:,} to "
        f"drop, {review:,} to review"
    )
    if runs:
        text += f"; {runs:,} of the audits had no recorded model runs"
    if different:
        text += f"; {different:,} were made differently and may not be compared"
    return f"{text}."


@dataclass(frozen=True)
class MatrixRow:
    """One category in every benchmark."""

    id: str
    """Category."""
    name: str
    """Its name."""
    component: str
    """Part of the task that is wrong."""
    cells: tuple[CategoryCount | None, ...]
    """One per benchmark; None where the audit does not know the category."""


def _matrix(found: Survey) -> list[MatrixRow]:
    by_benchmark = [{row.category: row for row in each.categories} for each in found.benchmarks]
    known = {row.category: row for rows in by_benchmark for row in rows.values()}
    return [
        MatrixRow(category, row.name, row.component, tuple(rows.get(category) for rows in by_benchmark))
        for category, row in known.items()
    ]


@dataclass(frozen=True)
class TestRow:
    """One test of every evaluator."""

    title: str
    """What was given to the evaluator."""
    fault: str
    """What it does wrong where it fails."""
    cells: Sequence[EvaluatorTest]
    """One per benchmark."""


def _tests(found: Survey) -> list[TestRow]:
    return [
        TestRow(tests[0].title, tests[0].fault, tests)
        for tests in zip(*(each.evaluator for each in found.benchmarks), strict=True)
    ]
