"""CPU seconds and memory of a command, and a unit that makes the seconds of two machines comparable."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ADDITIONS = 20_000_000
CODE = "from agenthard.flows.cli import main; main()"


class Used(NamedTuple):
    """What a command used; of several runs the least."""

    cpu: float
    """CPU seconds, with those of all processes that it started and waited for."""
    mb: float
    """MB of memory of its largest process."""
    unit: float
    """CPU seconds of 20 million additions in pure Python, shortly before."""


def machine_unit() -> float:
    """Return the CPU seconds of 20 million additions in pure Python."""
    start, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - start


def used(words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Used:
    """Run ``agenthard`` with these words in a folder; a command that fails ends the bench.

    Bytecode goes to ``folder / "bytecode"``, so that a first run is the only one that compiles.
    """
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    given |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), **(environment or {})}
    unit = machine_unit()
    with (folder / "output").open("w+b") as output:
        command = [sys.executable, "-P", "-c", CODE, *words]
        process = subprocess.Popen(command, cwd=folder, env=given, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 2):  # 1 and 2 are results of an audit
            output.seek(0)
            sys.exit(f"agenthard {' '.join(words)}: exit code {process.returncode}\n{output.read().decode()[-2000:]}")
    memory = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return Used(usage.ru_utime + usage.ru_stime, memory, unit)


def corpora() -> Path | None:
    """Return the folder of real benchmark files, as tests/conftest.py finds it; None where it is absent."""
    folder = Path(os.environ.get("AGENTHARD_CORPORA") or Path(__file__).parents[2] / "shared" / "corpora")
    return folder.resolve() if folder.is_dir() else None
