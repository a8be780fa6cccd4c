"""The report for people: one HTML page that opens offline, and a Markdown summary with the same numbers."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from reports.json_text import json_text, utf8
from reports.page_data import page_data
from reports.places import Places
from reports.result import AuditResult
from reports.totals import Reason, ledger, sentence, totals, why_unchecked
from taxonomy.categories import COMPONENT_TITLES
from taxonomy.finding import Finding, Severity, Tier

STYLES = ("base.css", "top.css", "findings.css", "tables.css", "media.css")
SCRIPTS = ("dom.js", "filters.js", "findings.js", "tables.js", "start.js")
MOST_QUARANTINED = 500
"""Quarantined records listed on the page."""
TOP_FINDINGS = 5
"""Findings in the summary, each of another check."""
MOST_MODELS = 12
"""Models in the summary."""


def write_page(result: AuditResult, path: Path) -> None:
    """Write the HTML report: a single file without remote assets, whose own script and style are named by hash.

    Args:
        result: the audit.
        path: the file to write.
    """
    style, script = "\n".join(map(_asset, STYLES)), "\n".join(map(_asset, SCRIPTS))
    template = _environment().get_template("report.html.j2")
    html = template.render(
        **_shared(result),
        components=COMPONENT_TITLES,
        has_decisions=any(d.action != "keep" or d.finding_ids for d in result.decisions),
        protocols=any(row.protocol for row in result.models),
        most_quarantined=MOST_QUARANTINED,
        why=_why,
        style=Markup(style),
        script=Markup(script),
        data=htmlsafe_json_dumps(page_data(result), dumps=json_text, separators=(",", ":")),
        csp=_policy(style, script),
    )
    path.write_text(utf8(html), encoding="utf-8")


def write_summary(result: AuditResult, path: Path) -> None:
    """Write the summary for a reader who has half a minute.

    Args:
        result: the audit.
        path: the file to write.
    """
    environment, places = _environment(), Places(result)
    environment.filters["place"] = lambda finding: _code(str(places.of(finding.evidence[0]) or ""))
    environment.filters["category"] = lambda category: result.taxonomy[category].name
    shared = _shared(result)
    text = environment.get_template("summary.md.j2").render(
        **shared,
        top=_top(result.findings),
        most_models=MOST_MODELS,
        gaps=[row for row in shared["ledger"] if row.ran < shared["sums"].tasks],
    )
    path.write_text(utf8(text), encoding="utf-8")


def _shared(result: AuditResult) -> dict[str, Any]:
    sums = totals(result)
    return {
        "result": result,
        "sums": sums,
        "ledger": ledger(result),
        "sentence": sentence(result, sums),
        "why_unchecked": why_unchecked(sums),
    }


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"thousands": _thousands, "share": _share, "percent": _percent, "at": _at}
    environment.filters |= {"md": _md, "short": _short}
    return environment


@cache
def _asset(name: str) -> str:
    return resources.files("reports").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def name(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    allowed = f"style-src {name(style)}; script-src {name(script)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _why(reason: Reason) -> Markup:
    kind = Markup('<span class="warn">error:</span> ') if reason.error else ""
    return Markup("<div>{}{} <span class='muted'>({}, e.g. {})</span></div>").format(
        kind, escape(reason.text), _thousands(reason.tasks), escape(reason.example)
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


def _thousands(value: int) -> str:
    return f"{value:,}"


def _share(part: int, whole: int) -> str:
    return f"{_percent(part / whole)} of the tasks" if whole else "of no tasks"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _at(value: float) -> str:
    return f"{100 * min(max(value, 0.0), 1.0):.2f}"


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
