"""The tables and figures of a benchmark's paper, made from our own evaluation: CSV files and one page."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.reports.evaluation.page import STYLES
from agenthard.reports.kit.figure import Figure
from agenthard.reports.kit.page import write_figure_page

SCRIPTS = ("dom.js", "sorting.js", "scrolling.js", "downloads.js", "figures.js")
# A spreadsheet runs a cell that begins with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class EvaluationTable:
    """One table. A number that does not exist is None, and the note says why that may be."""

    title: str
    """What it shows, in a few words."""
    columns: tuple[str, ...]
    """Heads of the columns, each once."""
    rows: Sequence[tuple[Any, ...]]
    """Cells: texts, numbers or None."""
    note: str = ""
    """Units, n, and what an empty cell means."""

    @property
    def name(self) -> str:
        """Name of its file.

        >>> EvaluationTable("Failed uses per episode", (), ()).name
        'failed_uses_per_episode'
        """
        return re.sub(r"[^a-z0-9]+", "_", self.title.lower()).strip("_")

    @property
    def texts(self) -> list[list[str]]:
        """The cells as people read them."""
        return [[_text(value) for value in row] for row in self.rows]

    def numeric(self, index: int) -> bool:
        """Tell whether a column holds numbers only."""
        values = [row[index] for row in self.rows if row[index] is not None]
        return bool(values) and all(isinstance(value, int | float) for value in values)


def write_evaluation_tables(
    out: Path, title: str, lead: str, tables: Sequence[EvaluationTable], figures: Sequence[Figure]
) -> list[Path]:
    """Write a CSV file per table, and ``tables.html`` with all tables and figures.

    Args:
        out: the folder; made when absent.
        title: what was evaluated.
        lead: n, conditions, and what was left out.
        tables: the tables.
        figures: the figures.

    Returns:
        The files written.
    """
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for table in tables:
        path = out / f"{table.name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows([_plain(value) for value in row] for row in table.rows)
        written.append(path)
    page = out / "tables.html"
    write_figure_page(
        page,
        "evaluation_tables.html.j2",
        title=title,
        figures={figure.id: figure for figure in figures},
        styles=STYLES,
        scripts=SCRIPTS,
        filters={},
        heading=title,
        lead=lead,
        tables=tables,
    )
    return [*written, page]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.1f}" if value == 0 or abs(value) >= 1 else f"{value:.2g}"


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
