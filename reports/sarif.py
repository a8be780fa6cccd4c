"""SARIF 2.1.0: every finding as a result at a file and line of the benchmark, for code scanning and editors."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote as url_quote

from agenthard.audit.sources.formats.stored_tasks import index_of
from agenthard.reports.kit.files import Streamed, write_json_text
from agenthard.reports.places import Place, Places
from agenthard.reports.result import AuditResult, CheckInfo
from agenthard.reports.totals import LedgerRow, ledger, totals
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Tier

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_TASKS = 10
"""A cause that touches more tasks is one result with the count and the places of the first ones."""
DATA, RUNS = "%SRCROOT%", "%RUNROOT%"
FINGERPRINT = "agenthardFinding/v1"
"""Name of the fingerprint of a result that holds the id of its finding."""

_LEVELS = {
    (Tier.CONFIRMED, Severity.AFFECTS_SCORE): "error",
    (Tier.CONFIRMED, Severity.MAY_AFFECT_SCORE): "warning",
    (Tier.SUSPECTED, Severity.AFFECTS_SCORE): "warning",
    (Tier.SUSPECTED, Severity.MAY_AFFECT_SCORE): "warning",
}
_PRECISION = {Tier.CONFIRMED: "very-high", Tier.SUSPECTED: "medium", Tier.SIGNAL: "low"}


def level(tier: Tier, severity: Severity) -> str:
    """Map how sure and how grave a finding is to error, warning or note; signals and cosmetic flaws are notes."""
    return _LEVELS.get((tier, severity), "note")


def write_sarif(result: AuditResult, path: Path) -> None:
    """Write all findings as one SARIF log.

    Paths in it are relative to the benchmark's folder (``%SRCROOT%``) or to the runs given (``%RUNROOT%``).

    Args:
        result: the audit.
        path: the file to write.
    """
    write_json_text(path, {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(result)]}, indent=1)


def _run(result: AuditResult) -> dict[str, Any]:
    places = Places(result)
    rules = {check.id: i for i, check in enumerate(result.checks)}
    return {
        "tool": {
            "driver": {
                "name": "AgentHard",
                "version": result.software.get("agenthard", "unknown"),
                "rules": [_rule(result, check) for check in result.checks],
                "supportedTaxonomies": [{"name": "agenthard-taxonomy", "index": 0}],
            }
        },
        "language": "en-US",
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            DATA: {"description": {"text": "Folder of the benchmark that was audited."}},
            RUNS: {"description": {"text": "Folder of the runs that were given."}},
        },
        "taxonomies": [_taxonomy(result)],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": list(_notifications(result)),
                "toolConfigurationNotifications": list(_choices(result)),
            }
        ],
        "artifacts": list(_artifacts(result)),
        "results": Streamed(lambda: _results(result, places, rules)),
        "properties": {
            "benchmark": result.source,
            "benchmarkVersion": result.version.label,
            "benchmarkContentHash": result.version.content_hash,
            "tasks": len(result.tasks),
            "tasksNotRead": totals(result).not_read,
            "tasksLeftOut": totals(result).left_out,
        },
    }


def _results(result: AuditResult, places: Places, rules: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    tickets = {ticket.finding_id: ticket.place for ticket in result.tickets}
    for finding in result.findings:
        yield _result(result, places, finding, rules[finding.check], tickets)
    for each in result.suppressed:
        accepted = {"kind": "external", "status": "accepted", "justification": each.because}
        found = _result(result, places, each.finding, rules[each.finding.check], tickets)
        yield found | {"suppressions": [accepted]}


def _rule(result: AuditResult, check: CheckInfo) -> dict[str, Any]:
    category = result.taxonomy[check.category]
    tags = (category.component, category.id, str(check.tier), str(check.severity), str(check.level))
    return {
        "id": check.id,
        "name": "".join(word.capitalize() for word in check.id.split("-")),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.why or check.title},
        "help": {"text": f"{check.doc or check.title}\n\nCategory: {category.name}. {category.rule}"},
        "defaultConfiguration": {"level": level(check.tier, check.severity)},
        "relationships": [{"target": _taxon(check.category), "kinds": ["relevant"]}],
        "properties": {
            "tags": list(dict.fromkeys(map(str, tags))),  # a component and a level may have one name
            "precision": _PRECISION[check.tier],
            "version": check.version,
        },
    }


def _taxonomy(result: AuditResult) -> dict[str, Any]:
    taxa = [
        {"id": c.id, "name": c.name, "shortDescription": {"text": c.name}, "fullDescription": {"text": c.rule}}
        for c in result.taxonomy.categories
    ]
    return {"name": "agenthard-taxonomy", "version": result.taxonomy.version, "taxa": taxa}


def _taxon(category: str) -> dict[str, Any]:
    return {"id": category, "toolComponent": {"name": "agenthard-taxonomy", "index": 0}}


def _result(
    result: AuditResult, places: Places, finding: Finding, rule: int, tickets: Mapping[str, int]
) -> dict[str, Any]:
    first, *further = finding.evidence
    related = [_evidence_location(places, item) for item in further]
    cited = {item.task_id for item in finding.evidence}
    others = [task_id for task_id in finding.task_ids if task_id not in cited][: max(0, MOST_TASKS - len(cited))]
    for task_id in others:
        place = places.of_task(result.task[task_id])
        related.append(_location(place, task_id, "", f"The task {task_id} is affected too."))
    return {
        "ruleId": finding.check,
        "ruleIndex": rule,
        "level": level(finding.tier, finding.severity),
        "message": {"text": _literal(_message(finding))},
        "locations": [_evidence_location(places, first)],
        "relatedLocations": [{"id": i, **location} for i, location in enumerate(related, start=1)],
        "partialFingerprints": {FINGERPRINT: finding.id},
        "occurrenceCount": max(1, len(finding.task_ids)),
        "taxa": [_taxon(finding.category)],
        "properties": {
            "tags": [finding.category, str(finding.tier), str(finding.severity), str(finding.level)],
            "causeLevel": str(finding.level),
            "decides": list(finding.decides[:MOST_TASKS]),
            **({"ticket": tickets[finding.id]} if finding.id in tickets else {}),
            **({"command": finding.command} if finding.command else {}),
            "taskCount": len(finding.task_ids),
            "tasks": list(finding.task_ids[:MOST_TASKS]),
            "actions": sorted({result.decision[task_id].action for task_id in finding.task_ids}),
            "checkVersion": finding.check_version,
        },
    }


def _message(finding: Finding) -> str:
    ids, count = finding.task_ids, len(finding.task_ids)
    more = f" and {count - MOST_TASKS:,} more" if count > MOST_TASKS else ""
    tasks = f"{count:,} task{'' if count == 1 else 's'}: {', '.join(ids[:MOST_TASKS])}{more}" if ids else "no task"
    fix = f"Suggested fix: {finding.fix}" if finding.fix else ""
    shown = f"Shown again by: {finding.command}" if finding.command else ""
    parts = [finding.claim, finding.why, fix, f"Affects {tasks}.", shown]
    return " ".join(part for part in parts if part)


def _literal(text: str) -> str:
    r"""Prevent text from being read as a placeholder or an embedded link (SARIF 2.1.0, 3.11.5 and 3.11.6).

    >>> _literal("see {0} and [x](http://y), not [1]")
    'see {{0}} and \\[x](http://y), not [1]'
    """
    return re.sub(r"\[(?=[^\[\]]*\]\()", r"\\[", re.sub(r"\{(\d+)\}", r"{{\1}}", text))


def _evidence_location(places: Places, item: Evidence) -> dict[str, Any]:
    words = item.native.text if item.native else item.quote
    quote = words if len(words) <= 300 else words[:300] + " …"
    note = f"{item.note.rstrip('. ')}: " if item.note else ""
    path = f"/runs/{item.trajectory_id}{item.pointer}" if item.trajectory_id else item.pointer
    return _location(places.of(item), item.task_id, path, f"{note}“{quote}”")


def _location(place: Place | None, task_id: str, pointer: str, message: str) -> dict[str, Any]:
    logical = {"name": task_id, "fullyQualifiedName": task_id + pointer, "kind": "object"}
    location: dict[str, Any] = {"logicalLocations": [logical], "message": {"text": _literal(message)}}
    if place is not None:
        location["physicalLocation"] = _physical(place)
    return location


def _physical(place: Place) -> dict[str, Any]:
    base = RUNS if place.of_run else DATA
    region = {} if place.line is None else {"region": {"startLine": place.line}}
    return {"artifactLocation": {"uri": url_quote(place.file), "uriBaseId": base}, **region}


def _artifacts(result: AuditResult) -> Iterator[dict[str, Any]]:
    for name in sorted(index_of(result.tasks).files):
        entry: dict[str, Any] = {"location": {"uri": url_quote(name), "uriBaseId": DATA}}
        path = result.root / name
        if path.resolve().is_relative_to(result.root.resolve()) and path.is_file():
            with path.open("rb") as stream:
                entry["hashes"] = {"sha-256": hashlib.file_digest(stream, "sha256").hexdigest()}
        yield entry


def _notifications(result: AuditResult) -> Iterator[dict[str, Any]]:
    for item in result.quarantined:
        place = Place(item.file, item.line, of_run=item.kind != "task")
        text = _literal(f"A {item.kind} record could not be read: {item.reason}")
        yield {"level": "error", "message": {"text": text}, "locations": [{"physicalLocation": _physical(place)}]}
    for gap in result.not_read:
        count = "" if gap.tasks is None else f" ({gap.tasks:,} task{'' if gap.tasks == 1 else 's'})"
        what = "Left out" if gap.left_out else "Not read"
        text = _literal(f"{what}: {gap.file}{count}: {gap.reason}")
        locations = [{"physicalLocation": _physical(Place(gap.file, None))}]
        yield {"level": "error" if gap.is_gap else "note", "message": {"text": text}, "locations": locations}
    for row in ledger(result):
        yield from _unfinished(row, len(result.tasks))


def _choices(result: AuditResult) -> Iterator[dict[str, Any]]:
    """Yield what the user's choices change; suppressed findings are results with a suppression."""
    for each in result.expired:
        text = _literal(f"A suppression has expired and counts again: {each.words}")
        yield {"level": "warning", "message": {"text": text}}
    if result.not_asked:
        text = f"{len(result.not_asked)} checks were not asked to run: {', '.join(result.not_asked)}"
        yield {"level": "note", "message": {"text": _literal(text)}}


def _unfinished(row: LedgerRow, tasks: int) -> Iterator[dict[str, Any]]:
    for reason in row.reasons:
        text = f"{row.check.id} did not run on {reason.tasks:,} of {tasks:,} tasks: {reason.text}"
        kind = "error" if reason.error else "note"
        yield {"level": kind, "message": {"text": _literal(text)}, "associatedRule": {"id": row.check.id}}
