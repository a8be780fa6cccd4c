"""Findings as text for other programs: lines like a linter's, GitHub workflow commands, CSV, SARIF and plain data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.code_scanning import BASES, for_code_scanning, repository_of
from agenthard.flows.errors import CommandError
from agenthard.flows.run_findings import ListedFinding
from agenthard.reports.kit.files import csv_text
from agenthard.reports.sarif import FINGERPRINT, level
from agenthard.taxonomy.printable import printable_line

COLUMNS = (
    *("id", "check", "category", "component", "tier", "severity", "level", "tasks", "first_task", "decisions"),
    *("file", "line", "claim"),
)
"""Columns of the CSV."""
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
"""GitHub's word for each level of SARIF."""


def line(item: ListedFinding) -> str:
    """Return one finding as ``file:line: [id] check severity tier: claim (N tasks)``."""
    found = item.finding
    place = f"{item.place}: " if item.place else ""
    head = f"[{found.id}] {found.check} {found.severity.value} {found.tier.value}"
    return printable_line(f"{place}{head}: {found.claim} ({item.tasks})")


def github_command(item: ListedFinding) -> str:
    """Return one finding as a workflow command of GitHub, which shows it at its file and line in a pull request.

    Confirmed findings that affect the score are errors, signals and cosmetic flaws notices, others warnings.
    """
    found = item.finding
    quote = next((quote for quote in item.quotes if quote.file), None)
    properties = {"title": f"{found.check} ({found.tier.value}, {found.id})"}
    if quote is not None:
        properties = {"file": quote.file, **({"line": str(quote.line)} if quote.line else {}), **properties}
    named = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    command = _COMMANDS[level(found.tier, found.severity)]
    return f"::{command} {named}::{_data(f'{found.claim} ({item.tasks})')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_csv(items: Sequence[ListedFinding]) -> str:
    """Return findings as CSV with a header."""
    return csv_text(COLUMNS, map(_row, items))


def _row(item: ListedFinding) -> dict[str, Any]:
    found, quote = item.finding, next((quote for quote in item.quotes if quote.file), None)
    cells = (
        *(found.id, found.check, found.category, item.component, found.tier.value, found.severity.value),
        *(found.level.value, len(found.task_ids), next(iter(found.task_ids), ""), " ".join(item.decisions)),
        *((quote.file, quote.line) if quote else ("", None)),
        found.claim,
    )
    return dict(zip(COLUMNS, cells, strict=True))


def as_data(item: ListedFinding) -> dict[str, Any]:
    """Return one finding as plain data: the record, with quotes in the words and at the places of the files."""
    return {
        **item.finding.model_dump(mode="json", exclude={"evidence"}),
        "component": item.component,
        "decisions": item.decisions,
        "evidence": [quote.model_dump(mode="json") for quote in item.quotes],
    }


def as_code_scanning(run: Path, items: Sequence[ListedFinding]) -> dict[str, Any]:
    """Return the SARIF log of a run with the results of some findings only, as GitHub's code scanning accepts it.

    Raises:
        CommandError: when the run folder has no such log, or does not say where its benchmark is.
    """
    settings_file = run / "work" / "settings.json"
    if not settings_file.is_file():
        raise CommandError(f"{run}: work/settings.json is missing, which says where the benchmark is; audit again")
    settings = AuditSettings.model_validate_json(settings_file.read_bytes())
    source = settings.open()
    root = source.folder or source.root
    folders = {BASES[0]: root}
    if len(settings.runs) == 1:
        logs = Path(settings.runs[0])
        folders[BASES[1]] = logs if logs.is_dir() else logs.parent
    return for_code_scanning(as_sarif(run, items), folders, repository_of(root))


def as_sarif(run: Path, items: Sequence[ListedFinding]) -> dict[str, Any]:
    """Return the SARIF log of a run with the results of some findings only.

    Raises:
        CommandError: when the run folder has no such log.
    """
    path = run / "results.sarif"
    if not path.is_file():
        raise CommandError(f"{path}: not here; run the command of the audit again, which writes it")
    log: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    wanted = {item.finding.id for item in items}
    for each in log["runs"]:
        each["results"] = [one for one in each["results"] if one["partialFingerprints"].get(FINGERPRINT) in wanted]
    return log
