"""Show the tables of a benchmark's paper: in the terminal, as JSON, and as a folder with CSV files and a page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agenthard.flows.commands.output import print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from agenthard.reports.evaluation.paper_tables import EvaluationTable
    from agenthard.reports.kit.figure import Figure
    from agenthard.taxonomy.declared import Declared


def show_paper(
    title: str,
    lead: str,
    tables: "Sequence[EvaluationTable]",
    draw: "Callable[[], Sequence[Figure]]",
    out: Path | None,
    as_json: bool,
    more: dict[str, Any] | None = None,
) -> None:
    """Show the tables, and write them and the figures into a folder.

    Args:
        title: what was evaluated.
        lead: n, conditions, and what was left out.
        tables: the tables.
        draw: draws the figures; called only when there is a folder.
        out: the folder.
        as_json: print one JSON document instead of tables.
        more: further members of this document.
    """
    from agenthard.reports.evaluation.paper_tables import write_evaluation_tables

    if out is not None:
        write_evaluation_tables(out, title, lead, tables, draw())
    if as_json:
        laid_out = {table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in tables}
        print_json({**(more or {}), "tables": laid_out, "note": lead})
        return
    for table in tables:
        if table.rows:
            right = [name for i, name in enumerate(table.columns) if table.numeric(i)]
            print_table(table.title, table.columns, [tuple(row) for row in table.texts], right=right)
    typer.echo(lead)


def as_rows(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table with None where a value is missing."""
    return [{str(k): None if v != v else v for k, v in row.items()} for row in frame.to_dict("records")]


def finals_of(frame: "pd.DataFrame", declared: "Declared") -> "pd.DataFrame":
    """Keep the last attempt of every episode."""
    episode = ["agent", "task_id", *(axis.name for axis in declared.axes if axis.name in frame.columns), "trial"]
    return frame.sort_values([*episode, "attempt"], kind="stable").drop_duplicates(episode, keep="last")
