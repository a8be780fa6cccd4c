"""Who is at work on a run folder, and who is dead: a worker holds a lock that the system takes back when it ends.

So neither a clock nor a process number is needed to tell that the episodes of a killed process may be taken again.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.taxonomy.system import lock_file


class Worker:
    """A name in a run folder, held by this process until it ends."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = uuid.uuid4().hex
        self._path = folder / self.name
        self._lock: IO[str] = self._path.open("w")
        lock_file(self._lock)

    def close(self) -> None:
        """Give the name up."""
        self._path.unlink(missing_ok=True)
        self._lock.close()


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Do something in a run folder while no other process does such a thing; wait for the one that is at it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        lock_file(file, wait=True)
        yield


def release_dead(folder: Path, store: EpisodeStore) -> bool:
    """Give back the episodes of workers that are no more.

    Returns:
        True when there were any.
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
