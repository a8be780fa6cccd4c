"""CPU seconds, memory and disk of commands, with their targets, against committed figures: make bench

Usage: python perf/bench_commands.py [NAME ...] [--long] [--update]. NAME begins the names of the rows to measure;
default: the quick ones. --long adds those that take minutes. --update records the figures in figures.json instead of
comparing with them. Rows on real benchmarks need the corpora folder ($AGENTHARD_CORPORA, else ../shared/corpora).

The first run of a quick row writes bytecode, the best of three further runs counts; a long row is run once. CPU seconds
are compared in units of the machine, which are measured before each run. Exit code 1 when something takes more than
20 % more than recorded. Targets are printed only: they are seconds of the machine on which they were set.

Targets that are not a figure of one command are elsewhere: bench_isolation.py (a contained replay takes at most
three times as long as a bare one), bench_growth.py --workers 2 (1.7 x as fast), bench_growth.py 1000000 (below 1 GB).
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench_growth import write_library
from machine import Used, corpora, used

FIGURES = Path(__file__).with_name("figures.json")
TOLERATED = 1.2
RUNS = 3
DEMO = "import pathlib, sys; from agenthard.flows.demo import write_demo; write_demo(pathlib.Path(sys.argv[1]))"
JUDGES = Path(__file__).parents[1] / "docs" / "examples" / "judges.yaml"


@dataclass(frozen=True)
class Row:
    """A command and its target."""

    name: str
    words: str
    """What is typed; {corpora} is the folder of real benchmarks."""
    seconds: float
    """Target: CPU seconds."""
    mb: int | None = None
    """Target: MB of memory."""
    disk: int | None = None
    """Target: MB of the folder after --out."""
    needs: tuple[str, ...] = ()
    """What `PREPARED` makes beforehand."""
    long: bool = False
    """Whether it takes a minute or more."""
    executes: bool = True
    """Whether installed environments of benchmarks are seen."""


BFCL = "audit bfcl {corpora}/bfcl_v3_2025-07-17 --workers 1"
ROWS = [
    Row("--help", "--help", 0.3),
    Row("explain a code", "explain AH101", 1.0),
    Row("audit, 60 tasks", "audit native demo --workers 1 --out run", 2.0, 130, needs=("demo",)),
    Row("report, 8 models", "report audited", 4.0, needs=("audited",)),
    Row("replay, 1 of 324 ACE tasks", "replay ace suite course_r5_c7_h1_b0", 1.0, needs=("suite",)),
    Row("BFCL base executed", BFCL + " --domain multi_turn_base --out base", 14, long=True),
    Row("BFCL v3 executed", BFCL + " --out bfcl", 90, 400, long=True),
    Row("BFCL v3 static", BFCL + " --out static", 30, 300, long=True, executes=False),
    Row(
        "judge export, 100 of 4,441",
        f"judge export static --judges {JUDGES} --sample 100 --workers 1 --out requests.jsonl",
        3.0,
        needs=("static",),
        long=True,
        executes=False,
    ),
    Row("10,000 tasks of 1 kB", "audit native library --workers 1 --out run", 60, 300, 20, ("library",), long=True),
    Row("ace probe, 324 instances", "ace probe suite", 15, needs=("suite",), long=True),
]


def _audited(folder: Path) -> None:
    _prepare(folder, "demo")
    used("audit native demo --runs demo/runs.jsonl --experimental --out audited".split(), folder)


def _static(folder: Path) -> None:
    used((BFCL + " --out static").format(corpora=corpora()).split(), folder, _home(folder))


PREPARED: dict[str, Callable[[Path], object]] = {
    # In a process of its own: the memory of this one would count as that of the commands.
    "demo": lambda folder: subprocess.run([sys.executable, "-c", DEMO, folder / "demo"], check=True),
    "audited": _audited,
    "suite": lambda folder: used("ace generate --out suite".split(), folder),
    "library": lambda folder: write_library(folder / "library", 10_000),
    "static": _static,
}
"""Folders that rows need, by name, and what makes them."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    known = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    slower = []
    with tempfile.TemporaryDirectory() as name:
        for row in _chosen(options.names, options.long):
            if "{corpora}" in row.words or "static" in row.needs:
                if corpora() is None:
                    print(f"{row.name:28} skipped: no corpora folder (set AGENTHARD_CORPORA)")
                    continue
            found = figures(row, Path(name))
            worse = [] if options.update else grown(found, known.get(row.name, {}))
            slower += [f"{row.name}: {', '.join(worse)}"] if worse else []
            print(_line(row, found, known.get(row.name), worse), flush=True)
            if options.update:
                known[row.name] = found
                FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print("\n".join(["", "more than 20 % above the recorded figures:", *slower]) if slower else "")
    return 1 if slower else 0


def _chosen(names: list[str], long: bool) -> list[Row]:
    if names:
        return [row for row in ROWS if row.name.startswith(tuple(names))]
    return [row for row in ROWS if long or not row.long]


def figures(row: Row, folder: Path) -> dict[str, float]:
    """Measure a row: CPU seconds, MB of memory, unit of the machine, and MB of the folder that it writes."""
    for need in row.needs:
        _prepare(folder, need)
    words = row.words.format(corpora=corpora()).split()
    out = folder / words[words.index("--out") + 1] if "--out" in words else None
    runs = list[Used]()
    for _ in range(1 if row.long else 1 + RUNS):
        if out is not None and out.is_dir():
            shutil.rmtree(out)
        runs.append(used(words, folder, None if row.executes else _home(folder)))
    best = Used(*(min(each) for each in zip(*runs[-RUNS:], strict=True)))
    found = {key: round(value, 3) for key, value in best._asdict().items()}
    if row.disk:
        found["disk"] = round(
            sum(path.stat().st_size for path in (out or folder).rglob("*") if path.is_file()) / 1e6, 1
        )
    return found


def grown(found: dict[str, float], before: dict[str, float]) -> list[str]:
    """Say which figures are more than 20 % above the recorded ones; seconds are compared in units of the machine."""
    if not before:
        return []
    shares = {
        "CPU": (found["cpu"] / found["unit"]) / (before["cpu"] / before["unit"]),
        "memory": found["mb"] / before["mb"],
        "disk": found.get("disk", 1) / before.get("disk", found.get("disk", 1)),
    }
    return [f"{what} {share - 1:+.0%}" for what, share in shares.items() if share > TOLERATED]


def _line(row: Row, found: dict[str, float], before: dict[str, float] | None, worse: list[str]) -> str:
    target = ", ".join(
        f"{value} {unit}" for value, unit in ((row.seconds, "s"), (row.mb, "MB"), (row.disk, "MB on disk")) if value
    )
    missed = found["cpu"] > row.seconds or (row.mb and found["mb"] > row.mb) or found.get("disk", 0) > (row.disk or 1e9)
    disk = f" {found['disk']:.0f} MB on disk" if "disk" in found else ""
    then = f"; recorded {before['cpu']:.2f} s × {found['unit'] / before['unit']:.2f}" if before else ""
    return (
        f"{row.name:28}{found['cpu']:8.2f} s {found['mb']:5.0f} MB{disk}; target {target}{' (missed)' * bool(missed)}"
        f"{then}{'; ' + ', '.join(worse) if worse else ''}"
    )


def _prepare(folder: Path, need: str) -> None:
    if not (folder / need).exists():
        PREPARED[need](folder)


def _home(folder: Path) -> dict[str, str]:
    (folder / "home").mkdir(exist_ok=True)
    return {"HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "home")}


if __name__ == "__main__":
    sys.exit(main())
