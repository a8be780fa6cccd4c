"""Times the shortcut battery on 324 ACE instances (81,000 candidates): python perf/bench_probes.py [FOLDER]

FOLDER holds ACE files in the layout of the paper; without one the instances are generated. Exit code 1 when the battery
takes longer than the limit.
"""

import resource
import sys
import time
from pathlib import Path

from ace.instance import Instance
from ace.probes import candidates_of
from ace.reference_format import read
from audit.probes import read_scene, run_battery

LIMIT = 60.0
"""CPU seconds that the battery may take on 324 instances."""


def main() -> None:
    start = time.process_time()
    instances = from_files(Path(sys.argv[1])) if len(sys.argv) > 1 else generated()
    made = lap("instances", start, len(instances))
    scenes = [read_scene(candidates_of(one), one.id, one.puzzle.instruction) for one in instances]
    adapted = lap("adapting and look-ahead", made, len(instances))
    report = run_battery(scenes)
    lap("battery", adapted, len(instances))
    spent = time.process_time() - adapted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(report.results)} results on {report.choices:,} choices; peak memory {peak:.0f} MiB")
    sys.exit(int(spent > LIMIT))


def from_files(folder: Path) -> list[Instance]:
    files = sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")])
    return [instance for file in files for instance in read(file).instances]


def generated() -> list[Instance]:
    from ace.generator import Parameters, generate

    return list(generate(Parameters(seed=0)))


def lap(what: str, start: float, number: int) -> float:
    now = time.process_time()
    print(f"{what:<26}{now - start:8.2f} CPU s{1000 * (now - start) / max(number, 1):9.1f} ms per instance")
    return now


if __name__ == "__main__":
    main()
