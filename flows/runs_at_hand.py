"""Run folders at hand: which of them has a finding, and which audits of a benchmark have had it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agenthard.flows.errors import CommandError
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
    suppressed: bool = False
    """Whether it does not count there, in any of its tasks."""


def is_finding_id(text: str) -> bool:
    """Tell whether a text looks like the id of a finding."""
    return _ID.fullmatch(text) is not None


def find_run(identity: str, run: Path | None = None) -> Path:
    """Return the run folder that has a finding.

    Args:
        identity: id of the finding.
        run: run folder to look into; None = those in the current folder and two levels below it, such as
            ``runs/NAME``, the newest that has it.

    Raises:
        CommandError: no run folder has it.
    """
    if run is not None and not (run / FINDINGS).is_file():
        raise CommandError(f"{run}: no finished audit here ({FINDINGS} is missing); run `agenthard audit` first")
    documents = {run: _document(run)} if run else _at_hand(Path(), (FINDINGS, f"*/{FINDINGS}", f"*/*/{FINDINGS}"))
    having = [folder for folder, document in documents.items() if _has(document, identity)]
    if not having:
        where = str(run) if run else f"the {len(documents)} run folders in and below {Path.cwd()}"
        raise CommandError(f"no finding {identity!r} in {where}; `agenthard findings RUN` lists those of a run")
    return having[-1]


def history(finding: Finding, run: Path) -> tuple[Seen, ...]:
    """Tell which audits of a benchmark have a finding: that of a run folder, and those next to it, oldest first."""
    documents = _at_hand(run.parent, (f"*/{FINDINGS}",))
    same = {folder.resolve() for folder in documents}
    if run.resolve() not in same:
        documents[run] = _document(run)
    source = _document(run)["benchmark"]["source"]
    return tuple(
        _seen(folder, document, finding)
        for folder, document in documents.items()
        if document["benchmark"]["source"] == source
    )


def _at_hand(root: Path, patterns: tuple[str, ...]) -> dict[Path, dict[str, Any]]:
    """Read the findings of the run folders that match, oldest first."""
    files = [path for pattern in patterns for path in root.glob(pattern) if path.is_file()]
    dated = sorted((path.stat().st_mtime_ns, str(path), path.parent) for path in files)
    read = {folder: _read(folder) for _, _, folder in dated}
    return {folder: document for folder, document in read.items() if document is not None}


def _read(folder: Path) -> dict[str, Any] | None:
    """Read the findings of a folder; None where the file is not that of an audit."""
    try:
        document = _document(folder)
    except (OSError, ValueError):
        return None
    is_audit = isinstance(document, dict) and {"benchmark", "findings", "checks"} <= document.keys()
    return document if is_audit else None


def _document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    return found


def _has(document: Mapping[str, Any], identity: str) -> bool:
    return any(item["id"] == identity for item in document["findings"]) or _is_suppressed(document, identity)


def _is_suppressed(document: Mapping[str, Any], identity: str) -> bool:
    return any(each["finding"]["id"] == identity for each in document.get("suppressed", ()))


def _seen(folder: Path, document: Mapping[str, Any], finding: Finding) -> Seen:
    versions: Iterator[str] = (row["version"] for row in document["checks"] if row["id"] == finding.check)
    benchmark = document["benchmark"]
    return Seen(
        run=str(folder),
        agenthard=document.get("software", {}).get("agenthard", "unknown"),
        benchmark=f"{benchmark['label']} {benchmark['content_hash']}",
        check_version=next(versions, ""),
        has_it=_has(document, finding.id),
        suppressed=_is_suppressed(document, finding.id),
    )
