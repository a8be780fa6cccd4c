"""Prints CPU seconds and memory of small commands next to their targets: python perf/bench_startup.py

The first run of each command writes its bytecode; the best of three further runs counts. Exit code 1 when a target is
missed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = "import pathlib, sys; from agenthard.flows.demo import write_demo; write_demo(pathlib.Path(sys.argv[1]))"
CODE = "from agenthard.flows.cli import main; main()"
COMMANDS: dict[str, tuple[tuple[str, ...], float, int | None]] = {
    "--help": (("--help",), 0.3, None),
    "audit --help": (("audit", "--help"), 0.3, None),
    "audit, 60 tasks": (("audit", "native", "demo", "--workers", "1", "--out", "run"), 2.0, 130),
    "report, 8 models": (("report", "runs"), 4.0, None),
}
"""Words, most CPU seconds, and most MB of memory by name."""


def used(words: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Run a command; return its CPU seconds and MB of memory."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    shutil.rmtree(folder / "run", ignore_errors=True)
    with (folder / "output").open("wb") as output:
        command = [sys.executable, "-P", "-c", CODE, *words]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: the memory of this one would count as that of the commands.
        subprocess.run([sys.executable, "-c", DEMO, str(folder / "demo")], check=True)
        runs = ("--runs", str(folder / "demo" / "runs.jsonl"))
        used(("audit", "native", "demo", *runs, "--experimental", "--out", "runs"), folder)
        for title, (words, seconds, memory) in COMMANDS.items():
            taken, held = min([used(words, folder) for _ in range(4)][1:])
            good = taken <= seconds and (memory is None or held <= memory)
            missed += not good
            target = f"{seconds} s" + (f", {memory} MB" if memory else "")
            print(f"{title:18} {taken:6.2f} s {held:5.0f} MB   target {target:14} {'' if good else 'missed'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
