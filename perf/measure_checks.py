"""Gather what was measured of each check into audit/detectors/measured.json, from audits of this release.

Usage: python perf/measure_checks.py [--labels NAME=RUN:LABELS[:TRUTH]]...
       [--held-out NAME=RUN:LABELS[:TRUTH]]... [--seeded RUN:KEY]... [RUN ...].
RUN is the run folder of an audit (cost), LABELS a file as `agenthard score` reads it, KEY one of `faults plant`.
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.faults.key import PlantedFault
from agenthard.flows.audited_run import read_costs, read_decisions, read_findings
from agenthard.reports.labels import read_labels

TARGET = Path(__file__).parents[1] / "audit" / "detectors" / "measured.json"


def costs(run: Path) -> dict[str, Any]:
    """Name of the benchmark, and its costs by check."""
    source = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["source"]
    return {"source": source, "costs": {check: cost.model_dump() for check, cost in read_costs(run).items()}}


def flagged(run: Path) -> dict[str, set[str]]:
    """Tasks that each check flags."""
    found: dict[str, set[str]] = defaultdict(set)
    for finding in read_findings(run):
        found[finding.check].update(finding.task_ids)
    return found


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--labels", action="append", default=[], metavar="NAME=RUN:LABELS[:TRUTH]")
    parser.add_argument("--held-out", action="append", default=[], metavar="NAME=RUN:LABELS[:TRUTH]")
    parser.add_argument("--seeded", action="append", default=[], metavar="RUN:KEY")
    options = parser.parse_args()
    figures: dict[str, dict[str, dict[str, Any]]] = {
        detector.id: {"cost": {}, "labels": {}, "seeded": {}} for detector in detectors()
    }
    for run in options.runs:
        measured = costs(run)
        for check, cost in measured["costs"].items():
            figures[check]["cost"][measured["source"]] = cost
    given = [(text, "development") for text in options.labels] + [(text, "held-out") for text in options.held_out]
    for text, data in given:
        name, _, rest = text.partition("=")
        run, path, *truth = rest.split(":")
        read = {decision.task_id for decision in read_decisions(Path(run))}
        labels = {
            label.task_id: label.flawed for label in read_labels(Path(path), *truth).labels if label.task_id in read
        }
        flawed = {task_id for task_id, is_flawed in labels.items() if is_flawed}
        for check, tasks in flagged(Path(run)).items():
            if inside := tasks & set(labels):
                counts = {"flagged": len(inside), "both": len(inside & flawed)}
                figures[check]["labels"][name] = {
                    "labelled": len(labels),
                    "flawed": len(flawed),
                    "data": data,
                    **counts,
                }
    for text in options.seeded:
        run, _, key = text.partition(":")
        lines = Path(key).read_text(encoding="utf-8").splitlines()
        faults = [PlantedFault.model_validate_json(line) for line in lines]
        planted = Counter(fault.category for fault in faults)
        findings = read_findings(Path(run))
        found: Counter[tuple[str, str]] = Counter()
        for fault in faults:
            named, tasks = {fault.category, *fault.also}, set(fault.task_ids)
            checks = {f.check for f in findings if f.category in named and tasks & set(f.task_ids)}
            found.update((check, fault.category) for check in checks)
        for (check, category), count in found.items():
            figures[check]["seeded"][category] = {"planted": planted[category], "found": count}
    TARGET.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
