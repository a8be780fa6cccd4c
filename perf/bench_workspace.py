"""What a snapshot costs: a workspace of 10,000 files, taken cold and warm, restored, and stored over ten attempts.

A restore is set next to the floor: creating and writing the same files from memory, with nothing else. ext4 steps over
every inode that was freed within the last minutes, one by one, so on a disk where much was just deleted the floor alone
may take seconds; `TMPDIR` chooses the place.

Usage: python perf/bench_workspace.py [--files 10000]
Exit code 1 when a warm snapshot takes more than a second, a restore more than a second and twice the floor, or an
unchanged file is stored twice.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from agenthard.agency.workspace import Snapshot, SnapshotStore, difference

MOST_SECONDS = 1.0
MOST_FLOORS = 2.0
ATTEMPTS = 10
ROUNDS = 3


def fill(folder: Path, files: int) -> None:
    """Make files of 200 to 4,200 bytes, a hundred in a folder."""
    for number in range(files):
        place = folder / f"part{number // 100}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"file{number}.txt").write_bytes(f"{number}\n".encode() * (40 + number % 800))


class Seconds(NamedTuple):
    """How long some work took."""

    wall: float
    """By the clock."""
    own: float
    """Of the processor for this program, which tells on a machine that others use."""
    kernel: float
    """Of the processor for the kernel on its behalf: what the file system costs."""

    def __str__(self) -> str:
        """Write all."""
        return f"{self.wall:.2f} s (own {self.own:.2f} s, kernel {self.kernel:.2f} s)"


def timed(work: Callable[[], object]) -> Seconds:
    """Return the seconds of some work."""
    start, used = time.perf_counter(), os.times()
    work()
    wall, now = time.perf_counter() - start, os.times()
    return Seconds(wall, now.user - used.user, now.system - used.system)


def floor(snapshot: Snapshot, contents: Mapping[str, bytes], folder: Path) -> None:
    """Create and write the files of a snapshot, with as few calls as that takes."""
    folder.mkdir()
    for path, entry in snapshot.entries.items():
        if entry.kind == "folder":
            os.mkdir(folder / path)
            continue
        handle = os.open(f"{folder}/{path}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(handle, contents[path])
        os.close(handle)


def listed(rounds: list[Seconds]) -> str:
    """Write what each round took."""
    return ", ".join(map(str, rounds))


def main() -> None:
    """Measure, and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as name:
        work, store = Path(name) / "work", SnapshotStore(Path(name) / "store")
        fill(work, files)
        time.sleep(0.1)
        cold = timed(lambda: store.take(work))
        warm = min(timed(lambda: store.take(work)) for _ in range(3))
        first = store.take(work)
        contents = {path: store.read(first, path) for path, entry in first.entries.items() if entry.kind == "file"}
        floors, fresh = [], []
        for turn in range(ROUNDS):
            floors.append(timed(lambda turn=turn: floor(first, contents, Path(name) / f"floor{turn}")))
            fresh.append(timed(lambda turn=turn: store.restore(first, Path(name) / f"fresh{turn}")))
        for number in range(ATTEMPTS):
            (work / "part0" / f"file{number}.txt").write_text(f"attempt {number}")
            last = store.take(work)
        back = timed(lambda: store.restore(first, work))
        blobs = sum(not each.endswith(".json") for _, _, found in os.walk(Path(name) / "store") for each in found)
        distinct = len({entry.content for entry in first.entries.values() if entry.kind == "file"})
        changed = len(difference(first, last).changed)
    print(f"snapshot of {files} files: cold {cold}, warm {warm}")
    print(f"the floor, writing the same files alone: {listed(floors)}")
    print(f"restore into a new folder: {listed(fresh)}")
    print(f"back from {changed} changed files: {back}")
    print(f"stored over {ATTEMPTS + 1} snapshots: {blobs} contents for {distinct} files and {changed} changes")
    most = max(MOST_SECONDS, MOST_FLOORS * max(each.wall for each in floors))
    slow = max(warm.wall, back.wall) > MOST_SECONDS or min(each.wall for each in fresh) > most
    sys.exit(int(slow or blobs != distinct + changed))


if __name__ == "__main__":
    main()
