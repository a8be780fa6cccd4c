"""Everything that run folders say about one finding, for ``agenthard explain``."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.decisions.policy import Decision
from agenthard.flows.audited_run import read_decisions
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.categories import Component, load_taxonomy
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

FINDINGS = "findings.json"
_ID = re.compile(r"[0-9a-f]{12}")


class Seen(Record):
    """One audit of the same benchmark, and whether it has the finding."""

    run: str
    """Run folder."""
    agenthard: str
    """Release of AgentHard."""
    benchmark: str
    """Label and content hash of what was audited."""
    check_version: str
    """Version of the check in that audit; empty when the check did not exist."""
    has_it: bool
    """Whether the finding is there."""


class FindingFacts(Record):
    """One finding with what led to it and what it led to."""

    run: str
    """Run folder that it is shown from: the newest that has it, unless one was asked for."""
    finding: Finding
    """The finding."""
    component: Component | None
    """Part of the task that its category belongs to; None for a category of the user's own."""
    places: tuple[str, ...]
    """File and line of each evidence item; empty where the source does not say."""
    decisions: dict[str, tuple[str, ...]]
    """Tasks by decision, of those decisions that the finding led to."""
    history: tuple[Seen, ...]
    """Audits of the same benchmark at hand, oldest first."""


def is_finding_id(text: str) -> bool:
    """Tell whether a text looks like the id of a finding."""
    return _ID.fullmatch(text) is not None


def find_finding(identity: str, run: Path | None = None) -> FindingFacts:
    """Look a finding up.

    Args:
        identity: id of the finding.
        run: run folder to show it from; None = the newest at hand that has it. At hand are the run folders in the
            current folder and two levels below it, such as ``runs/NAME``.

    Raises:
        CommandError: no run folder has it.
    """
    if run is not None and not (run / FINDINGS).is_file():
        raise CommandError(f"{run}: no finished audit here ({FINDINGS} is missing); run `agenthard audit` first")
    folders = _at_hand(run)
    read = {folder: _document(folder) for folder in folders}
    having = [folder for folder in ([run] if run else folders) if folder in read and _of(read[folder], identity)]
    if not having:
        where = str(run) if run else f"the {len(folders)} run folders in and below {Path.cwd()}"
        raise CommandError(f"no finding {identity!r} in {where}; findings.json of a run lists them (--run RUN)")
    shown = having[-1]
    document = read[shown]
    finding = Finding.model_validate(_of(document, identity))
    component = {category.id: category.component for category in load_taxonomy().categories}
    source = document["benchmark"]["source"]
    return FindingFacts(
        run=str(shown),
        finding=finding,
        component=component.get(finding.category),
        places=tuple(map(_place, document.get("places", {}).get(identity, ()))),
        decisions=_decisions(read_decisions(shown), identity),
        history=tuple(
            _seen(folder, found, finding) for folder, found in read.items() if found["benchmark"]["source"] == source
        ),
    )


def _at_hand(run: Path | None) -> list[Path]:
    """List run folders, oldest first: that of ``run`` with those next to it, or those below the current folder."""
    root = run.parent if run else Path()
    patterns = (f"*/{FINDINGS}",) if run else (FINDINGS, f"*/{FINDINGS}", f"*/*/{FINDINGS}")
    files = [path for pattern in patterns for path in root.glob(pattern) if path.is_file()]
    dated = sorted((path.stat().st_mtime_ns, str(path), path.parent) for path in files)
    folders = [folder for _, _, folder in dated]
    if run is not None and run not in folders:
        folders = [folder for folder in folders if folder.resolve() != run.resolve()] + [run]
    return [folder for folder in folders if _is_audit(folder)]


def _is_audit(folder: Path) -> bool:
    try:
        document = _document(folder)
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and {"benchmark", "findings", "checks"} <= document.keys()


def _document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    return found


def _of(document: Mapping[str, Any], identity: str) -> dict[str, Any] | None:
    return next((item for item in document["findings"] if item["id"] == identity), None)


def _place(place: Mapping[str, Any] | None) -> str:
    if place is None:
        return ""
    return str(place["file"]) if place["line"] is None else f"{place['file']}:{place['line']}"


def _decisions(decisions: Sequence[Decision], identity: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for decision in decisions:
        if identity in decision.finding_ids:
            found.setdefault(decision.action, []).append(decision.task_id)
    return {action: tuple(tasks) for action, tasks in sorted(found.items())}


def _seen(folder: Path, document: Mapping[str, Any], finding: Finding) -> Seen:
    versions: Iterator[str] = (row["version"] for row in document["checks"] if row["id"] == finding.check)
    benchmark = document["benchmark"]
    return Seen(
        run=str(folder),
        agenthard=document.get("software", {}).get("agenthard", "unknown"),
        benchmark=f"{benchmark['label']} {benchmark['content_hash']}",
        check_version=next(versions, ""),
        has_it=_of(document, finding.id) is not None,
    )
