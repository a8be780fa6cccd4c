"""One kill at a random moment, the same command again until it ends, and what is left."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 180.0


@dataclass
class Row:
    """What the kills of one scenario did."""

    scenario: str
    kills: int = 0
    ended_before: int = 0
    lost: int = 0
    doubled: int = 0
    bytes_equal: int = 0
    compared: int = 0
    asked_again: int = 0
    left_behind: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing was lost, doubled, different or left."""
        return not (self.lost or self.doubled or self.left_behind or self.problems) and self.compared > 0


def complete(arguments: list[str]) -> tuple[float, str]:
    """Run a command to its end; returns the seconds it took and what is wrong with the end, if anything."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "agenthard", *arguments], capture_output=True, timeout=PATIENCE, check=False
    )
    wrong = "" if done.returncode in (0, 1, 2) else f"exit code {done.returncode}: {done.stderr.decode()[-300:]}"
    return time.monotonic() - began, wrong


def kill_once(arguments: list[str], longest: float, rng: random.Random, row: Row) -> None:
    """SIGKILL the whole group of a command at a random moment of its duration, and count what lives on."""
    command = [sys.executable, "-m", "agenthard", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(rng.uniform(0.05, longest))
        row.ended_before += 1
        return
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    row.kills += 1
    until = time.monotonic() + 10
    while alive(process.pid) and time.monotonic() < until:
        time.sleep(0.05)
    row.left_behind += len(alive(process.pid))


def alive(session: int) -> list[int]:
    """Processes of a session that are not zombies."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if status[0] != "Z" and int(status[3]) == session:
                found.append(int(folder.name))
    return found


def compare(sound: Path, killed: Path, wanted: Callable[[Path], bool], row: Row) -> None:
    """Compare two folders by name and bytes; files of one folder alone are lost or left behind."""
    ours, theirs = digests(killed, wanted), digests(sound, wanted)
    row.compared += 1
    missing, added = theirs.keys() - ours.keys(), ours.keys() - theirs.keys()
    differ = {name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]}
    row.left_behind += len(added)
    row.bytes_equal += not (missing or added or differ)
    if missing or added or differ:
        row.problems.append(f"missing {sorted(missing)}, added {sorted(added)}, different {sorted(differ)}")


def digests(folder: Path, wanted: Callable[[Path], bool]) -> dict[str, str]:
    """Hash the files of a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and wanted(path.relative_to(folder)))
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
