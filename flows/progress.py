"""Progress of a long job, shown by rich on a terminal and silent elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class JobProgress:
    """A bar with counts and time left. Safe to advance from several threads."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._bar: TaskID | None = None

    def start(self, what: str, total: int | None = None, done: int = 0) -> None:
        """Show a new stage, of which some may be done already."""
        if self._progress is None:
            return
        if self._bar is not None:
            self._progress.update(self._bar, visible=False)
        self._bar = self._progress.add_task(what, total=total, completed=done, note="")

    def advance(self, steps: int) -> None:
        """Count finished items of the stage."""
        if self._progress is not None and self._bar is not None:
            self._progress.advance(self._bar, steps)

    def note(self, words: str) -> None:
        """Show a note next to the bar of the stage."""
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, note=words)


_current = JobProgress()


def current() -> JobProgress:
    """Return the progress of the job that runs in this process."""
    return _current


@contextmanager
def show_progress(console: Console) -> Iterator[None]:
    """Show the job's progress on ``console`` while the block runs."""
    global _current
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        _current = JobProgress(progress)
        try:
            yield
        finally:
            _current = JobProgress()
