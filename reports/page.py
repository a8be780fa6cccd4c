"""The report for people: one HTML page that opens offline, and a Markdown summary with the same numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from agenthard.reports.html import html_environment, thousands, write_html
from agenthard.reports.page_data import LEVEL_TITLES, SEVERITY_TITLES, page_data
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.reports.totals import Reason, ledger, reach_sentence, sentence, totals, why_unchecked
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.finding import Finding, Severity, Tier
from agenthard.taxonomy.printable import printable

STYLES = ("base.css", "top.css", "findings.css", "tables.css", "media.css")
SCRIPTS = ("dom.js", "filters.js", "findings.js", "decisions.js", "sorting.js", "start.js")
MOST_QUARANTINED = 500
"""Quarantined records listed on the page."""
MOST_TICKETS = 50
"""Tickets listed on the page."""
TOP_TICKETS = 5
"""Tickets in the summary."""
TOP_FINDINGS = 5
"""Findings in the summary, each of another check."""
MOST_NOT_READ = 10
"""Files and folders in the summary that were not read."""
MOST_MODELS = 12
"""Models in the summary."""


def write_page(result: AuditResult, path: Path) -> None:
    """Write the HTML report: a single file without remote assets, whose own script and style are named by hash.

    Args:
        result: the audit.
        path: the file to write.
    """
    write_html(
        path,
        "report.html.j2",
        styles=STYLES,
        scripts=SCRIPTS,
        data=page_data(result),
        **_shared(result),
        components=COMPONENT_TITLES,
        has_decisions=any(d.action != "keep" or d.finding_ids for d in result.decisions),
        protocols=any(row.protocol for row in result.models),
        most_quarantined=MOST_QUARANTINED,
        most_tickets=MOST_TICKETS,
        levels=LEVEL_TITLES,
        severities=SEVERITY_TITLES,
        filters={"short": _short},
        why=_why,
    )


def write_summary(result: AuditResult, path: Path) -> None:
    """Write the summary for a reader who has half a minute.

    Args:
        result: the audit.
        path: the file to write.
    """
    environment, places = html_environment(), Places(result)
    environment.filters |= {"md": _md, "short": _short}
    environment.filters["place"] = lambda finding: _code(str(places.of(finding.evidence[0]) or ""))
    environment.filters["category"] = lambda category: result.taxonomy[category].name
    shared = _shared(result)
    ticketed = {ticket.finding_id for ticket in result.tickets}
    text = environment.get_template("summary.md.j2").render(
        **shared,
        top=_top([finding for finding in result.findings if finding.id not in ticketed]),
        most_models=MOST_MODELS,
        most_not_read=MOST_NOT_READ,
        top_tickets=result.tickets[:TOP_TICKETS],
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
    }


def _why(reason: Reason) -> Markup:
    kind = Markup('<span class="warn">error:</span> ') if reason.error else ""
    return Markup("<div>{}{} <span class='muted'>({}, e.g. {})</span></div>").format(
        kind, escape(reason.text), thousands(reason.tasks), escape(reason.example)
    )


def _top(findings: Sequence[Finding]) -> list[tuple[Finding, int]]:
    count = Counter(finding.check for finding in findings)
    first = {finding.check: finding for finding in sorted(findings, key=_urgency, reverse=True)}
    ordered = sorted(first.values(), key=_urgency)[:TOP_FINDINGS]
    return [(finding, count[finding.check] - 1) for finding in ordered]


def _urgency(finding: Finding) -> tuple[bool, int, int, int, str]:
    return (
        finding.tier is Tier.SIGNAL,
        list(Severity).index(finding.severity),
        list(Tier).index(finding.tier),
        -len(finding.task_ids),
        finding.id,
    )


def _short(text: str) -> str:
    return text if len(text) <= 240 else text[:240].rstrip() + " …"


def _code(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("`", "'"))


def _md(text: str) -> str:
    r"""Escape text for Markdown: nothing in it becomes markup, a link, a table cell or a mention.

    >>> _md("<b> a|b [x](y) @me")
    '\\<b\\> a\\|b \\[x\\](y) @\u200bme'
    """
    flat = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", flat).replace("@", "@\u200b")
