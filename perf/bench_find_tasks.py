"""How long it takes to reach one task, and a hundred, without reading a benchmark.

Usage: python perf/bench_find_tasks.py. BFCL v3 is read where the corpora folder is there ($AGENTHARD_CORPORA).

CPU seconds of a full read, of one task and of a hundred. Exit code 1 when one of 324 ACE instances takes more than
0.3 CPU seconds, or a hundred tasks of BFCL more than 1.5.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeVar

from machine import corpora

from agenthard.ace import storage
from agenthard.ace.generator import Parameters, generate
from agenthard.audit.sources.registry import open_source

ONE_LIMIT_S, HUNDRED_LIMIT_S = 0.3, 1.5
NATIVE_TASKS = 10_000

T = TypeVar("T")


def main() -> int:
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        suite, native = Path(folder) / "suite", Path(folder) / "native"
        storage.SUITES.write(suite, generate(Parameters()))
        one, _ = measure("ace", suite)
        ok &= one <= ONE_LIMIT_S
        native.mkdir()
        with (native / "tasks.jsonl").open("w", encoding="utf-8") as lines:
            for number in range(NATIVE_TASKS):
                task = {"id": f"t{number}", "benchmark": "made", "user": USER, "environment": {}, **SCORED}
                lines.write(json.dumps(task) + "\n")
        measure("native", native)
    if (files := corpora()) is None:
        print("bfcl: skipped, no corpora folder (set AGENTHARD_CORPORA)")
    else:
        _, hundred = measure("bfcl", files / "bfcl_v3_2025-07-17")
        ok &= hundred <= HUNDRED_LIMIT_S
    return 0 if ok else 1


USER = {"kind": "scripted", "turns": [[{"role": "user", "content": "Hello " * 100}]]}
SCORED = {"evaluation": {}, "ground_truth": {"semantics": "none"}}


def measure(name: str, root: Path) -> tuple[float, float]:
    """Print the times of a source; returns the median of one task and the time of a hundred."""
    tasks, full = timed(lambda: open_source(name, root).read_tasks()[0])
    ids = Random(0).sample([task.id for task in tasks], 100)
    ones = sorted(timed(lambda task_id=task_id: open_source(name, root).task(task_id))[1] for task_id in ids[:5])
    _, hundred = timed(lambda: open_source(name, root).find_tasks(ids))
    print(f"{name}: all {len(tasks):,} tasks {full:.2f} s, one {ones[2]:.2f} s, a hundred {hundred:.2f} s")
    return ones[2], hundred


def timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
