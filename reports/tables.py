"""The tables of a run as Parquet files, with a data dictionary. Equal input gives equal bytes."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from agenthard.audit.decisions.priority import review_order
from agenthard.reports.columns import (
    COVERAGE,
    NOT_READ,
    QUARANTINE,
    TICKETS,
    Table,
    decisions_table,
    findings_table,
    tasks_table,
    trajectories_table,
)
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.files import replacing, write_text
from agenthard.taxonomy.trajectory import Trajectory

DICTIONARY = "README.md"


def write_tables(result: AuditResult, folder: Path, runs: Iterable[Trajectory]) -> list[Path]:
    """Write every table and the data dictionary.

    Args:
        result: the audit.
        folder: where the files go; made when absent.
        runs: all runs in task order; streamed, one row group is held at a time. Without runs the table is empty.

    Returns:
        The files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = tables_of(result, runs)
    for table, records in contents:
        _write(table, records, folder / f"{table.name}.parquet")
    dictionary = folder / DICTIONARY
    write_text(dictionary, _dictionary([table for table, _ in contents]))
    return [*(folder / f"{table.name}.parquet" for table, _ in contents), dictionary]


def tables_of(result: AuditResult, runs: Iterable[Trajectory]) -> list[tuple[Table, Iterable[Any]]]:
    """Return every table with its records; the arguments are those of `write_tables`."""
    return [
        (tasks_table(), result.tasks),
        (trajectories_table(), runs),
        (_findings(result), result.findings),
        (_decisions(result), result.decisions),
        (TICKETS, result.tickets),
        (COVERAGE, result.coverage),
        (QUARANTINE, result.quarantined),
        (NOT_READ, result.not_read),
    ]


def _findings(result: AuditResult) -> Table:
    places = Places(result)
    return findings_table(places.described, lambda category: result.taxonomy[category].component)


def _decisions(result: AuditResult) -> Table:
    queue = review_order([task.id for task in result.tasks], result.findings)
    return decisions_table({item.task_id: item.place for item in queue})


def _write(table: Table, records: Iterable[Any], path: Path) -> None:
    rows = iter(records)
    with replacing(path) as partial, pq.ParquetWriter(partial, table.schema, compression="zstd") as writer:
        while chunk := list(islice(rows, table.group)):
            writer.write_batch(table.batch(chunk))


def _dictionary(tables: Iterable[Table]) -> str:
    lines = [
        "# Tables",
        "",
        "Parquet, compressed with zstd. Each column carries its description as field metadata too. Tasks are named by",
        "`AgentTask.id` everywhere; JSON columns hold canonical JSON (sorted keys).",
    ]
    for table in tables:
        lines += ["", f"## {table.name}.parquet", "", table.doc, "", "| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            doc = column.doc.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| `{column.name}` | {str(column.type).replace('<', '‹').replace('>', '›')} | {doc} |")
    return "\n".join(lines) + "\n"
