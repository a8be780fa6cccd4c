"""From a run folder to the input of the analysis: its Parquet tables, ``findings.json`` and ``manifest.json``."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from agenthard.audit.decisions.policy import Decision
from agenthard.reports.cleaning.inputs import (
    AuditIdentity,
    CleaningInput,
    LedgerEntry,
    TaskFacts,
    experiments_of,
)
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.trajectory import Trajectory

RUN_COLUMNS = ["id", "task_id", "model", "trial", "status", "passed", "protocol"]
"""What a score needs; conversations are never read."""


class RunTablesError(AgentHardError):
    """The folder holds no finished audit, or one of another layout; the message says what to do."""

    code = "AH706"
    remedy = "Name the run folder of a finished audit, or audit again with this version."


def load_run(folder: Path, baseline: Path | None = None) -> CleaningInput:
    """Read a run folder.

    Args:
        folder: run folder of a finished audit.
        baseline: run folder of an earlier audit, whose findings are not new.

    Returns:
        The input of ``analyse``.

    Raises:
        RunTablesError: when a file is missing or cannot be read.
    """
    manifest = load_json(folder, "manifest.json")
    document = load_json(folder, "findings.json")
    try:
        tasks = [_task(row) for row in read_rows(folder, "tasks", ["id", "subtask", "cluster", "user"])]
        findings = [Finding.model_validate(item) for item in document["findings"]]
        rows = read_rows(folder, "findings", ["id", "component"])
        ledger, checked = _ledger(folder, manifest["checks"])
        return CleaningInput(
            title=str(document["benchmark"]["title"]),
            tasks=tasks,
            decisions=load_decisions(folder),
            findings=findings,
            components={row["id"]: row["component"] for row in rows},
            ledger=ledger,
            checked=checked,
            audit=_identity(manifest),
            experiments=experiments_of(load_runs(folder), [task.id for task in tasks]),
            known=frozenset(load_finding_ids(baseline)) if baseline else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunTablesError(
            f"{folder}: the tables do not fit together ({str(error)[:200]}); audit again with this version of AgentHard"
        ) from error


def read_rows(folder: Path, table: str, columns: list[str]) -> list[dict[str, Any]]:
    """Read columns of a table of a run folder.

    Raises:
        RunTablesError: when the table or a column is missing.
    """
    path = folder / "tables" / f"{table}.parquet"
    if not path.is_file():
        raise _no_audit(folder, f"tables/{path.name}")
    try:
        rows: list[dict[str, Any]] = pq.read_table(path, columns=columns).select(columns).to_pylist()
    except (OSError, KeyError, ValueError) as error:
        raise RunTablesError(
            f"{path}: cannot read its columns {', '.join(columns)} ({str(error)[:200]}); audit again with this version"
        ) from error
    return rows


def load_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a JSON document of a run folder.

    Raises:
        RunTablesError: when it is missing or no JSON object.
    """
    path = folder / name
    if not path.is_file():
        raise _no_audit(folder, name)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunTablesError(f"{path}: not valid JSON ({error}); audit again") from error
    if not isinstance(value, dict):
        raise RunTablesError(f"{path}: not a JSON object; audit again")
    return value


def load_runs(folder: Path) -> list[Trajectory]:
    """Read all runs of a run folder, without their conversations."""
    return [Trajectory.model_validate(row) for row in read_rows(folder, "trajectories", RUN_COLUMNS)]


def load_decisions(folder: Path) -> list[Decision]:
    """Read the decisions of a run folder, in the benchmark's order."""
    rows = read_rows(folder, "decisions", ["task_id", "action", "reasons", "finding_ids"])
    return [Decision.model_validate(row) for row in rows]


def load_finding_ids(folder: Path) -> Iterable[str]:
    """Read the ids of the findings of a run folder."""
    return [row["id"] for row in read_rows(folder, "findings", ["id"])]


def _no_audit(folder: Path, missing: str) -> RunTablesError:
    return RunTablesError(f"{folder}: no finished audit here ({missing} is missing); run `agenthard audit` first")


def _task(row: dict[str, Any]) -> TaskFacts:
    return TaskFacts(id=row["id"], category=row["subtask"], cluster=row["cluster"], prompt=_prompt(row["user"]))


def _prompt(user: str) -> str:
    """Join the texts of the user: instruction, context, turns."""
    spec = json.loads(user)
    texts = [spec["instruction"], *spec["context"].values()]
    texts += [message["content"] for turn in spec["turns"] for message in turn]
    return "\n".join(text for text in texts if text)


def _ledger(folder: Path, versions: dict[str, str]) -> tuple[list[LedgerEntry], int]:
    path = folder / "tables" / "coverage.parquet"
    if not path.is_file():
        raise _no_audit(folder, "tables/coverage.parquet")
    table = pq.read_table(path, columns=["task_id", "check", "status"])
    counts = {
        (row["check"], row["status"]): row["task_id_count"]
        for row in table.group_by(["check", "status"]).aggregate([("task_id", "count")]).to_pylist()
    }
    ran = table.filter(pc.is_in(table["status"], pc.cast(["flagged", "clean"], "string")))
    entries = [
        LedgerEntry(
            check=check,
            version=versions.get(check, ""),
            flagged=counts.get((check, "flagged"), 0),
            clean=counts.get((check, "clean"), 0),
            not_checked=counts.get((check, "not_checked"), 0),
            errors=counts.get((check, "error"), 0),
        )
        for check in versions
    ]
    return entries, len(pc.unique(ran["task_id"]))


def _identity(manifest: dict[str, Any]) -> AuditIdentity:
    return AuditIdentity(
        agenthard=manifest["agenthard"],
        taxonomy=manifest["taxonomy"],
        source=manifest["source"],
        benchmark=manifest["benchmark"]["label"],
        content_hash=manifest["benchmark"]["content_hash"],
        audit_key=manifest["key"],
        policy=manifest["policy"]["version"],
        checks=manifest["checks"],
    )
