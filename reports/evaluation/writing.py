"""Writing the evaluation report: the page, its JSON twin, the Markdown summary, and a CSV of every table."""

from pathlib import Path

from agenthard.reports.cleaning.tables import write_tables
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.layout import tables_of
from agenthard.reports.evaluation.page import write_evaluation_page
from agenthard.reports.evaluation.summary import summary_markdown
from agenthard.reports.json_text import json_text
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.printable import printable


def write_evaluation(analysis: EvaluationAnalysis, folder: Path) -> list[Path]:
    """Write ``evaluation.html``, ``evaluation.json``, ``summary.md`` and ``tables/*.csv``; equal analyses, equal bytes.

    Args:
        analysis: the analysis.
        folder: where the files go; made when absent.

    Returns:
        The files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page, twin, summary = (folder / name for name in ("evaluation.html", "evaluation.json", "summary.md"))
    write_evaluation_page(analysis, page)
    write_text(twin, json_text(analysis.model_dump(mode="python"), indent=1) + "\n")
    write_text(summary, printable(summary_markdown(analysis)))
    return [page, twin, summary, *write_tables(tables_of(analysis), folder / "tables")]
