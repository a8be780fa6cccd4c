"""Killing worker processes of this machine while something goes on."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def children(of: int) -> Iterator[tuple[int, str]]:
    """All processes below one, with their command lines."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = (int(status[1]), (folder / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    below = {of}
    while new := {pid for pid, (parent, _) in parents.items() if parent in below} - below:
        below |= new
    return ((pid, parents[pid][1]) for pid in sorted(below - {of}) if pid in parents)


@contextmanager
def killing(done: Callable[[], int], chosen: Callable[[str], bool], every: int) -> Iterator[list[int]]:
    """Kill one of the processes below this one whose command line is chosen, whenever some more is done."""
    killed, over = list[int](), threading.Event()

    def kill() -> None:
        while not over.wait(0.05):
            due = done() > every * (len(killed) + 1)
            found = [pid for pid, line in children(os.getpid()) if chosen(line)] if due else []
            if found:
                killed.append(found[len(killed) % len(found)])
                with suppress(ProcessLookupError):
                    os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()
