"""Run ``agenthard`` and kill its process group right before its N-th change of the file system.

Usage: python fatal.py N FOLDER COUNT -- ARGUMENTS. Changes are renames, removals, new folders and files opened for
writing below FOLDER, in the main process. Their number goes to the file COUNT when the command ends by itself.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "open")


def watch(fatal: int, below: str, count: Path) -> None:
    """Count the changes below a folder from now on, and die before the fatal one."""
    done = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal done
        if event not in _CHANGES or not isinstance(arguments[0], str | os.PathLike):
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
            return
        if not os.path.abspath(arguments[0]).startswith(f"{below}{os.sep}"):
            return
        done += 1
        if done == fatal:
            os.kill(0, signal.SIGKILL)

    sys.addaudithook(hook)
    if not fatal:
        import atexit

        atexit.register(lambda: count.write_text(str(done)))


if __name__ == "__main__":
    watch(int(sys.argv[1]), os.path.abspath(sys.argv[2]), Path(sys.argv[3]).absolute())
    sys.argv = ["agenthard", *sys.argv[5:]]
    sys.path.pop(0)  # this folder, which the installed command does not see
    from agenthard.flows.cli import main

    main()
