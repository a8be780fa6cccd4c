"""AgentHard's own format: the records themselves as JSON Lines, for benchmarks without a reader of their own.

A folder holds ``tasks.jsonl`` (one AgentTask per line), and may hold ``environments.jsonl`` (named EnvironmentSpecs
that tasks refer to as ``{"$ref": NAME}``) and ``runs.jsonl`` (one Trajectory per line).
"""

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.files import copy_lines
from agenthard.audit.sources.formats.id_filter import may_have_id
from agenthard.audit.sources.formats.json_records import RawRecord, read_jsonl
from agenthard.audit.sources.formats.native_files import ENVIRONMENTS, RUNS, TASKS, read_native_runs, validate_record
from agenthard.audit.sources.formats.stored_tasks import index_of
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec
from agenthard.taxonomy.trajectory import Trajectory


class Native(Source):
    """Reader of the native format."""

    name = "native"
    title = "AgentHard native JSON Lines"
    layout = f"a folder with {TASKS} (and {ENVIRONMENTS}, {RUNS})"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a folder; ``domains`` are values of ``subtask``."""
        super().__init__(root, domains)
        if not (root / TASKS).is_file():
            raise SourceError(f"{root}: no {TASKS} here; native means {self.layout}, see docs/sources/native.md")

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether the folder has a ``tasks.jsonl``."""
        return (root / TASKS).is_file()

    def version(self) -> Version:
        """Identify the files by their content."""
        files = [self.root / name for name in (TASKS, ENVIRONMENTS) if (self.root / name).is_file()]
        return hash_files(self.root, files, "native-1")

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks."""
        return self._tasks(quarantine)

    def some_tasks(self, ids: Collection[str]) -> Iterator[AgentTask]:
        """Stream the tasks of the lines that may have one of the ids."""
        return self._tasks(Quarantine(), may_have_id(ids))

    def _tasks(self, quarantine: Quarantine, parse: Callable[[bytes], bool] | None = None) -> Iterator[AgentTask]:
        environments = self._environments(quarantine)
        seen: dict[str, int] = {}
        for record in read_jsonl(self.root / TASKS, TASKS, quarantine, parse=parse):
            task = self._task(record, environments, quarantine)
            if task is None or (self.domains and task.subtask not in self.domains):
                continue
            if task.id in seen:
                reason = f"the id {task.id!r} was used on line {seen[task.id]} already; give each task its own id"
                quarantine.add(TASKS, reason, line=record.line, task_id=task.id)
                continue
            seen[task.id] = record.line
            yield task

    def _environments(self, quarantine: Quarantine) -> dict[str, tuple[EnvironmentSpec, Origin]]:
        path = self.root / ENVIRONMENTS
        found: dict[str, tuple[EnvironmentSpec, Origin]] = {}
        for record in read_jsonl(path, ENVIRONMENTS, quarantine) if path.is_file() else ():
            name = record.value.pop("name", None)
            environment = validate_record(EnvironmentSpec, record.value, ENVIRONMENTS, record.line, quarantine, "task")
            if not isinstance(name, str):
                reason = "an environment needs a string 'name' that tasks refer to"
                quarantine.add(ENVIRONMENTS, reason, line=record.line)
            elif environment is not None:
                place = Origin(file=ENVIRONMENTS, line=record.line)
                found[name] = (_with_tool_origins(environment, record.line), place)
        return found

    def _task(
        self, record: RawRecord, environments: dict[str, tuple[EnvironmentSpec, Origin]], quarantine: Quarantine
    ) -> AgentTask | None:
        data = dict(record.value)
        origins = {"": Origin(file=TASKS, line=record.line), **data.pop("origins", {})}
        reference = data.get("environment")
        if isinstance(reference, dict) and "$ref" in reference:
            if reference["$ref"] not in environments:
                reason = f"no environment named {reference['$ref']!r} in {ENVIRONMENTS}"
                quarantine.add(TASKS, reason, line=record.line, pointer="/environment/$ref")
                return None
            data["environment"], origins["/environment"] = environments[reference["$ref"]]
        data.setdefault("native_id", data.get("id"))
        return validate_record(AgentTask, {**data, "origins": origins}, TASKS, record.line, quarantine, "task")

    def known_files(self) -> list[Path]:
        """Return the three files of the format."""
        return [self.root / name for name in (TASKS, ENVIRONMENTS, RUNS)]

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream runs from a ``.jsonl`` or ``.jsonl.gz`` file, or from the ``runs.jsonl`` of a folder."""
        return read_native_runs(path, quarantine)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Copy the kept lines of ``tasks.jsonl`` and the whole ``environments.jsonl``."""
        wanted = set(keep)
        index = index_of(self.read_tasks()[0])
        lines = {line for task_id, line in zip(index.ids, index.lines, strict=True) if task_id in wanted}
        copy_lines(self.root / TASKS, out / TASKS, lines)
        written = [out / TASKS]
        if (self.root / ENVIRONMENTS).is_file():
            written.append(Path(shutil.copyfile(self.root / ENVIRONMENTS, out / ENVIRONMENTS)))
        return written


def _with_tool_origins(environment: EnvironmentSpec, line: int) -> EnvironmentSpec:
    def placed(kind: str) -> Any:
        tools = getattr(environment, kind)
        return tuple(
            tool.model_copy(update={"origin": Origin(file=ENVIRONMENTS, line=line, pointer=f"/{kind}/{i}")})
            for i, tool in enumerate(tools)
        )

    return environment.model_copy(update={"tools": placed("tools"), "user_tools": placed("user_tools")})
