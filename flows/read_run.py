"""Reading what an audit wrote: findings, decisions and unreadable records of a run folder."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.detectors.measured import CheckCost
from agenthard.audit.sources.base import Quarantined
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.finding import Coverage, Finding


def _table(run: Path, name: str) -> list[dict[str, Any]]:
    path = run / "tables" / f"{name}.parquet"
    if not path.is_file():
        raise CommandError(f"{run}: no finished audit here ({path.name} is missing); run `agenthard audit` first")
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


def read_decisions(run: Path) -> list[Decision]:
    """Read the decisions, in the benchmark's order.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    fields = Decision.model_fields
    return [Decision.model_validate({k: v for k, v in row.items() if k in fields}) for row in _table(run, "decisions")]


def read_coverage(run: Path) -> list[Coverage]:
    """Read what each check did on each task.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    fields = Coverage.model_fields
    return [Coverage.model_validate({k: v for k, v in row.items() if k in fields}) for row in _table(run, "coverage")]


def read_findings(run: Path) -> list[Finding]:
    """Read the findings.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    return [Finding.model_validate(item) for item in read_report(run)["findings"]]


def read_report(run: Path) -> dict[str, Any]:
    """Read ``findings.json``.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    path = run / "findings.json"
    if not path.is_file():
        raise CommandError(f"{run}: no finished audit here ({path.name} is missing); run `agenthard audit` first")
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def read_quarantined(run: Path) -> list[Quarantined]:
    """Read which records could not be read.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    path = run / "quarantine.jsonl"
    if not path.is_file():
        raise CommandError(f"{run}: no finished audit here ({path.name} is missing); run `agenthard audit` first")
    return [Quarantined.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_costs(run: Path) -> dict[str, CheckCost]:
    """Read what each check took, by its id.

    Raises:
        CommandError: when the folder does not say it (it is no audit, or ``work/`` was deleted).
    """
    files = sorted((run / "work" / "costs").glob("*.json"))
    if not files:
        raise CommandError(f"{run}: nothing here says what checks took; audit into a new folder")
    tasks, seconds = 0, Counter[str]()
    for file in files:
        shard = json.loads(file.read_text(encoding="utf-8"))
        tasks += shard["tasks"]
        seconds.update(shard["seconds"])
    return {check: CheckCost(tasks=tasks, seconds=round(total, 3)) for check, total in seconds.items()}
