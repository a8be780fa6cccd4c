"""Measure which mutants of the reference solutions of our own suite score as high as the original.

Usage: python perf/measure_suite_mutants.py [NAME ...]
NAMEs are scenarios; without any, all are measured, which takes most of an hour. What is measured replaces its part of
perf/suite_mutants.json. Exit code 1 when more than 5 % of all mutants there score as high as the original.
"""

import json
import sys
import tempfile
from pathlib import Path

from agenthard.agency.suite.catalogue import NAMES, load
from agenthard.agency.suite.mutation import survey

TARGET = Path(__file__).parent / "suite_mutants.json"
MOST = 0.05


def main() -> None:
    """Measure, write, and compare."""
    known = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    for name in sys.argv[1:] or NAMES:
        play = load(name)
        for task in play.scenario.tasks:
            with tempfile.TemporaryDirectory() as folder:
                known[task.id] = survey(play, task, Path(folder)).model_dump(mode="json")
            print(f"{task.id}: {len(known[task.id]['survivors'])} of {known[task.id]['mutants']}", flush=True)
            TARGET.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    survivors = sum(len(each["survivors"]) for each in known.values())
    sys.exit(int(survivors > MOST * sum(each["mutants"] for each in known.values())))


if __name__ == "__main__":
    main()
