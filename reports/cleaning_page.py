"""The page in which an evaluator sees what cleaning does to a leaderboard: one HTML file that opens offline."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from reports.amounts import amount, plural, said, span
from reports.cleaning.analysis import CleaningAnalysis, Term
from reports.cleaning.boards import Board, BoardRow
from reports.cleaning.nulls import NullBand
from reports.cleaning.splits import TITLES
from reports.figures import figures
from reports.html import write_html
from reports.result import AuditResult
from reports.statistics import Estimate, Undefined
from reports.totals import LedgerRow, ledger
from taxonomy.categories import Taxonomy, builtin_taxonomy

AUDIT_PAGE = "../report.html"
"""The audit's own report, beside the folder of this one."""
STYLES = ("base.css", "top.css", "tables.css", "figures.css", "cleaning.css", "media.css")
SCRIPTS = ("dom.js", "sorting.js", "downloads.js", "figures.js", "cleaning.js")


def write_cleaning_page(analysis: CleaningAnalysis, path: Path, audit: AuditResult | None = None) -> None:
    """Write the page: a single file without remote assets, whose own script and style are named by hash.

    Args:
        analysis: what cleaning does.
        path: the file to write; links to findings expect the audit's report.html in the folder above it.
        audit: the audit behind the analysis; adds the titles of the checks and why they did not run where they did not.
    """
    drawn = figures(analysis)
    terms = {term.term.casefold(): term for term in analysis.glossary}
    write_html(
        path,
        "cleaning.html.j2",
        styles=STYLES,
        scripts=SCRIPTS,
        data={
            "file": _slug(analysis.title),
            "figures": {f.id: {"columns": f.columns, "rows": f.rows} for f in drawn.values() if f.rows},
        },
        filters={"term": lambda name, shown=None: _term(terms, name, shown), "define": lambda name: _sentence(terms, name)}
        | {"amount": amount, "plural": plural, "said": said, "slug": _slug, "place": _place},
        analysis=analysis,
        figures=drawn,
        titles=TITLES,
        models=_models(analysis.leaderboards),
        audit_page=AUDIT_PAGE,
        name_of=_names(audit.taxonomy if audit else builtin_taxonomy()),
        checks={row.check.id: row for row in ledger(audit)} if audit else {},
        outsiders=[] if isinstance(analysis.runs, Undefined) else [m for m in analysis.runs.models if not m.comparable],
        strip=_strip,
        span=span,
    )
