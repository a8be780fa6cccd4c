"""The shortcut battery on ACE suites: what it finds, look-ahead with and without coupling, and CPU seconds.

Usage: python perf/bench_probes.py [FOLDER ...]. Runs on 324 generated instances (81,000 candidates), without and with
coupling, and on the folders of reference files; the default are those of the corpora folder ($AGENTHARD_CORPORA), if
they are there. Exit code 1 when a limit is missed.
"""

import resource
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from machine import corpora

from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Instance
from agenthard.ace.probes import candidates_of
from agenthard.ace.reference_format import read
from agenthard.audit.probes import ProbeReport, read_scene, run_battery
from agenthard.audit.probes.report import percent

LIMIT_S = 15.0
"""CPU seconds that the battery may take on 324 instances."""
LOOK_AHEAD_LIMIT = 0.37
"""How often look-ahead may find the answer at B >= 15 on coupled instances."""
NOT_MET = ("learned, trees",)
"""Ways that find more; their figures are published without a limit."""


def main() -> int:
    missed = []
    for coupling in (False, True):
        name = f"ours{', coupled' * coupling}"
        report, spent = battery(name, generate(Parameters(coupling=coupling)))
        if report.give_aways():
            missed.append(f"{name}: shortcuts")
        if spent > LIMIT_S:
            missed.append(f"{name}: CPU seconds")
        found = {way: rate for way, (rate, _, _) in hard_look_ahead(report).items() if way not in NOT_MET}
        if coupling and max(found.values()) > LOOK_AHEAD_LIMIT:
            missed.append("look-ahead")
    for folder in folders():
        battery(f"paper's code, {folder.name}", of_files(folder))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    print(f"missed: {', '.join(missed)}" if missed else "all limits met")
    return bool(missed)


def folders() -> list[Path]:
    if len(sys.argv) > 1:
        return [Path(folder) for folder in sys.argv[1:]]
    files = corpora()
    if files is None:
        print("the paper's code: skipped, no corpora folder (set AGENTHARD_CORPORA)")
        return []
    return sorted((files / "ace_reference").glob("5x*"))


def of_files(folder: Path) -> Iterator[Instance]:
    for file in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
        yield from read(file).instances


def battery(name: str, instances: Iterable[Instance]) -> tuple[ProbeReport, float]:
    """Runs the battery, prints what it found, and returns it with the CPU seconds it took."""
    scenes = [read_scene(candidates_of(one, slack=True), one.id, one.puzzle.instruction) for one in instances]
    start = time.process_time()
    report = run_battery(scenes)
    spent = time.process_time() - start
    outside, judged = report.missed_by_luck()
    print(
        f"{name}: {report.scenes} instances, {report.choices:,} slots, {report.contested} contested; "
        f"battery {spent:.1f} CPU s"
    )
    print(
        f"  {judged - outside} of {judged} 95 % intervals contain chance (by luck alone {0.95 * judged:.0f}); "
        f"shortcuts after correction: {sum(result.found for result in report.results)}"
    )
    for shortcut in report.give_aways()[:5]:
        print(f"  - {shortcut.trait}: {shortcut.best.sentence}")
    for way, (found, guess, number) in hard_look_ahead(report).items():
        print(f"  look-ahead ({way}) at B >= 15: {percent(found)} of {number} slots, at random {percent(guess)}")
    return report, spent


def hard_look_ahead(report: ProbeReport) -> dict[str, tuple[float, float, int]]:
    """By way to look: how often it finds the answer at B >= 15, how often a guess would, and in how many slots."""
    rows = [row for row in report.look_ahead if row.group and int(row.group.removeprefix("B = ")) >= 15]
    found = {}
    for way in sorted({row.way for row in rows}):
        mine = [row for row in rows if row.way == way]
        number = sum(row.n for row in mine)
        rates = (sum(getattr(row, rate) * row.n for row in mine) / number for rate in ("accuracy", "guess"))
        found[way] = (*rates, number)
    return found


if __name__ == "__main__":
    sys.exit(main())
