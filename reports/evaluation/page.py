"""The page of an evaluation: one HTML file that opens offline."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agenthard.reports.evaluation.agents import Usage
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.cells import DomainScore
from agenthard.reports.kit.page import write_figure_page
from agenthard.reports.kit.text import money
from agenthard.taxonomy.record import Record

STYLES = ("base.css", "top.css", "tables.css", "figures.css", "cleaning.css", "evaluation.css", "media.css")
SCRIPTS = ("dom.js", "sorting.js", "scrolling.js", "downloads.js", "figures.js")


class ShownRun(Record):
    """A run with a page of its own."""

    agent: str
    """Who played."""
    task_id: str
    """What was played."""
    levels: dict[str, int]
    """Factor → its level."""
    trial: int
    """Number of the repetition, from 0."""
    passed: bool
    """Whether it was solved."""
    page: str
    """Path of the page from the report."""


def write_evaluation_page(analysis: EvaluationAnalysis, path: Path, shown: Sequence[ShownRun] = ()) -> None:
    """Write the page: a single file without remote assets, whose own script and style are named by hash.

    Args:
        analysis: what the evaluation found.
        path: the file to write.
        shown: runs with a page of their own.
    """
    # The figures read modules of this package, so they are not imported before it is complete.
    from agenthard.reports.figures.evaluation import figures

    write_figure_page(
        path,
        "evaluation.html.j2",
        title=analysis.about.title,
        figures=figures(analysis),
        styles=STYLES,
        scripts=SCRIPTS,
        filters={"number": _number, "money": money, "total": _total, "first_upper": _first_upper},
        analysis=analysis,
        shown=shown,
        endings=sorted({ending for row in analysis.board for ending in row.endings}),
        domains=_by_domain(analysis),
        usage=_by_agent(analysis),
        reference=analysis.failure_rates[0] if analysis.failure_rates else 0.0,
    )


def _by_domain(analysis: EvaluationAnalysis) -> tuple[list[str], dict[tuple[str, bool, int], dict[str, DomainScore]]]:
    """Lay the domain scores out as a table: agents downwards, domains to the right."""
    names = sorted({row.domain for row in analysis.domains})
    lines: dict[tuple[str, bool, int], dict[str, DomainScore]] = {}
    for row in analysis.domains:
        again = 0
        while row.domain in lines.get((row.agent, row.published, again), {}):
            again += 1
        lines.setdefault((row.agent, row.published, again), {})[row.domain] = row
    return names, lines


def _by_agent(analysis: EvaluationAnalysis) -> dict[str, Mapping[str, Usage]]:
    found: dict[str, dict[str, Usage]] = {}
    for row in analysis.usage:
        found.setdefault(row.agent, {})[row.measure] = row
    return dict(found)


def _first_upper(text: str) -> str:
    """Begin a heading with a capital.

    >>> _first_upper("hidden slots × decoys")
    'Hidden slots × decoys'
    """
    return text[:1].upper() + text[1:]


def _number(value: float | None) -> str:
    """Write a mean or a total; an unknown one is a dash.

    >>> _number(3.14159), _number(1234567.0), _number(None)
    ('3.1', '1,234,567', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == round(value) else f"{value:,.1f}"


def _total(row: Usage, unit: str = "") -> str:
    """Write a total, as a lower bound where attempts have none; an unknown one is never 0.

    >>> _total(Usage(agent="a", measure="cost", known=1, attempts=2, total=3, mean=3, median=3, highest=3), "$")
    'at least $3.00'
    """
    if row.total is None:
        return "no price" if unit == "$" else "not said"
    text = money(row.total) if unit == "$" else _number(row.total)
    return f"at least {text}" if row.known < row.attempts else text
