"""The page on which several audits are side by side: one HTML file that opens offline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agenthard.reports.kit.page import write_figure_page
from agenthard.reports.kit.text import plural
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
"""Claims about an evaluator that are named per test."""


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
        filters={"claims": _claims},
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
        f"{plural(len(found.benchmarks), 'audit')} read {read:,} of {there:,} tasks and flagged {flagged:,}: "
        f"{dropped:,} to drop, {review:,} to review"
    )
    if runs:
        text += f"; {runs:,} of them had no recorded model runs"
    if different:
        text += f"; {different:,} {'was' if different == 1 else 'were'} made differently and may not be compared"
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


@dataclass
class Claim:
    """What findings with equal words say about an evaluator."""

    text: str
    """The words (benchmark text: escape it)."""
    tier: str
    """How sure they are."""
    tasks: int
    """Tasks that they touch; a task of two of them counts twice."""
    ids: list[str]
    """Their ids."""


def _claims(test: EvaluatorTest) -> list[Claim]:
    found: dict[tuple[str, str], Claim] = {}
    for finding in test.findings:
        claim = found.setdefault((finding.claim, finding.tier), Claim(finding.claim, finding.tier, 0, []))
        claim.tasks += finding.tasks
        claim.ids.append(finding.id)
    return sorted(found.values(), key=lambda claim: (-claim.tasks, claim.ids[0]))
