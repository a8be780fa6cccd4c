"""Gather what was measured of each check into audit/detectors/measured.json, from audits of this release.

Usage: python perf/measure_checks.py [--cost RUN]... [--findings NAME=RUN]... [--labels NAME=RUN:LABELS[:TRUTH]]...
       [--held-out NAME=RUN:LABELS[:TRUTH]]... [--seeded RUN:KEY]... [--sample SEED].
RUN is the run folder of an audit, LABELS a file as `agenthard score` reads it, KEY one of `faults plant`. A kind of
figure that no option gives stays as it is in the file. --sample prints up to five findings of each check, drawn from
the runs of --findings: those to read for audit/detectors/readings.jsonl.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.faults.answer_key import PlantedFault
from agenthard.flows.audited_run import read_costs, read_decisions, read_findings
from agenthard.reports.labels import read_labels
from agenthard.taxonomy.finding import Finding

TARGET = Path(__file__).parents[1] / "audit" / "detectors" / "measured.json"
SAMPLE = 5
"""Findings of a check that are read by hand."""

Figures = dict[str, dict[str, Any]]
"""Figures of one kind: by check, then by benchmark, label set or category."""


def costs(runs: Sequence[Path]) -> Figures:
    """Time of each check, by benchmark."""
    figures: Figures = defaultdict(dict)
    for run in runs:
        source = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["source"]
        for check, cost in read_costs(run).items():
            figures[check][source] = cost.model_dump()
    return figures


def real_findings(named: Sequence[tuple[str, Path]]) -> Figures:
    """Findings of each check, by benchmark."""
    figures: Figures = defaultdict(dict)
    for name, run in named:
        found: dict[str, list[Finding]] = defaultdict(list)
        for finding in read_findings(run):
            found[finding.check].append(finding)
        for check, its in found.items():
            figures[check][name] = {
                "findings": len(its),
                "tasks": len({task for finding in its for task in finding.task_ids}),
            }
    return figures


def sample(named: Sequence[tuple[str, Path]], seed: int) -> dict[str, list[tuple[str, Finding]]]:
    """Draw the findings to read; one that several runs have counts once."""
    pool: dict[str, dict[str, tuple[str, Finding]]] = defaultdict(dict)
    for name, run in named:
        for finding in read_findings(run):
            pool[finding.check].setdefault(finding.id, (name, finding))
    return {
        check: [found[each] for each in random.Random(f"{seed}/{check}").sample(sorted(found), min(SAMPLE, len(found)))]
        for check, found in sorted(pool.items())
    }


def agreement(given: Sequence[tuple[str, str]]) -> Figures:
    """Agreement of each check with labels, by label set; ``given`` holds the option and the kind of the data."""
    figures: Figures = defaultdict(dict)
    for text, data in given:
        name, _, rest = text.partition("=")
        run, path, *truth = rest.split(":")
        read = {decision.task_id for decision in read_decisions(Path(run))}
        labels = {
            label.task_id: label.flawed for label in read_labels(Path(path), *truth).labels if label.task_id in read
        }
        flawed = {task_id for task_id, is_flawed in labels.items() if is_flawed}
        flagged: dict[str, set[str]] = defaultdict(set)
        for finding in read_findings(Path(run)):
            flagged[finding.check].update(finding.task_ids)
        for check, tasks in flagged.items():
            if inside := tasks & set(labels):
                figures[check][name] = {
                    "labelled": len(labels),
                    "flawed": len(flawed),
                    "data": data,
                    "flagged": len(inside),
                    "both": len(inside & flawed),
                }
    return figures


def seeded(given: Sequence[str]) -> Figures:
    """Seeded faults that each check finds, by category."""
    figures: Figures = defaultdict(dict)
    for text in given:
        run, _, key = text.partition(":")
        lines = Path(key).read_text(encoding="utf-8").splitlines()
        faults = [PlantedFault.model_validate_json(line) for line in lines]
        planted = Counter(fault.category for fault in faults)
        findings = read_findings(Path(run))
        found: Counter[tuple[str, str]] = Counter()
        for fault in faults:
            categories, tasks = {fault.category, *fault.also}, set(fault.task_ids)
            checks = {f.check for f in findings if f.category in categories and tasks & set(f.task_ids)}
            found.update((check, fault.category) for check in checks)
        for (check, category), count in found.items():
            figures[check][category] = {"planted": planted[category], "found": count}
    return figures


def _named(text: str) -> tuple[str, Path]:
    name, _, run = text.partition("=")
    return name, Path(run)


def main() -> None:
    """Update the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cost", action="append", default=[], type=Path, metavar="RUN")
    parser.add_argument("--findings", action="append", default=[], type=_named, metavar="NAME=RUN")
    parser.add_argument("--labels", action="append", default=[], metavar="NAME=RUN:LABELS[:TRUTH]")
    parser.add_argument("--held-out", action="append", default=[], metavar="NAME=RUN:LABELS[:TRUTH]")
    parser.add_argument("--seeded", action="append", default=[], metavar="RUN:KEY")
    parser.add_argument("--sample", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.sample is not None:
        for check, drawn in sample(options.findings, options.sample).items():
            for name, finding in drawn:
                print(json.dumps({"check": check, "corpus": name, **finding.model_dump(mode="json")}))
        return
    labels = [(text, "development") for text in options.labels] + [(text, "held-out") for text in options.held_out]
    new = {
        "cost": costs(options.cost) if options.cost else None,
        "findings": real_findings(options.findings) if options.findings else None,
        "labels": agreement(labels) if labels else None,
        "seeded": seeded(options.seeded) if options.seeded else None,
    }
    old = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    figures = {
        detector.id: {
            kind: old.get(detector.id, {}).get(kind, {}) if its is None else its.get(detector.id, {})
            for kind, its in new.items()
        }
        for detector in detectors()
    }
    TARGET.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
