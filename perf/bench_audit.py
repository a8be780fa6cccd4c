"""How long reading and each detector take on BFCL v3 (or on the demo benchmark where no BFCL is at hand).

Usage: python perf/bench_audit.py [FOLDER]; the default is what `agenthard fetch bfcl` brought.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.fetch import fetched
from agenthard.audit.sources.registry import open_source
from agenthard.flows.demo import write_demo


def main() -> None:
    found = fetched("bfcl")
    with tempfile.TemporaryDirectory() as scratch:
        if len(sys.argv) > 1:
            name, folder = "bfcl", Path(sys.argv[1])
        elif found:
            name, folder = "bfcl", found[-1].data
        else:
            name, folder = "native", write_demo(Path(scratch)).root
        measure(name, folder)


def measure(name: str, folder: Path) -> None:
    start = time.process_time()
    tasks = list(open_source(name, folder).tasks(Quarantine()))
    reading = time.process_time() - start
    print(f"{name}: {len(tasks):,} tasks")
    print(f"{'reading':<30}{reading:8.2f} CPU s   1.00 x reading")
    for detector in detectors():
        start = time.process_time()
        shards = [check_shard(tasks[i : i + 500], {}, [detector]) for i in range(0, len(tasks), 500)]
        conclude(name, [task.id for task in tasks], shards, [detector])
        spent = time.process_time() - start
        print(f"{detector.id:<30}{spent:8.2f} CPU s {spent / reading:6.2f} x reading")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
