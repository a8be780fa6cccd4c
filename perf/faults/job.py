"""A command that is disturbed: how it is started, when it is at work, and what it has to leave in the end."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agenthard.flows.errors import CommandError
from agenthard.flows.run_status import run_status
from agenthard.flows.verification import verify_run
from perf.faults.row import Row

PATIENCE = 180.0
"""Seconds after which a command counts as hanging."""
FINISHED = (0, 1, 2)
"""Exit codes of commands that have done their work: 1 and 2 say what they found."""
HERE = Path(__file__).parent


class Pace(NamedTuple):
    """How an undisturbed command spends its time."""

    start: float
    """Seconds until it works in its folder."""
    work: float
    """Seconds from then to its end."""
    changes: int
    """Changes of the file system that its main process makes."""


class Ended(NamedTuple):
    """The end of a command."""

    code: int
    error: str

    @property
    def last_line(self) -> str:
        """The message with which it ended; empty for a traceback. Lines of progress come before it."""
        lines = self.error.split("\n") if "Traceback" not in self.error else []
        return next((line for line in reversed(lines) if line.strip()), "")

    @property
    def wrong(self) -> str:
        """What is wrong with it, if anything."""
        if self.code in FINISHED and "Traceback" not in self.error:
            return ""
        return f"exit code {self.code}: {self.error[-400:]}"


def reports(out: Path, pid: int) -> bool:
    """Whether the process says in ``work/status.json`` that it works in the folder."""
    try:
        return bool(json.loads((out / "work" / "status.json").read_bytes())["pid"] == pid)
    except (OSError, ValueError):
        return False


@dataclass
class Job:
    """A command with one folder to write, which can be repeated in new folders."""

    scenario: str
    words: Callable[[Path], list[str]]
    """Its arguments, for the folder to write."""
    hashes: Callable[[Path], dict[str, str]]
    """Hashes of what has to be equal to that of an undisturbed run."""
    home: Path
    """Folder in which it is repeated."""
    store: str = "files"
    count: Callable[[Path, Row], None] = lambda out, row: None
    """Counts what is lost and doubled in the end."""
    prepare: Callable[[Path], None] = lambda out: None
    """Makes what is there before the command starts."""
    begun: Callable[[Path, int], bool] = reports
    """Whether a process works in the folder."""
    whole: Callable[[Path], str] = lambda out: ""
    """Says what is wrong with the folder right after a kill."""
    is_run: bool = True
    """Whether the folder is a run folder, which `agenthard status` and `verify` read."""
    expected: dict[str, str] = field(default_factory=dict)
    """Hashes of the files of an undisturbed run."""
    size: int = 0
    """Size of the folder of an undisturbed run."""
    pace: Pace = Pace(0.0, 0.0, 0)

    def start(self, out: Path) -> "subprocess.Popen[bytes]":
        """Start it in a process group of its own."""
        return _start([sys.executable, "-m", "agenthard", *self.words(out)], out.parent)

    def start_fatal(self, out: Path, change: int) -> "subprocess.Popen[bytes]":
        """Start it so that it dies right before the N-th change of a file; 0: it counts the changes."""
        given = [str(change), str(out.parent), str(self.home / "changes"), "--"]
        return _start([sys.executable, str(HERE / "fatal.py"), *given, *self.words(out)], out.parent)

    def measure(self) -> str:
        """Run it undisturbed, twice: for its pace and bytes, and to count its changes; says what is wrong."""
        began, out = time.monotonic(), self.fresh("undisturbed")
        process = self.start(out)
        while not self.begun(out, process.pid) and process.poll() is None:
            time.sleep(0.01)
        start = time.monotonic() - began
        wrong = ended(process).wrong
        work = time.monotonic() - began - start
        self.expected = self.hashes(out)
        self.size = sum(path.stat().st_blocks * 512 for path in out.rglob("*") if path.is_file())
        counted = self.fresh("counted")
        wrong = wrong or ended(self.start_fatal(counted, 0)).wrong
        if self.hashes(counted) != self.expected:
            wrong = wrong or "two undisturbed runs differ"
        self.pace = Pace(start, work, int((self.home / "changes").read_text()))
        return wrong

    def fresh(self, name: str) -> Path:
        """A new folder to write, with what has to be there before."""
        parent = self.home / name
        shutil.rmtree(parent, ignore_errors=True)
        parent.mkdir(parents=True)
        self.prepare(parent / "out")
        return parent / "out"

    def finish(self, out: Path, row: Row) -> None:
        """Run it to its end, and compare."""
        row.note(ended(self.start(out)).wrong)
        row.compare(self.expected, self.hashes(out))
        self.count(out, row)
        if self.is_run:
            found = verify_run(out)
            if run_status(out).state != "finished" or not found.intact or not found.files or found.unfinished:
                row.untrue += 1
                row.note(f"after the end: {run_status(out).state}, {found.faults}, {found.unfinished}")

    def is_done(self, out: Path) -> bool:
        """Whether the files are those of an undisturbed run."""
        return self.hashes(out) == self.expected

    def look(self, out: Path, row: Row) -> None:
        """Look at what a kill has left: is what we say about it true?"""
        row.note(self.whole(out))
        if not self.is_run or not out.exists():
            return
        try:
            state, found = run_status(out).state, verify_run(out)
        except CommandError:
            return  # nothing has begun there yet
        if state not in ("interrupted", "failed") and not self.is_done(out):
            row.untrue += 1
            row.note(f"status says {state}, and the run is not finished")
        if found.faults:
            row.untrue += 1
            row.note(f"verify names faults of a run that was only killed: {found.faults[:3]}")
        told = found.unfinished or any("did not end" in gap for gap in found.not_checked)
        if not told and not self.is_done(out):
            row.untrue += 1
            row.note("verify does not say that the run is not finished")


def _start(command: list[str], here: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def ended(process: "subprocess.Popen[bytes]") -> Ended:
    """Wait for the end of a command; one that hangs is killed."""
    try:
        _, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Ended(-1, f"did not end within {PATIENCE:.0f} s")
    return Ended(process.returncode, error.decode(errors="replace"))


def wait_for_work(job: Job, out: Path, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until the command works in its folder; False when it ended before."""
    while process.poll() is None:
        if job.begun(out, process.pid):
            return True
        time.sleep(0.005)
    return False


def left_of(process: "subprocess.Popen[bytes]") -> int:
    """How many processes of a command's session live on ten seconds after its death."""
    until = time.monotonic() + 10
    while (left := _alive(process.pid)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def _alive(session: int) -> int:
    found = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found += status[0] != "Z" and int(status[3]) == session
    return found


def moment(job: Job, rng: random.Random) -> tuple[bool, float]:
    """Draw when a fault comes: whether only while the command works in its folder, and after how many seconds."""
    working = rng.random() < 0.8
    return working, rng.uniform(0.0, job.pace.work if working else job.pace.start + job.pace.work)
