"""What a snapshot costs: a workspace of 10,000 files, taken cold and warm, restored, and stored over ten attempts.

Usage: python perf/bench_workspace.py [--files 10000]
Exit code 1 when a warm snapshot or a restore takes more than a second, or an unchanged file is stored twice.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agenthard.agency.workspace import SnapshotStore, difference

MOST_SECONDS = 1.0
ATTEMPTS = 10


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
    cpu: float
    """Of this process, which tells on a machine that others use."""

    def __str__(self) -> str:
        """Write both."""
        return f"{self.wall:.2f} s (CPU {self.cpu:.2f} s)"


def timed(work: Callable[[], object]) -> Seconds:
    """Return the seconds of some work."""
    start, used = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - start, time.process_time() - used)


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
        fresh = timed(lambda: store.restore(first, Path(name) / "fresh"))
        for number in range(ATTEMPTS):
            (work / "part0" / f"file{number}.txt").write_text(f"attempt {number}")
            last = store.take(work)
        back = timed(lambda: store.restore(first, work))
        blobs = sum(not each.endswith(".json") for _, _, found in os.walk(Path(name) / "store") for each in found)
        distinct = len({entry.content for entry in first.entries.values() if entry.kind == "file"})
        changed = len(difference(first, last).changed)
    print(f"snapshot of {files} files: cold {cold}, warm {warm}")
    print(f"restore into a new folder: {fresh}; back from {changed} changed files: {back}")
    print(f"stored over {ATTEMPTS + 1} snapshots: {blobs} contents for {distinct} files and {changed} changes")
    slow = max(each.wall for each in (warm, fresh, back)) > MOST_SECONDS
    sys.exit(int(slow or blobs != distinct + changed))


if __name__ == "__main__":
    main()
