"""Processes that play in one run folder: names that they hold until they end, and the lock of the folder."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.taxonomy.system import lock_file


class Worker:
    """A name in a run folder that this process holds until it ends."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = uuid.uuid4().hex
        self._path = folder / self.name
        self._lock: IO[str] = self._path.open("w")
        lock_file(self._lock)

    def close(self) -> None:
        """Give up the name."""
        self._path.unlink(missing_ok=True)
        self._lock.close()


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold the exclusive lock of a run folder while the block runs; wait until it is free."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        lock_file(file, wait=True)
        yield


def release_dead(folder: Path, store: EpisodeStore) -> bool:
    """Release the claims of workers that have ended.

    Returns:
        Whether there were any.
    """
    found = False
    for name in store.claimants():
        path = folder / name
        try:
            with path.open("r+") as lock:
                lock_file(lock)
        except BlockingIOError:
            continue
        except FileNotFoundError:
            pass
        store.release(name)
        path.unlink(missing_ok=True)
        found = True
    return found
