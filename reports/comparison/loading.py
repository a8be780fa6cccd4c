"""From a run folder to one side of a comparison."""

import hashlib
from pathlib import Path

import pyarrow.parquet as pq

from agenthard.reports.cleaning.loading import RunTablesError, load_run
from agenthard.reports.comparison.audits import AuditSide

CONTENT = ("user", "initial_state", "hidden_tools", "evaluation", "ground_truth", "traits", "environment")
"""Columns of the table of tasks that say what a task is. The state that tasks share (a database) is not in the table:
when only it changed, the benchmark's content hash differs and the tasks do not."""


def load_side(folder: Path) -> AuditSide:
    """Read a run folder.

    Args:
        folder: run folder of a finished audit.

    Returns:
        The audit with the hashes of its tasks and the status of every check on every task.

    Raises:
        RunTablesError: when the folder holds no finished audit of a known layout.
    """
    audit = load_run(folder)
    try:
        return AuditSide(name=str(folder), audit=audit, contents=task_contents(folder), coverage=_coverage(folder))
    except (OSError, KeyError, ValueError) as error:
        raise RunTablesError(f"{folder}: cannot read its tables ({str(error)[:200]}); audit again") from error


def task_contents(folder: Path) -> dict[str, str]:
    """Hash what each task of an audit is, by its id (see ``CONTENT``)."""
    table = pq.read_table(
        folder / "tables" / "tasks.parquet", columns=["id", *CONTENT], read_dictionary=["environment"]
    )
    hashes: dict[str, str] = {}
    for batch in table.to_batches():
        columns = [batch.column(name) for name in CONTENT[:-1]]
        environment = batch.column("environment")
        shared = [hashlib.sha256(text.encode()).hexdigest() for text in environment.dictionary.to_pylist()]
        for row, (identity, index) in enumerate(
            zip(batch.column("id").to_pylist(), environment.indices.to_pylist(), strict=True)
        ):
            parts = [str(column[row].as_py()) for column in columns]
            hashes[identity] = hashlib.sha256("\x1f".join([*parts, shared[index]]).encode()).hexdigest()[:16]
    return hashes


def _coverage(folder: Path) -> dict[tuple[str, str], str]:
    table = pq.read_table(folder / "tables" / "coverage.parquet", columns=["check", "task_id", "status"])
    check, task, status = (table[name].to_pylist() for name in ("check", "task_id", "status"))
    return dict(zip(zip(check, task, strict=True), status, strict=True))
