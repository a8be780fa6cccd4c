"""Progress of a long job: a bar on a terminal, elsewhere a line on standard error every ten seconds."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from agenthard.flows.logs import log

INTERVAL = 10.0
"""Seconds between two lines without a terminal."""


class Observer(Protocol):
    """Learns how far the job of this process is."""

    def __call__(self, stage: str, done: int, total: int | None, *, new: bool) -> None:
        """Take notice of a stage, of how many of its items are finished, and whether it has just begun."""


_observers: list[Observer] = []


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell an observer about every stage and every finished item while the block runs."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


class JobProgress:
    """The stage of a job, with counts. Safe to advance from several threads."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._bar: TaskID | None = None
        self._lock = threading.Lock()
        self._stage, self._note, self._done, self._began = "", "", 0, time.monotonic()
        self._total: int | None = None

    def start(self, what: str, total: int | None = None, done: int = 0) -> None:
        """Show a new stage, of which some may be done already."""
        with self._lock:
            self._stage, self._total, self._done, self._note = what, total, done, ""
            self._began = time.monotonic()
        log.debug("%s", what, extra={"event": "stage", "stage": what})
        self._tell(new=True)
        if self._progress is not None:
            if self._bar is not None:
                self._progress.update(self._bar, visible=False)
            self._bar = self._progress.add_task(what, total=total, completed=done, note="")

    def advance(self, steps: int) -> None:
        """Count finished items of the stage."""
        with self._lock:
            self._done += steps
        self._tell(new=False)
        if self._progress is not None and self._bar is not None:
            self._progress.advance(self._bar, steps)

    def _tell(self, *, new: bool) -> None:
        with self._lock:
            stage, done, total = self._stage, self._done, self._total
        for observer in tuple(_observers):
            observer(stage, done, total, new=new)

    def note(self, words: str) -> None:
        """Show a note next to the stage."""
        with self._lock:
            self._note = words
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, note=words)

    def line(self) -> str:
        """Describe the stage in one line: what, how many of how many, for how long; empty before the first stage.

        >>> job = JobProgress()
        >>> job.start("checking tasks", total=2000, done=500)
        >>> job.line()
        'checking tasks: 500 of 2,000, 0 s'
        """
        with self._lock:
            if not self._stage:
                return ""
            counted = "" if self._total is None else f"{self._done:,} of {self._total:,}, "
            note = f", {self._note}" if self._note else ""
            return f"{self._stage}: {counted}{time.monotonic() - self._began:.0f} s{note}"


_current = JobProgress()


def current() -> JobProgress:
    """Return the progress of the job that runs in this process."""
    return _current


@contextmanager
def show_progress(console: Console, *, interval: float = INTERVAL) -> Iterator[None]:
    """Show the job's progress while the block runs; with `--quiet` nothing is shown.

    Args:
        console: where a bar is shown, if it is a terminal.
        interval: seconds between two lines, if it is not.
    """
    global _current
    wanted = log.isEnabledFor(logging.INFO)
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not (console.is_terminal and wanted)) as progress:
        _current = JobProgress(progress)
        over = threading.Event()
        lines = threading.Thread(target=_log_lines, args=(_current, over, interval), daemon=True)
        if wanted and not console.is_terminal:
            lines.start()
        try:
            yield
        finally:
            over.set()
            if lines.ident is not None:
                lines.join()
            _current = JobProgress()


def _log_lines(job: JobProgress, over: threading.Event, interval: float) -> None:
    while not over.wait(interval):
        line = job.line()
        if line:
            log.info("%s", line, extra={"event": "progress"})
