"""CPU seconds of the paper's ACE-Bench suite, proofs included; two processes; memory; large grids; verification.

Usage: python perf/bench_ace_generate.py [FOLDER]. FOLDER holds reference files, to be verified; the default is that of
the corpora folder ($AGENTHARD_CORPORA), if it is there. Exit code 1 when a limit is missed. The speed-up over two
processes is wall time and means something only on a machine that has two idle cores, so it is shown and not judged.
"""

import os
import resource
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from agenthard.ace.generator import ImpossibleParametersError, Parameters, generate
from agenthard.ace.instance import Instance
from agenthard.ace.proof import verify
from agenthard.ace.reference_format import read

SUITE = Parameters()
SUITE_LIMIT_S, MEMORY_LIMIT_MB = 15.0, 500.0
REFERENCE_S = 1350.0
"""CPU seconds that the paper's code needs for such a suite, without a proof (0.24 instances per second)."""
STREAM = Parameters(hidden_slots=(5,), decoy_budgets=(4,), per_cell=1667)
LARGE = ((7, 10, 21, 60), (7, 10, 35, 25), (7, 10, 35, 60), (7, 10, 70, 60), (5, 7, 35, 60))
"""Rows, columns, H and B of large instances."""


def memory_mb() -> float:
    """Most memory of this process, and of the largest of its children that have ended."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def timed(instances: Iterator[Instance]) -> tuple[int, float, float]:
    wall, cpu = time.perf_counter(), cpu_s()
    count = sum(1 for _ in instances)
    return count, time.perf_counter() - wall, cpu_s() - cpu


def main() -> int:
    missed = [*suite(), *stream()]
    large()
    missed += verification()
    print(f"missed: {', '.join(missed)}" if missed else "all limits met")
    return bool(missed)


def suite() -> Iterator[str]:
    rounds = [(timed(generate(SUITE)), timed(generate(SUITE, workers=2))) for _ in range(3)]
    count = rounds[0][0][0]
    cpu = statistics.median(one[2] for one, _ in rounds)
    print(
        f"{count} instances 5x7, proved: {cpu:.1f} CPU s (limit {SUITE_LIMIT_S:.0f}), "
        f"{REFERENCE_S / cpu:.0f} times as fast as the paper's code ({REFERENCE_S:.0f} CPU s, no proof)"
    )
    for size, measured in ((SUITE, rounds), (SUITE.model_copy(update={"per_cell": 5}), None)):
        for one, two in measured or [(timed(generate(size)), timed(generate(size, workers=2)))]:
            print(
                f"{size.count} instances, two processes: {one[1]:.1f} -> {two[1]:.1f} s wall, {one[1] / two[1]:.2f} "
                f"times as fast; {one[2]:.1f} -> {two[2]:.1f} CPU s; load {os.getloadavg()[0]:.1f}"
            )
    _, _, coupled = timed(generate(SUITE.model_copy(update={"coupling": True})))
    print(f"with coupling: {coupled:.1f} CPU s")
    if cpu > SUITE_LIMIT_S:
        yield "suite"


def stream() -> Iterator[str]:
    early = 0.0
    for number, _ in enumerate(generate(STREAM), start=1):
        if number == 1000:
            early = memory_mb()
    late = memory_mb()
    print(f"stream of {number} instances: {late:.0f} MB (limit {MEMORY_LIMIT_MB:.0f}), {early:.0f} MB after 1000")
    if late > MEMORY_LIMIT_MB:
        yield "memory"


def large() -> None:
    for rows, cols, hidden, budget in LARGE:
        for coupling in (False, True):
            asked = {"rows": rows, "cols": cols, "hidden_slots": (hidden,), "decoy_budgets": (budget,)}
            each = [
                timed(generate(Parameters(**asked, candidates=31, coupling=coupling, domains=(domain,))))[2]
                for domain in SUITE.domains
            ]
            print(
                f"{rows}x{cols}, H = {hidden}, B = {budget}, K = 31{', coupled' * coupling}: six domains, "
                f"{statistics.mean(each) * 1000:.0f} CPU ms each, at most {max(each) * 1000:.0f}; {memory_mb():.0f} MB"
            )
    try:
        Parameters(rows=7, cols=10, hidden_slots=(35,), decoy_budgets=(60,))
    except ImpossibleParametersError as refused:
        print(f"refused: {refused}")


def verification() -> Iterator[str]:
    made = list(generate(SUITE.model_copy(update={"domains": ("meal",)})))
    start = time.process_time()
    assert all(verify(instance).ok for instance in made)
    print(f"verification of ours: {len(made) / (time.process_time() - start):.0f} instances per CPU s")
    corpora = Path(os.environ.get("AGENTHARD_CORPORA") or Path(__file__).parents[2] / "shared" / "corpora")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else corpora / "ace_reference"
    files = sorted([*folder.rglob("*_dataset_*.json"), *folder.rglob("*_dataset_*.json.gz")])
    if not files:
        print("verification of reference files: none here")
        return
    instances = [instance for file in files for instance in read(file).instances]
    start = time.process_time()
    reports = [verify(instance) for instance in instances]
    speed = len(reports) / (time.process_time() - start)
    hard, unique = sum(len(report.hard) for report in reports), sum(report.unique for report in reports)
    false = sum(problem.kind == "stage" for report in reports for problem in report.problems)
    print(
        f"verification of {len(reports)} reference instances: {hard} hard violations, {unique} unique, "
        f"{false} false preference labels; {speed:.0f} instances per CPU s"
    )
    if hard or unique < len(reports):
        yield "verification of reference files"


if __name__ == "__main__":
    sys.exit(main())
