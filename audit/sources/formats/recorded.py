"""Benchmarks whose rows are recorded conversations: the gold path with what the tools answered."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.audit.sources.formats.row_source import RowSource
from agenthard.audit.sources.formats.rows import Row, iterate
from agenthard.audit.sources.native import RUNS, read_native_runs
from agenthard.taxonomy.task import Message
from agenthard.taxonomy.trajectory import Trajectory

RECORDED = "recorded path"
"""Model and protocol of the runs that a benchmark's own conversations are."""


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
            pointer, reason = "", f"the record is no valid run: {error.errors()[0]['msg']}; mend it"
        quarantine.add(row.file, reason, line=row.line, pointer=row.pointer(pointer), kind="run")
        return None


def responses(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """List what tools answered, in order: the name of the tool where the messages say it, and its response.

    >>> responses([Message(role="user", content="Hi"), Message(role="tool", tool_name="add", content="3")])
    [{'tool': 'add', 'response': '3'}]
    """
    return [{"tool": m.tool_name, "response": m.content} for m in messages if m.role == "tool"]
