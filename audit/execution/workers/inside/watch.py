"""Watches benchmark code through audit events, and ends the process at the first forbidden act.

The process ends instead of getting an exception, because benchmark code that swallows exceptions would turn a refusal
into an ordinary result. Runs under the benchmark's interpreter and must not import our package.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

FORBIDDEN = {
    "socket.": "use a socket",
    "subprocess.": "start a process",
    "pty.": "start a process",
    "os.fork": "fork",
    "os.posix_spawn": "start a process",
    "os.exec": "start a program",
    "os.system": "start a process",
    "os.spawn": "start a process",
    "os.startfile": "start a process",
    "os.kill": "signal a process",
    "os.killpg": "signal a process",
    "signal.pthread_kill": "signal a process",
    "ctypes.": "call native code",
}
"""Beginnings of the names of audit events, and what they mean."""

NATIVE = frozenset({"_ctypes", "_testcapi", "ctypes", "cffi", "_cffi_backend"})
"""Modules through which Python calls native code; from addresses it does so without any further event."""

CHANGES = ("os.remove os.rename os.mkdir os.rmdir os.link os.symlink os.truncate os.chmod os.chown os.utime").split()
"""Audit events whose paths must lie in the own folder."""

WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def watch(folder: str, stop: Callable[[str], None]) -> None:
    """Watch this process from now on; the watch cannot be removed.

    Args:
        folder: the one folder that may be written to.
        stop: called with what was tried, such as "use a socket"; it must not return.
    """
    home = os.path.realpath(folder)
    changes = frozenset(CHANGES)
    beginnings = tuple(FORBIDDEN)

    def outside(path: Any) -> bool:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False
        place = os.path.realpath(os.fsdecode(path))
        return place != os.devnull and place != home and not place.startswith(home + os.sep)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else flags & WRITE_FLAGS
            if writes and outside(path):
                stop(f"write to {os.fsdecode(path)}")
        elif event in changes:
            found = next((item for item in arguments if outside(item)), None)
            if found is not None:
                stop(f"change {os.fsdecode(found)} ({event})")
        elif event == "import":
            if arguments[0] in NATIVE:
                stop("call native code")
        elif event.startswith(beginnings):
            stop(next(meaning for beginning, meaning in FORBIDDEN.items() if event.startswith(beginning)))

    sys.addaudithook(hook)
