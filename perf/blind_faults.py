"""Recall on faults that authors planted without knowing the checks: python perf/blind_faults.py FAULTS RUNS [--missed]

FAULTS is a list (JSON Lines) with folder, task_id, component, rule_decidable and description of each fault; RUNS holds
for each folder two run folders of `agenthard audit --experimental`: orig-FOLDER of the benchmark as published and
set-FOLDER of the copy with the faults.

A fault is found when a finding names its task in the copy only: what the benchmark has anyway does not count. So is one
whose task cannot be read any more, because that is reported. It is found *by cause* when such a finding is also of the
fault's component.
A false alarm is a task without a fault that has a finding in the copy only. Prints both as tables, with Wilson's 95 %
intervals; with --missed also the faults that rules could decide and no check found.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy.stats import binomtest


class Audit(NamedTuple):
    """What the audits of one benchmark found, without and with faults."""

    new: dict[str, list[dict[str, Any]]]
    """Findings that only the copy has, by task."""
    tasks: frozenset[str]
    """Its tasks."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    by_folder = defaultdict[str, list[dict[str, Any]]](list)
    for line in options.faults.read_text(encoding="utf-8").splitlines():
        by_folder[json.loads(line)["folder"]].append(json.loads(line))
    rows, missed = list[dict[str, Any]](), list[dict[str, Any]]()
    for folder, faults in sorted(by_folder.items()):
        audit = read(options.runs, folder)
        for fault in faults:
            found = [row for task in own_ids(fault, audit.tasks) for row in audit.new.get(task, [])]
            rows.append({**fault, "found": found})
            missed += [] if found or not fault["rule_decidable"] else [fault]
        faulty = {task for fault in faults for task in own_ids(fault, audit.tasks)}
        false = {task: found for task, found in audit.new.items() if task not in faulty}
        checks = Counter(each["check"] for found in false.values() for each in found)
        print(f"{folder}: new findings on {rate(len(false), len(audit.tasks - faulty))} untouched tasks {dict(checks)}")
    print()
    for decidable in (True, False):
        table([row for row in rows if row["rule_decidable"] is decidable], decidable)
    for fault in missed if options.missed else ():
        print(f"{fault['id']} {fault['folder']} {fault['task_id']} {fault['component']}: {fault['description']}")


def read(runs: Path, folder: str) -> Audit:
    """Read the two audits of a benchmark."""
    tables = [runs / f"{kind}-{folder}" / "tables" for kind in ("orig", "set")]
    before, after = (pd.read_parquet(path / "findings.parquet").to_dict("records") for path in tables)
    known = {(task, row["check"], row["claim"]) for row in before for task in row["task_ids"]}
    new = defaultdict[str, list[dict[str, Any]]](list)
    for row in after:
        for task in row["task_ids"]:
            if (task, row["check"], row["claim"]) not in known:
                new[task].append(row)
    # A finding that tasks share changes its words with every task that joins it: only those that join are new.
    shared = defaultdict[tuple[str, str], set[str]](set)
    for row in before:
        for task in row["task_ids"]:
            shared[task, row["check"]].add(row["category"])
    for task, found in list(new.items()):
        new[task] = [row for row in found if len(row["task_ids"]) == 1 or not shared[task, row["check"]]]
        if not new[task]:
            del new[task]
    published, faulty = (frozenset(pd.read_parquet(path / "tasks.parquet")["id"]) for path in tables)
    for task in published - faulty:
        new[task] = [{"check": "(cannot be read)", "component": "", "task_ids": [task]}]
    return Audit(dict(new), published | faulty)


def own_ids(fault: dict[str, Any], tasks: Collection[str]) -> list[str]:
    """Return the ids that our reader gives to the task of a fault; a scenario is all its tasks."""
    task, places = str(fault["task_id"]), str(fault["file"]).split("/")
    if task in tasks:
        return [task]
    ends = [each for each in tasks if each.endswith(f"/{task}")]
    inside = [each for each in ends if each.split("/")[0] in places] or ends
    found = inside if len(inside) == 1 else [each for each in tasks if each.startswith(f"{task}/")]
    if not found:
        raise SystemExit(f"{fault['id']}: {task!r} of {fault['file']} is none of the tasks, or several: {inside[:5]}")
    return found


def table(rows: list[dict[str, Any]], decidable: bool) -> None:
    """Print how many faults were found, by folder."""
    kind = "rules can decide" if decidable else "need judgement"
    print(f"| {kind} | found | by cause | by checks that are not experimental |")
    print("|---|---|---|---|")
    groups = defaultdict[str, list[dict[str, Any]]](list)
    for row in rows:
        groups[row["folder"]].append(row)
    for name, group in [*sorted(groups.items()), ("**all**", rows)]:
        found = [row for row in group if row["found"]]
        cause = [row for row in found if any(each["component"] == row["component"] for each in row["found"])]
        plain = [row for row in found if any(not is_experimental(each["check"]) for each in row["found"])]
        print(f"| {name} | {rate(len(found), len(group))} | {len(cause)} | {len(plain)} |")
    by = Counter(check for row in rows for check in {each["check"] for each in row["found"]})
    print(f"\nby check: {', '.join(f'{check} {count}' for check, count in by.most_common(25))}\n")


def is_experimental(check: str) -> bool:
    """Tell whether audits run a check only when they are asked to."""
    return check in EXPERIMENTAL


def experimental() -> Iterable[str]:
    """Name the checks without a true finding on real benchmarks."""
    from agenthard.audit.detectors.registry import detectors

    return (check.id for check in detectors() if check.experimental)


def rate(count: int, total: int) -> str:
    """Return a share with its interval."""
    if not total:
        return "0 of 0"
    low, high = binomtest(count, total).proportion_ci(method="wilson")
    return f"{count} of {total} = {count / total:.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    EXPERIMENTAL = frozenset(experimental())
    main()
