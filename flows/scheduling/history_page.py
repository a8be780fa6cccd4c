"""The page of all audits of a schedule: what was new, fixed and flipped each time, and which split is published."""

from pathlib import Path

from agenthard.flows.scheduling.series import AuditRecord, SeriesFolder
from agenthard.reports.kit.page import write_html
from agenthard.reports.kit.text import plural

FILE = "index.html"
MOST_ROWS = 400
"""Audits on the page, the last ones; history.json has all."""


def write_history(series: SeriesFolder, name: str) -> Path:
    """Write the page and return its path."""
    page = series.root / FILE
    history = series.history
    write_html(
        page,
        "schedule.html.j2",
        styles=("base.css", "schedule.css"),
        scripts=(),
        data={},
        name=name,
        summary=_summary(history),
        rows=[_row(series, each) for each in reversed(history[-MOST_ROWS:])],
        left_out=max(0, len(history) - MOST_ROWS),
        published=series.published,
        pending=series.pending,
        plural=plural,
    )
    return page


def _summary(history: list[AuditRecord]) -> str:
    failed, unchanged = sum(bool(each.failure) for each in history), sum(_is_unchanged(each) for each in history)
    return (
        f"{plural(len(history), 'start')}: {len(history) - failed - unchanged:,} audited, {unchanged:,} found nothing "
        f"changed, {failed:,} failed."
    )


def _is_unchanged(record: AuditRecord) -> bool:
    return record.run is None and not record.failure


def _row(series: SeriesFolder, record: AuditRecord) -> dict[str, object]:
    """Describe an audit; its page is linked as long as it is kept."""
    page = f"{record.run}/report.html" if record.run and (series.root / record.run / "report.html").is_file() else ""
    found = record.difference
    return {
        "number": record.number,
        "at": f"{record.at:%Y-%m-%d %H:%M} UTC",
        "benchmark": record.benchmark,
        "page": page,
        "counts": list(found.counts.values()) if found else [],
        "tasks": found.tasks if found else None,
        "checked": found.checked if found else None,
        "changed": (len(found.added), len(found.removed), len(found.changed)) if found else None,
        "decided": len(found.decided) if found else None,
        "split": found.split_now if found else "",
        "note": record.failure or ("" if found else "nothing changed"),
        "failed": bool(record.failure),
        "not_sent": record.not_sent,
    }
