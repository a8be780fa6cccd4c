"""The contract of a source: the reader of one benchmark's own files, which keeps to its conventions."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from agenthard.audit.sources.formats.stored_tasks import held_or_stored
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import open_regular
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class SourceError(AgentHardError):
    """The path cannot be read as this benchmark at all. The message says what was looked for and what to do."""

    code = "AH101"
    remedy = "Check the path and the name of the source; `agenthard sources` lists what makes a folder readable."


class Quarantined(Record):
    """A record that could not be read; it is counted and reported, never silently dropped."""

    file: str
    """Path of the file, relative to the root that was read."""
    line: int | None = None
    """1-based line, when known."""
    pointer: str = ""
    """JSON Pointer inside the document, when known."""
    reason: str
    """What is wrong, and what to do next."""
    kind: str = "task"
    """task, or run."""
    task_id: str | None = None
    """Id of the task, when the record got far enough to tell."""


class NotRead(Record):
    """Something in the benchmark's folder that looks like tasks and was not read; it is counted and reported."""

    file: str
    """Path of the file or folder, relative to the root that was read."""
    tasks: int | None = None
    """How many tasks it seems to hold; None when that cannot be told, 0 when tasks are expected and none are there."""
    reason: str
    """Why it was not read, and what to do next."""
    left_out: bool = False
    """Whether that is meant: the user chose other domains, or the benchmark does not run these tasks by default."""

    @property
    def is_gap(self) -> bool:
        """Whether tasks are missing from the audit that were not left out on purpose; it is then incomplete."""
        return not self.left_out and self.tasks != 0


def count_not_read(items: Iterable[NotRead]) -> tuple[int, int]:
    """Count the tasks that were not read and those that were left out; an unknown number counts as none."""
    counts = [(item.tasks or 0, item.left_out) for item in items]
    return sum(n for n, out in counts if not out), sum(n for n, out in counts if out)


def left_out(file: str, tasks: int, domain: str) -> NotRead:
    """Describe the tasks of a domain that the user did not choose."""
    return NotRead(file=file, tasks=tasks, reason=f"left out by --domain: tasks of {domain!r}", left_out=True)


class Quarantine:
    """Collects what could not be read. Readers call :meth:`add` and continue."""

    def __init__(self) -> None:
        self.items: list[Quarantined] = []

    def add(
        self,
        file: str,
        reason: str,
        *,
        line: int | None = None,
        pointer: str = "",
        kind: str = "task",
        task_id: str | None = None,
    ) -> None:
        """Record one unreadable record."""
        self.items.append(Quarantined(file=file, line=line, pointer=pointer, reason=reason, kind=kind, task_id=task_id))


MOST_REASONS = 3
"""Reasons for which records could not be read that are printed."""


def first_reasons(items: Iterable[Quarantined]) -> tuple[str, ...]:
    """Return the most frequent reasons for which records could not be read, each with its first place.

    >>> first_reasons([Quarantined(file="a.jsonl", line=n, reason="no id") for n in (4, 9)])
    ('2 records, first a.jsonl:4: no id',)
    """
    by_reason: dict[str, list[Quarantined]] = {}
    for item in items:
        by_reason.setdefault(item.reason, []).append(item)
    ordered = sorted(by_reason.values(), key=len, reverse=True)
    return tuple(f"{_counted(len(same))} {_place(same[0])}: {same[0].reason}" for same in ordered[:MOST_REASONS])


def _counted(records: int) -> str:
    return "1 record," if records == 1 else f"{records:,} records, first"


def _place(item: Quarantined) -> str:
    line = "" if item.line is None else f":{item.line}"
    return f"{item.file}{line}{f' {item.pointer}' if item.pointer else ''}"


class Version(Record):
    """Which release of the benchmark was read."""

    label: str
    """Release, commit or layout as far as the files tell, such as 'v3'."""
    content_hash: str
    """First 16 hex digits of the SHA-256 over names and bytes of all files read."""
    files: int
    """How many files the hash covers."""


class FigureTable(Record):
    """Figures of the runs that the benchmark itself would report, as a table."""

    title: str
    """What the figures are."""
    columns: tuple[str, ...]
    """Headings; the first column names the rows."""
    rows: tuple[tuple[str, ...], ...]
    """Cells as text."""
    note: str = ""
    """How they are computed, and what a reader needs to compare them."""


def hash_files(root: Path, files: Iterable[Path], label: str) -> Version:
    """Hash relative names and contents of ``files`` in sorted order, reading in blocks."""
    total = hashlib.sha256()
    names = sorted({path.relative_to(root).as_posix(): path for path in files}.items())
    for name, path in names:
        digest = hashlib.sha256()
        with open_regular(path) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
        total.update(f"{name}\0{digest.hexdigest()}\n".encode())
    return Version(label=label, content_hash=total.hexdigest()[:16], files=len(names))


class Source(ABC):
    """Reader of one benchmark. Other packages register theirs under the entry-point group ``agenthard.sources``.

    A source respects its benchmark's conventions, so that no check has to know them.
    """

    name: ClassVar[str]
    """Word used on the command line."""
    title: ClassVar[str]
    """Name of the benchmark as people write it."""
    layout: ClassVar[str]
    """One line: which files make a folder readable."""
    split_use: ClassVar[str] = ""
    """How the benchmark's own harness runs a published split, and what has to come from the original release."""
    maps_runs: bool = False
    """Whether the user described how run files are read, so that no other format is tried."""
    described_by_user: bool = False
    """Whether the user described how tasks are read, so that what hits most of them may be a mistake in that."""
    _all_tasks: tuple[Sequence[AgentTask], tuple[Quarantined, ...]] | None = None

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a benchmark folder.

        Args:
            root: folder (or file) of the benchmark.
            domains: names of the subtasks or domains to read; empty means all.

        Raises:
            SourceError: when the folder is not laid out as this benchmark, or a domain is unknown.
        """
        self.root = root
        self.domains = tuple(domains)

    @classmethod
    @abstractmethod
    def recognises(cls, root: Path) -> bool:
        """Tell quickly whether ``root`` looks like this benchmark."""

    @abstractmethod
    def version(self) -> Version:
        """Identify the release that was read."""

    @abstractmethod
    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks in the benchmark's order; unreadable records go to ``quarantine``."""

    def read_tasks(self) -> tuple[Sequence[AgentTask], tuple[Quarantined, ...]]:
        """Return all tasks and the records that could not be read; only the first call reads them.

        The tasks of a large benchmark are kept in a temporary file.
        """
        if self._all_tasks is None:
            quarantine = Quarantine()
            tasks = held_or_stored(self.tasks(quarantine))
            self._all_tasks = tasks, tuple(quarantine.items)
        return self._all_tasks

    def some_tasks(self, ids: Collection[str]) -> Iterator[AgentTask]:
        """Stream tasks in the benchmark's order: at least those with an id in ``ids``.

        Each is equal in every field to the one that :meth:`tasks` yields. Unless a source can tell without building a
        task that it is another one, these are all tasks.
        """
        return self.tasks(Quarantine())

    def find_tasks(self, ids: Collection[str]) -> dict[str, AgentTask]:
        """Return the tasks with these ids, by id; an id that no readable task has is left out."""
        wanted, found = set(ids), dict[str, AgentTask]()
        for task in self.some_tasks(wanted) if self._all_tasks is None else self._all_tasks[0]:
            if len(found) == len(wanted):
                break
            if task.id in wanted:
                found.setdefault(task.id, task)
        return found

    def task(self, task_id: str) -> AgentTask | None:
        """Return one task, equal in every field to the one that :meth:`tasks` yields; None when there is none."""
        return self.find_tasks([task_id]).get(task_id)

    @property
    def folder(self) -> Path | None:
        """Folder that belongs to the benchmark as a whole; None when the user named a single file."""
        return self.root if self.root.is_dir() else None

    def file_path(self, name: str) -> Path:
        """Return where the file of an origin is; a source that reads files outside its root says so here."""
        return self.root / name

    def open_copy(self, folder: Path) -> "Source":
        """Open a copy of the folder that origins are relative to, where the user named a single file.

        Args:
            folder: the copy.

        Raises:
            SourceError: when it cannot be read.
        """
        return type(self)(folder / self.root.name, self.domains)

    def known_files(self) -> Iterable[Path]:
        """Yield the files and folders whose purpose this source knows, except those that tasks name as their origin.

        Everything else that looks like tasks is reported as not read (:mod:`agenthard.audit.sources.unread`). The known
        files are those of all domains, databases, policies, answers, run results, and files that the benchmark keeps
        but does not use. A folder includes everything in it.
        """
        return ()

    def not_read(self) -> Sequence[NotRead]:
        """Name the tasks that this source knows it did not read, with the reason.

        Unless a source knows better, these are the tasks of the domains that the user did not choose.
        """
        if not self.domains:
            return ()
        places: dict[str, list[str]] = {}
        for task in type(self)(self.root).tasks(Quarantine()):
            if task.subtask not in self.domains:
                origin = task.origins.get("")
                places.setdefault(task.subtask, []).append(origin.file if origin else ".")
        return [left_out(files[0], len(files), domain) for domain, files in sorted(places.items())]

    @abstractmethod
    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the runs in a file or folder of run files that belong to this benchmark."""

    def figures(self, runs: Iterable[Trajectory]) -> Sequence[FigureTable]:
        """Return the figures that the benchmark itself reports for the runs; none when this is just the pass rate."""
        return ()

    def split_home(self) -> str:
        """Return the folder, relative to a checkout of the harness, into which the files of a split belong."""
        return ""

    def complete_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Add to the files of a split what the harness reads besides the tasks, such as lists of their ids.

        Args:
            keep: ids of the tasks of the split.
            out: folder with its files, which may be changed.

        Returns:
            The files added or changed; unless a source knows of any, there are none.
        """
        return []

    @abstractmethod
    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the tasks named in ``keep`` in the benchmark's own format, byte-identical per task.

        Args:
            keep: ids of AgentTask, in the benchmark's order.
            out: empty folder to write into.

        Returns:
            The files written.
        """
