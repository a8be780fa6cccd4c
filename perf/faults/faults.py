"""The faults: kills, signals, a full disk, a server that is gone and comes back, connections that are cut."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perf.faults.job import FINISHED, Job, ended, left_of, moment, wait_for_work
from perf.faults.row import Row
from perf.faults.wire import Wire

FULL = "disk full"
FULL_WORDS = ("No space left on device", "disk is full", "disk I/O error")
"""What system and SQLite say; SQLite has no better word where its shared memory does not fit."""
MOST_KILLS = 3
"""Kills of one run before it is resumed to its end."""
SMALLEST_DISK, ROOM = 8 * 1024, 512 * 1024**2


def kills(job: Job, count: int, rng: random.Random) -> Row:
    """SIGKILL of the process group: half at a random time, half right before a random change of a file."""
    row, tried = Row(job.scenario, job.store, "SIGKILL"), 0
    while row.injected < count and tried < 3 * count:
        out = job.fresh("killed")
        for _ in range(min(rng.randint(1, MOST_KILLS), count - row.injected)):
            tried += 1
            _kill(job, out, rng, row)
            job.look(out, row)
        job.finish(out, row)
    return row


def _kill(job: Job, out: Path, rng: random.Random, row: Row) -> None:
    if rng.random() < 0.5:
        process = job.start_fatal(out, rng.randint(1, job.pace.changes))
    else:
        process = job.start(out)
        working, delay = moment(job, rng)
        if not working or wait_for_work(job, out, process):
            _wait(process, delay)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    end = ended(process)
    if end.code == -signal.SIGKILL:
        row.injected += 1
        row.left_behind += left_of(process)
    else:
        row.too_late += 1
        row.note(end.wrong)


def interrupts(job: Job, count: int, rng: random.Random) -> Row:
    """SIGINT or SIGTERM, as Ctrl-C and service managers send them: one line, exit code 3, no process left."""
    row = Row(job.scenario, job.store, "SIGINT, SIGTERM")
    for _ in range(count):
        out = job.fresh("interrupted")
        process, number = job.start(out), rng.choice((signal.SIGINT, signal.SIGTERM))
        if wait_for_work(job, out, process):
            _wait(process, rng.uniform(0.0, job.pace.work))
        if process.poll() is None:
            process.send_signal(number)
        end = ended(process)
        if end.code in FINISHED or end.code == -number and job.is_done(out):
            row.too_late += 1  # it hit Python while it ended
        else:
            row.injected += 1
            row.left_behind += left_of(process)
            orderly = end.code == 3 and "interrupted" in end.last_line
            row.note("" if orderly else f"{number.name}: exit code {end.code}: {end.error[-400:]}")
        job.look(out, row)
        job.finish(out, row)
    return row


def full_disks(job: Job, count: int, rng: random.Random) -> Row:
    """A file system that is too small for the results; it grows, and the same command is run again."""
    row, tried = Row(job.scenario, job.store, FULL, not_run=why_no_disk()), 0
    if row.not_run:
        return row
    while row.injected < count and tried < 3 * count:
        tried += 1
        shutil.rmtree(job.home / "disk", ignore_errors=True)
        with small_disk(job.home / "disk", ROOM) as disk:
            job.prepare(disk / "out")
            used = shutil.disk_usage(disk).used
            resize(disk, used + rng.randint(SMALLEST_DISK, max(job.size, 2 * SMALLEST_DISK)))
            end = ended(job.start(disk / "out"))
            if end.code in FINISHED:
                row.too_late += 1
            else:
                row.injected += 1
                named = any(words in end.last_line for words in FULL_WORDS)
                row.note("" if end.code == 3 and named else f"full: {end.code}: {end.error[-400:]}")
            resize(disk, ROOM)
            job.look(disk / "out", row)
            job.finish(disk / "out", row)
    return row


def why_no_disk() -> str:
    """Why no small disk can be mounted here; empty where one can."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder]
        if os.geteuid() or subprocess.run(words, capture_output=True, check=False).returncode:
            return "only root can mount a small disk"
        subprocess.run(["umount", "-l", folder], check=True)
    return ""


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a file system of so many bytes."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def resize(folder: Path, size: int) -> None:
    """Give a small disk another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def outages(job: Job, wire: Wire, count: int, rng: random.Random) -> Row:
    """The server of the models is gone while the command works, and comes back some time later."""
    row, tried = Row(job.scenario, job.store, "server gone"), 0
    while row.injected < count and tried < 3 * count:
        tried += 1
        out = job.fresh("outage")
        process = job.start(out)
        if wait_for_work(job, out, process):
            _wait(process, rng.uniform(0.0, job.pace.work))
        row.injected += process.poll() is None
        row.too_late += process.poll() is not None
        wire.down()
        _wait(process, rng.uniform(0.1, 2.5))
        wire.up()
        row.note(ended(process).wrong)
        job.finish(out, row)
    return row


def cut_connections(job: Job, wire: Wire, count: int, rng: random.Random) -> Row:
    """Replies are cut in their middle, one in seven, until so many were."""
    row, tried = Row(job.scenario, job.store, "connection cut"), 0
    while row.injected < count and tried < count:
        tried += 1
        out, before = job.fresh("cut"), wire.cuts
        wire.cut_replies(0.15, rng)
        row.note(ended(job.start(out)).wrong)
        wire.cut_replies(0.0, rng)
        row.injected += wire.cuts - before
        job.finish(out, row)
    return row


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
