"""Reading the tasks of a mapping: rows, what belongs to them, and the records built from them."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.data import Joined, MappedRow, data_files, read_file, shallow, with_partners
from agenthard.audit.sources.mapping.mapping import Mapping
from agenthard.audit.sources.mapping.paths import PathSyntaxError
from agenthard.audit.sources.mapping.tasks import Builder
from agenthard.taxonomy.task import AgentTask


class Reader:
    """Reads the rows and tasks of one mapping."""

    def __init__(self, mapping: Mapping, folder: Path) -> None:
        """Find the files, and read those that are joined.

        Raises:
            SourceError: when a file is absent or unreadable.
        """
        self.paths = data_files(folder, mapping.files)
        self._mapping = mapping
        self._folder = folder
        self._joins = [Joined(spec, folder) for spec in mapping.join]
        self._builder = Builder(mapping, folder)

    def rows(self, quarantine: Quarantine) -> Iterator[MappedRow]:
        """Stream the rows with what is joined to them."""
        for joined in self._joins:
            quarantine.items += joined.unreadable.items
        for path in self.paths:
            for row in shallow(read_file(path, self._folder, self._mapping.rows, quarantine, "task"), quarantine):
                try:
                    whole, lacking = with_partners(row, self._joins, self._mapping.json_columns)
                except PathSyntaxError as error:
                    quarantine.add(row.file, str(error), line=row.line, pointer=row.base)
                    continue
                if lacking:
                    reason = f"no row of {', '.join(lacking)} has the key of this one; add it, or set required: false"
                    quarantine.add(row.file, reason, line=row.line, pointer=row.base)
                    continue
                yield whole

    def tasks(self, quarantine: Quarantine) -> Iterator[tuple[MappedRow, AgentTask]]:
        """Stream the tasks with their rows; what is no task, and an id used before, is quarantined."""
        seen: dict[str, str] = {}
        for row in self.rows(quarantine):
            task = self._task(row, quarantine)
            if task is None:
                continue
            if task.id in seen:
                reason = f"the id {task.id!r} was already used at {seen[task.id]}; map an id that is unique"
                quarantine.add(row.file, reason, line=row.line, pointer=row.base, task_id=task.id)
                continue
            seen[task.id] = f"{row.file}:{row.number}"
            yield row, task

    def _task(self, row: MappedRow, quarantine: Quarantine) -> AgentTask | None:
        try:
            return self._builder.build(row)
        except MalformedRecordError as error:
            place, reason = row.origin(error.pointer), str(error)
        except ValidationError as error:
            place, reason = row.origin(), f"the record is no valid task: {error.errors()[0]['msg']}; mend it"
        quarantine.add(place.file, reason, line=place.line, pointer=place.pointer)
        return None
