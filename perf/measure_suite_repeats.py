"""Grade solutions of all tasks of our own suite again and again, each time in another random order.

Usage: python perf/measure_suite_repeats.py [--runs 10]
Writes perf/suite_repeats.json, of which docs/agency-suite.md tells. Exit code 1 when a score is not the stated one.
"""

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from agenthard.agency.suite.catalogue import REFERENCE, expected, grade_solution, load_all

TARGET = Path(__file__).parent / "suite_repeats.json"
SOLUTIONS = (REFERENCE, "partial")
NEAR = 1e-6


def main() -> None:
    """Grade, compare, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    runs, stated = parser.parse_args().runs, expected()
    cases = [(play, task, name) for play in load_all() for task in play.scenario.tasks for name in SOLUTIONS]
    different: list[str] = []
    for turn in range(runs):
        random.Random(turn).shuffle(cases)
        for play, task, name in cases:
            with tempfile.TemporaryDirectory() as folder:
                score = grade_solution(play, task, name, Path(folder)).score
            if abs(score - stated[task.id, name]) > NEAR:
                different.append(f"{task.id} {name}: {score:g} in run {turn + 1}")
        print(f"run {turn + 1}: {len(cases)} grades, {len(different)} different so far", flush=True)
    found = {"runs": runs, "tasks": len(cases) // len(SOLUTIONS), "solutions": SOLUTIONS, "different": different}
    TARGET.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit(int(bool(different)))


if __name__ == "__main__":
    main()
