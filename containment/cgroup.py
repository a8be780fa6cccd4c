"""A control group for one job, where this machine lets us make one: it bounds processes, and ends them all."""

import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/pids"))
"""Where the controller of processes is: in the one tree of version 2, or in its own tree of version 1."""
WAIT_SECONDS = 5.0


@dataclass(frozen=True)
class Cgroup:
    """A control group."""

    folder: Path
    """Its folder."""

    @classmethod
    def make(cls, processes: int) -> "Cgroup | None":
        """Make a group with a limit on its processes; None where that is not possible.

        Args:
            processes: how many processes and threads it may hold, in addition to the launcher of the job and the
                first process of its namespace.
        """
        for root in ROOTS:
            if not (root / "cgroup.procs").exists():  # of version 1 this is a plain folder
                continue
            folder = root / f"agenthard-{os.getpid()}-{secrets.token_hex(8)}"
            try:
                folder.mkdir()
            except OSError:
                continue
            try:
                with (folder / "pids.max").open("r+") as file:
                    file.write(str(processes + 2))
                return cls(folder)
            except OSError:
                with suppress(OSError):
                    folder.rmdir()
        return None

    def remove(self) -> None:
        """Kill what is left in the group, and remove it."""
        with suppress(OSError):
            with (self.folder / "cgroup.kill").open("r+") as file:
                file.write("1")
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            try:
                self.folder.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.01)
