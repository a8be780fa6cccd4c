"""What a command is doing in a run folder, for other processes: ``work/status.json`` while it works.

A command that finishes removes the file, so that equal runs leave equal files. One that fails leaves it with the error,
and one that is killed leaves its last state.
"""

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from agenthard.flows import progress
from agenthard.flows.checksums import STATUS
from agenthard.flows.logs import log, without_secrets
from agenthard.taxonomy.record import Record

JUDGING = "judging of this audit"
"""What a judging says that it does."""
INTERVAL = 1.0
"""Seconds between two updates of a stage."""


class JobStatus(Record):
    """The state of a command. Times are seconds since 1970."""

    command: str
    """What it does, such as "audit"."""
    pid: int
    """Its process."""
    host: str
    """Machine that it runs on."""
    started: float
    """When it began."""
    updated: float
    """When this was written."""
    stage: str = ""
    """What it is doing."""
    stage_started: float = 0.0
    """When it began to do so."""
    done_before: int = 0
    """Items of the stage that were finished when it began."""
    done: int = 0
    """Items of the stage that are finished."""
    total: int | None = None
    """Items of the stage; None where it has none."""
    error: str | None = None
    """Why the command ended early; None while it works, and when it was killed."""


class _Reporter:
    """Writes the state of this process into one run folder."""

    def __init__(self, path: Path, command: str) -> None:
        now = time.time()
        self._path = path
        self._turn = threading.Lock()
        self._written = 0.0
        self._state = JobStatus(command=command, pid=os.getpid(), host=socket.gethostname(), started=now, updated=now)

    def observe(self, stage: str, done: int, total: int | None, *, new: bool) -> None:
        """Note how far a stage is; it is written at once for a new stage, else at most once in `INTERVAL`."""
        now = time.time()
        with self._turn:
            if new:
                self._state = self._state.model_copy(update={"stage_started": now, "done_before": done})
            self._state = self._state.model_copy(update={"stage": stage, "done": done, "total": total, "updated": now})
            if new or now - self._written >= INTERVAL:
                self._written = now
                self._write()

    def end(self, error: BaseException | None) -> None:
        """Remove the file, or leave it with the error."""
        with self._turn:
            if error is None:
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)
                return
            words = without_secrets(str(error) or type(error).__name__)[:2000]
            self._state = self._state.model_copy(update={"error": words, "updated": time.time()})
            self._write()

    def _write(self) -> None:
        # No fsync, and no error: the state is a courtesy to other processes and must not stop the work.
        partial = self._path.with_name(f".{self._path.name}.partial")
        try:
            partial.write_text(self._state.model_dump_json() + "\n", encoding="utf-8")
            partial.replace(self._path)
        except OSError as error:
            log.debug("%s cannot be written: %s", self._path, error)
            with suppress(OSError):
                partial.unlink(missing_ok=True)


@contextmanager
def reported(work: Path, command: str) -> Iterator[None]:
    """Let other processes see what this one does while the block runs.

    Args:
        work: ``work/`` of the run folder.
        command: What the process does.
    """
    reporter = _Reporter(work / STATUS, command)
    with progress.observed(reporter.observe):
        reporter.observe("starting", 0, None, new=True)
        try:
            yield
        finally:
            reporter.end(sys.exception())


def read_status(work: Path) -> JobStatus | None:
    """Read the state that a process has left; None when there is none, or it cannot be read."""
    try:
        return JobStatus.model_validate_json((work / STATUS).read_bytes())
    except (OSError, ValidationError):
        return None
