"""What operating systems do differently: counting processors, locking files, the life of processes."""

import os
import signal
import time
from multiprocessing import parent_process
from threading import Thread
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # anything but Windows
    msvcrt = None  # type: ignore[assignment]

LOCKED_BYTE = 1 << 30
"""Position of the byte that Windows locks, beyond any content, so that the file itself can still be read."""
RETRY_SECONDS = 0.05
"""Pause between two attempts to get a lock where the system cannot wait for it."""


def cpu_count() -> int:
    """Count the processors that this process may use; all of the machine where the system does not say which."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def lock_file(stream: IO[Any], *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file until it is closed. The system releases the lock when the process ends, however it ends.

    Windows has no shared locks of this kind, so they are exclusive there. A system that has neither kind of lock is
    left without one.

    Args:
        stream: The file.
        shared: Let others hold a shared lock at the same time.
        wait: Wait until the lock is free.

    Raises:
        BlockingIOError: Another process holds the lock.
    """
    if fcntl is not None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(stream, kind if wait else kind | fcntl.LOCK_NB)
    elif msvcrt is not None:
        _lock_byte(stream, msvcrt, wait)


def _lock_byte(stream: IO[Any], windows: Any, wait: bool) -> None:
    position = stream.tell()
    stream.seek(LOCKED_BYTE)
    try:
        while True:
            try:
                windows.locking(stream.fileno(), windows.LK_NBLCK, 1)
                return
            except OSError as error:
                if not wait:
                    raise BlockingIOError(error.errno, "locked by another process") from error
                time.sleep(RETRY_SECONDS)
    finally:
        stream.seek(position)


def process_exists(pid: int) -> bool:
    """Tell whether a process exists; on Windows, where asking would end it, yes."""
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def follow_parent() -> None:
    """Leave Ctrl-C to the process that started this one, and end when that one ends, even if it is killed.

    The first call in a process of a pool: without it, the processes of a killed command wait for work forever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
