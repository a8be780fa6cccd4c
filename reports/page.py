"""The report for people: one HTML page that opens offline, and a Markdown summary with the same numbers."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from agenthard.audit.decisions.tickets import effect_of
from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.reports import page_data
from agenthard.reports.account import account, headline
from agenthard.reports.choices import choice_lines
from agenthard.reports.instance_files import FOLDER, Executions, write_instances
from agenthard.reports.kit.markdown import md
from agenthard.reports.kit.page import html_environment, thousands, write_html
from agenthard.reports.look_first import look_first, two_sides
from agenthard.reports.page_data import LEVEL_TITLES, SEVERITY_TITLES, TIER_TITLES
from agenthard.reports.people import MOST_IN_SUMMARY, MOST_ON_PAGE, people_rows
from agenthard.reports.places import Places
from agenthard.reports.proof_text import proof_view
from agenthard.reports.result import AuditResult
from agenthard.reports.totals import Reason, ledger, reach_sentence, sentence, totals, why_unchecked
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.trajectory import Trajectory

STYLES = ("base.css", "top.css", "findings.css", "instance.css", "tables.css", "media.css")
SCRIPTS = (
    *("dom.js", "copying.js", "instance.js", "open_task.js", "filters.js", "findings.js", "decisions.js", "sorting.js"),
    *("scrolling.js", "keyboard.js", "start.js"),
)
MOST_QUARANTINED = 500
"""Quarantined records listed on the page."""
TOP_TICKETS = 5
"""Tickets in the summary."""
TOP_FINDINGS = 5
"""Findings in the summary: the first of those on the first screen of the page."""
MOST_NOT_READ = 10
"""Files and folders in the summary that were not read."""
MOST_MODELS = 12
"""Models in the summary."""


def write_page(
    result: AuditResult, path: Path, runs: Iterable[Trajectory] = (), replays: Iterable[ShownReplay] = ()
) -> None:
    """Write the HTML report, whose own script and style are named by hash, and the files of its tasks next to it.

    Args:
        result: the audit.
        path: the file to write; the tasks that can be opened from it go into the folder ``instances`` next to it.
        runs: all runs; those of one task follow one another. Read once.
        replays: replays of ground truths. Read once.
    """
    places = Places(result)
    files = write_instances(result, places, page_data.opened(result), Executions(runs, replays), path)
    shared = _shared(result)
    first = look_first(result.findings, (ticket.finding_id for ticket in result.tickets))
    write_html(
        path,
        "report.html.j2",
        styles=STYLES,
        scripts=SCRIPTS,
        loads_scripts=True,
        data=page_data.page_data(result, places, files) | {"folder": FOLDER},
        most_findings=page_data.MOST_FINDINGS,
        most_decided=page_data.MOST_DECIDED,
        **shared,
        account=account(result, shared["sums"]),
        headline=headline(result, account(result, shared["sums"])),
        first=[_first(result, places, finding, files) for finding in first],
        components=COMPONENT_TITLES,
        decided=sum(map(page_data.is_listed, result.decisions)),
        openable=len(files),
        protocols=any(row.protocol for row in result.models),
        most_quarantined=MOST_QUARANTINED,
        most_tickets=page_data.MOST_TICKETS,
        most_people=MOST_ON_PAGE,
        levels=LEVEL_TITLES,
        severities=SEVERITY_TITLES,
        filters={"short": _short},
        why=_why,
    )


def _first(result: AuditResult, places: Places, finding: Finding, files: dict[str, int]) -> dict[str, Any]:
    """Describe one of the findings to look at first."""
    effect, basis = effect_of(finding)
    shown = (finding.evidence[0].task_id, *finding.task_ids)
    return {
        "finding": finding,
        "component": result.taxonomy[finding.category].component,
        "tier": TIER_TITLES[finding.tier],
        "severity": SEVERITY_TITLES[finding.severity],
        "level": LEVEL_TITLES[finding.level],
        "effect": "" if effect is None else f"decides {100 * effect:.0f} % of {basis}",
        "quotes": [page_data.quote_view(result, places, item) for item in two_sides(finding.evidence)],
        "proof": proof_view(finding),
        "task": next((task_id for task_id in shown if task_id in files), None),
    }


def write_summary(result: AuditResult, path: Path) -> None:
    """Write the summary in Markdown.

    Args:
        result: the audit.
        path: the file to write.
    """
    environment, places = html_environment(), Places(result)
    environment.filters |= {"md": md, "short": _short}
    environment.filters["place"] = lambda finding: _code(str(places.of(finding.evidence[0]) or ""))
    environment.filters["category"] = lambda category: result.taxonomy[category].name
    shared = _shared(result)
    first = look_first(result.findings, (ticket.finding_id for ticket in result.tickets))[:TOP_FINDINGS]
    text = environment.get_template("summary.md.j2").render(
        **shared,
        top=_with_others(first, result.findings),
        most_models=MOST_MODELS,
        most_not_read=MOST_NOT_READ,
        top_tickets=result.tickets[:TOP_TICKETS],
        most_people=MOST_IN_SUMMARY,
        gaps=[row for row in shared["ledger"] if row.ran < shared["sums"].tasks],
    )
    write_text(path, printable(text))


def _shared(result: AuditResult) -> dict[str, Any]:
    sums = totals(result)
    return {
        "result": result,
        "sums": sums,
        "ledger": ledger(result),
        "sentence": sentence(result, sums),
        "why_unchecked": why_unchecked(sums),
        "reach": reach_sentence(sums.tasks, sums.deciding),
        "people": people_rows(result),
        "choices": choice_lines(
            [each.words for each in result.suppressed], [each.words for each in result.expired], result.not_asked
        ),
    }


def _why(reason: Reason) -> Markup:
    kind = Markup('<span class="warn">error:</span> ') if reason.error else ""
    return Markup("<div>{}{} <span class='muted'>({}, e.g. {})</span></div>").format(
        kind, escape(reason.text), thousands(reason.tasks), escape(reason.example)
    )


def _with_others(shown: Sequence[Finding], findings: Iterable[Finding]) -> list[tuple[Finding, int]]:
    """Give the last finding that is shown of each check the number of those that are not shown."""
    left = Counter(finding.check for finding in findings) - Counter(finding.check for finding in shown)
    last = {finding.check: finding.id for finding in shown}
    return [(finding, left[finding.check] if last[finding.check] == finding.id else 0) for finding in shown]


def _short(text: str) -> str:
    return text if len(text) <= 240 else text[:240].rstrip() + " …"


def _code(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("`", "'"))
