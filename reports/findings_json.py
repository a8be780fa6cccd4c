"""The JSON twin of the report: the same figures and findings for programs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from agenthard.reports.kit.files import Streamed, write_json_text
from agenthard.reports.places import Place, Places
from agenthard.reports.result import AuditResult
from agenthard.reports.totals import ledger, sentence, totals

SCHEMA_VERSION = 1


def write_findings_json(result: AuditResult, path: Path) -> None:
    """Write the audit's outcome as one JSON document with sorted keys.

    ``findings`` holds the records themselves; ``places`` gives, by finding id, the file and line of each evidence item.

    Args:
        result: the audit.
        path: the file to write.
    """
    write_json_text(path, _document(result), indent=1, sort_keys=True)


def _document(result: AuditResult) -> dict[str, Any]:
    sums, places = totals(result), Places(result)
    counted = [*result.findings, *(each.finding for each in result.suppressed)]
    return {
        "schema_version": SCHEMA_VERSION,
        "benchmark": {"source": result.source, "title": result.title, **result.version.model_dump()},
        "summary": sentence(result, sums),
        "totals": asdict(sums),
        "checks": [
            row.check.model_dump(mode="json", exclude={"doc"})
            | {"ran": row.ran, "of": sums.tasks, "flagged": row.flagged, "clean": row.clean}
            | {"not_checked": row.not_checked, "errors": row.errors, "reasons": [asdict(r) for r in row.reasons]}
            for row in ledger(result)
        ],
        "findings": Streamed(lambda: (finding.model_dump(mode="python") for finding in result.findings)),
        "suppressed": [each.model_dump(mode="json") for each in result.suppressed],
        "tickets": [ticket.model_dump(mode="json") for ticket in result.tickets],
        "places": {f.id: [_place(places.of(item)) for item in f.evidence] for f in counted},
        "models": [row.model_dump() for row in result.models],
        "not_read": [item.model_dump() for item in result.not_read],
        "quarantined": [item.model_dump() for item in result.quarantined],
        "software": dict(result.software),
        "seed": result.seed,
        "settings": dict(result.settings),
        **({"mapping_doubts": list(result.mapping_doubts)} if result.mapping_doubts else {}),
        **({"expired": [each.model_dump(mode="json") for each in result.expired]} if result.expired else {}),
        **({"people": result.people.model_dump(mode="json")} if result.people else {}),
        **({"not_asked": list(result.not_asked)} if result.not_asked else {}),
        "policy": result.policy,
        "taxonomy_version": result.taxonomy.version,
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": place.file, "line": place.line}
