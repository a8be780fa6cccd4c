"""Writing the analysis: its JSON twin, the Markdown summary, and a CSV of every table."""

from pathlib import Path

from agenthard.reports.cleaning.analysis import CleaningAnalysis
from agenthard.reports.cleaning.summary import summary_markdown
from agenthard.reports.cleaning.tables import tables_of, write_tables
from agenthard.reports.json_text import json_text
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.printable import printable


def write_analysis(analysis: CleaningAnalysis, folder: Path) -> list[Path]:
    """Write ``analysis.json``, ``summary.md`` and ``tables/*.csv``. Equal analyses give equal bytes.

    Args:
        analysis: the analysis.
        folder: where the files go; made when absent.

    Returns:
        The files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    twin, summary = folder / "analysis.json", folder / "summary.md"
    write_text(twin, json_text(analysis.model_dump(mode="python"), indent=1) + "\n")
    write_text(summary, printable(summary_markdown(analysis)))
    return [twin, summary, *write_tables(tables_of(analysis), folder / "tables")]
