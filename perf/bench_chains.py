"""Long plays: 32 chains by each of two scripted agents on two cores, with the memory of all processes.

Usage: python perf/bench_chains.py [--trials N]. Eight trials of four scenarios of our suite by default. Prints the
largest sum of resident memory over the command, its workers, and every program of agents and graders, and what the
command shows while it runs. Exit code 1 above 1.5 GB, or when a chain has no verdict.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evaluations import ENVIRONMENT

from agenthard.agency.packs import packs
from agenthard.agency.suite_files import write_suite

LIMIT_MB = 1500.0
SCENARIOS = ("game", "code", "mcp", "research")
AGENTS = ("reference", "partial")


def resident(root: int) -> float:
    """Sum the resident memory of a process and everything below it, in MB; pages that are shared count each time."""
    parents, pages = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                pages[int(folder.name)] = int((folder / "statm").read_text().split()[1])
            except OSError:
                continue
    below, found = {root}, 0
    while found != len(below):
        found = len(below)
        below |= {each for each, parent in parents.items() if parent in below}
    return sum(pages.get(each, 0) for each in below) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Measure; return 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=8)
    trials = parser.parse_args().trials
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ENVIRONMENT["PREFECT_HOME"] = str(folder / "prefect")
        write_suite([packs()[each] for each in SCENARIOS], folder / "suite")
        command = [sys.executable, "-m", "agenthard", "evaluate", "agency", str(folder / "suite"), "--workers", "2"]
        command += ["--trials", str(trials), "--out", str(folder / "out"), "--set", "rounds=0"]
        command += [word for agent in AGENTS for word in ("--agent", agent)]
        began, most = time.perf_counter(), 0.0
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True)
            while process.poll() is None:
                most = max(most, resident(process.pid))
                time.sleep(0.3)
        wall, lines = time.perf_counter() - began, (folder / "log").read_text().splitlines()
    shown = [line for line in lines if "episodes:" in line]
    print("\n".join(lines[-25:]), "\nshown while it ran, for instance:", *shown[len(shown) // 2 :][:2], sep="\n")
    chains, code = len(SCENARIOS) * trials, process.returncode
    print(f"\n{chains} chains x {len(AGENTS)} agents: exit code {code}, {wall:.0f} s, {most:.0f} MB at most")
    return int(code != 0 or most > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
