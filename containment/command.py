"""What a command may use, and how it ended, wherever it runs."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field

from agenthard.taxonomy.record import Record

MIB = 1 << 20
TEMPORARY, PLACE = "/tmp", "/tmp/workspace"
"""Where a command finds its temporary folder and the folder that it works on: the same on every machine."""
LOOK_SECONDS = 0.1
"""How often the size of the folder is looked at, at most."""

Ending = Literal["exit", "timeout", "output", "folder"]


class JobLimits(Record):
    """Limits of a job: of each of its processes, and of all of them together."""

    wall_seconds: float = Field(default=120.0, gt=0)
    """Longest time."""
    cpu_seconds: int = Field(default=120, gt=0)
    """Most processor time of each process."""
    processes: int = Field(default=64, gt=0)
    """Most processes and threads at a time: by a control group where there is one, else by the user's limit."""
    memory_bytes: int = Field(default=2048 * MIB, gt=0)
    """Most address space of each process."""
    file_bytes: int = Field(default=64 * MIB, gt=0)
    """Largest file."""
    folder_bytes: int = Field(default=256 * MIB, gt=0)
    """What the files of the folder may take together; a job that exceeds it is killed."""
    folder_entries: int = Field(default=20_000, gt=0)
    """How many files and folders the folder may hold; a job that exceeds it is killed."""
    temporary_bytes: int = Field(default=128 * MIB, gt=0)
    """What its temporary files may take together."""
    temporary_entries: int = Field(default=8192, gt=0)
    """How many temporary files and folders there may be."""
    open_files: int = Field(default=256, gt=0)
    """How many files a process may have open."""
    kept_output_bytes: int = Field(default=64 << 10, gt=0)
    """How much of each output is kept: the first half and the last half."""
    output_bytes: int = Field(default=64 * MIB, gt=0)
    """How much all output may be together; a job that writes more is killed."""


class CommandResult(Record):
    """How a command ended."""

    ending: Ending
    """Whether its first process ended by itself, or at which limit the command was killed."""
    exit_code: int | None = None
    """Exit code of the first process, or 128 and the number of a signal; None when the command was killed."""
    stdout: str = ""
    """What is kept of its output."""
    stderr: str = ""
    """What is kept of its messages."""
    left_out: int = 0
    """How many bytes of both are not kept."""
    seconds: float
    """How long it took."""


class KeptOutput:
    """The first and the last bytes of a stream."""

    def __init__(self, most: int) -> None:
        """Start empty; `most` bytes are kept."""
        self._half = max(most // 2, 1)
        self._head, self._tail = bytearray(), bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take what was written next."""
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """Return what is kept, with a line for what is not."""
        tail = bytes(self._tail[-self._half :])
        cut = self.left_out
        middle = f"\n[{cut} bytes left out]\n".encode() if cut else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", errors="replace")

    @property
    def left_out(self) -> int:
        """How many bytes are not kept."""
        return self.size - len(self._head) - min(len(self._tail), self._half)


def exceeds(folder: Path, limits: JobLimits) -> bool:
    """Tell whether a folder holds more than it may. What vanishes meanwhile does not count."""
    size = entries = 0
    waiting = [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                entries += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    with suppress(OSError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                if size > limits.folder_bytes or entries > limits.folder_entries:
                    return True
    return False
