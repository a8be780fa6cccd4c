"""Sources whose tasks are the rows of tabular files, or the conversations in them: one row is one task."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.audit.sources.formats.native_files import RUNS, read_native_runs
from agenthard.audit.sources.formats.row_splits import write_rows
from agenthard.audit.sources.formats.rows import Row, folder_of, iterate, peek, read_rows, row_files
from agenthard.taxonomy.task import AgentTask, Message
from agenthard.taxonomy.trajectory import Trajectory

LOOKED_AT = 3
"""Rows that are read to recognise a layout."""
FILES_LOOKED_AT = 100
"""Files of a folder that are opened to find these rows."""


class RowSource(Source):
    """Reads tasks from rows of JSON Lines, JSON arrays, CSV, Parquet or Arrow; a subclass turns a row into a task.

    A domain is a value of ``AgentTask.subtask``.
    """

    columns: ClassVar[str]
    """One line for messages: which columns a row needs."""

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a file of rows, or a folder of them.

        Raises:
            SourceError: when no row is laid out as this benchmark, or a domain is unknown.
        """
        super().__init__(root, domains)
        if not self.recognises(root) and not any(self.fits(row.values) for row in first_rows(root)):
            raise SourceError(f"{root}: no {self.title} here; looked for rows with {self.columns} in {self.layout}")
        self.require_domains()

    def require_domains(self) -> None:
        """Refuse a domain that no task has.

        Raises:
            SourceError: when there is one.
        """
        if self.domains:
            known = sorted({task.subtask for _, task in self._rows(Quarantine())})
            unknown = sorted(set(self.domains) - set(known))
            if unknown:
                raise SourceError(f"{self.root}: unknown domain: {', '.join(unknown)}; there are: {', '.join(known)}")

    @classmethod
    @abstractmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether a row is laid out as this benchmark."""

    @abstractmethod
    def build(self, row: Row) -> AgentTask:
        """Build the task of a row.

        Raises:
            MalformedRecordError: when a field is missing or of the wrong type; its pointer is one inside the row.
        """

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether one of the first rows is laid out as this benchmark."""
        paths = islice(row_files(root), FILES_LOOKED_AT)
        return any(cls.fits(values) for path in paths for values in peek(path, LOOKED_AT))

    def files(self) -> Iterator[Path]:
        """Yield the files of rows, in order."""
        return row_files(self.root)

    def known_files(self) -> Iterator[Path]:
        """Yield the files of rows, and the run file of the native format."""
        yield from self.files()
        yield folder_of(self.root) / RUNS

    def version(self) -> Version:
        """Identify the files of rows by their content."""
        return hash_files(folder_of(self.root), self.files(), self.name)

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks in the order of files and rows."""
        for _, task in self._rows(quarantine):
            if not self.domains or task.subtask in self.domains:
                yield task

    def _rows(self, quarantine: Quarantine) -> Iterator[tuple[Row, AgentTask]]:
        seen: dict[str, str] = {}
        for row in self._all_rows(quarantine):
            task = self._built(row, quarantine)
            if task is None:
                continue
            if task.id in seen:
                reason = f"the id {task.id!r} was already used at {seen[task.id]}; rename this record"
                quarantine.add(row.file, reason, line=row.line, pointer=row.pointer(), task_id=task.id)
                continue
            seen[task.id] = f"{row.file}:{row.number}"
            yield row, task

    def _all_rows(self, quarantine: Quarantine) -> Iterator[Row]:
        for path in self.files():
            yield from read_rows(path, path.relative_to(folder_of(self.root)).as_posix(), quarantine)

    def _built(self, row: Row, quarantine: Quarantine) -> AgentTask | None:
        try:
            require_shallow(row.values)
            return self.build(row)
        except MalformedRecordError as error:
            pointer, reason = error.pointer, str(error)
        except ValidationError as error:
            pointer, reason = "", f"the record is not a valid task: {error.errors()[0]['msg']}; fix it"
        named = row.values.get("id")
        task_id = named if isinstance(named, str) else None
        quarantine.add(row.file, reason, line=row.line, pointer=row.pointer(pointer), task_id=task_id)
        return None

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream runs in the native format."""
        return read_native_runs(path, quarantine)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the rows of the tasks in ``keep``, byte-identical where the format has lines, otherwise value by value.

        Raises:
            SourceError: when an id is unknown.
        """
        wanted = dict.fromkeys(keep)
        places = {task.id: (row.file, row.number) for row, task in self._rows(Quarantine()) if task.id in wanted}
        if len(places) < len(wanted):
            missing = [task_id for task_id in wanted if task_id not in places]
            raise SourceError(f"no such task in {self.root}: {', '.join(missing[:5])}")
        return write_rows(folder_of(self.root), places.values(), out)


def first_rows(root: Path) -> list[Row]:
    """Return the first readable rows at a path, however many unreadable ones come before them."""
    return list(
        islice((row for path in row_files(root) for row in read_rows(path, path.name, Quarantine())), LOOKED_AT)
    )


def decoded(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a row in which JSON text in the named columns is parsed.

    Tables with typed columns hold nested values as text. Text that is not valid JSON is left as it is.

    >>> decoded({"tools": '[{"name": "f"}]', "question": "[sic]"}, ["tools", "question"])
    {'tools': [{'name': 'f'}], 'question': '[sic]'}
    """
    return {key: _decoded(value) if key in names else value for key, value in values.items()}


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


RECORDED = "recorded path"
"""Model and protocol of the runs that are made of a benchmark's own conversations."""


class RecordedSource(RowSource):
    """Reads rows that hold a whole conversation. Given as runs, the same rows are runs without a verdict."""

    @abstractmethod
    def task_id(self, row: Row) -> str:
        """Return the id of a row's task.

        Raises:
            MalformedRecordError: when the row has none.
        """

    @abstractmethod
    def conversation(self, row: Row) -> tuple[Message, ...]:
        """Return all messages of a row.

        Raises:
            MalformedRecordError: when a message is not laid out as this benchmark's are.
        """

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the recorded conversations of rows laid out as this benchmark; other files hold native runs.

        Raises:
            SourceError: when there are neither.
        """
        if (path.is_dir() and (path / RUNS).is_file()) or not self.recognises(path):
            if path.is_file() or (path / RUNS).is_file():
                yield from read_native_runs(path, quarantine)
                return
            raise SourceError(f"{path}: no runs here; give {RUNS}, or a file with {self.columns}")
        for row in iterate(path, quarantine, kind="run"):
            run = self._recorded(row, quarantine)
            if run is not None:
                yield run

    def _recorded(self, row: Row, quarantine: Quarantine) -> Trajectory | None:
        try:
            require_shallow(row.values)
            return Trajectory(
                id=f"{row.file}:{row.number}",
                task_id=self.task_id(row),
                model=RECORDED,
                protocol=RECORDED,
                messages=self.conversation(row),
                origin=row.origin(),
            )
        except MalformedRecordError as error:
            pointer, reason = error.pointer, str(error)
        except ValidationError as error:
            pointer, reason = "", f"the record is not a valid run: {error.errors()[0]['msg']}; fix it"
        quarantine.add(row.file, reason, line=row.line, pointer=row.pointer(pointer), kind="run")
        return None


def responses(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """List what tools answered, in order: the name of the tool where the messages say it, and its response.

    >>> responses([Message(role="user", content="Hi"), Message(role="tool", tool_name="add", content="3")])
    [{'tool': 'add', 'response': '3'}]
    """
    return [{"tool": m.tool_name, "response": m.content} for m in messages if m.role == "tool"]
