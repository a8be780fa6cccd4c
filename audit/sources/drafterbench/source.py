"""The source: rows of DrafterBench as agent tasks."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Version, hash_files
from agenthard.audit.sources.drafterbench.code import calls_in
from agenthard.audit.sources.drafterbench.prompts import find_prompts, plain, prompt_of
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect
from agenthard.audit.sources.formats.row_source import RowSource
from agenthard.audit.sources.formats.rows import Row, folder_of, row_files
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    UserSpec,
)

TYPE, IDENTITY, INSTRUCTION = "tasktype", "id", "instruction"
SCRIPTS = ("groundtruth", "groundtruthcode", "gtcode", "gt", "answer")
"""Plain names of the column with the ground-truth script; the first one found is used."""
SCRIPT_NOTE = (
    "the script is run with recording functions, and the recorded operations are compared with those of the reference "
    "script"
)


class DrafterBench(RowSource):
    """Reader of DrafterBench. A domain is a task type, as the files spell it."""

    name = "drafterbench"
    title = "DrafterBench"
    layout = "a JSON, JSON Lines, CSV, Parquet or Arrow file, or a folder of them; perhaps with a folder of prompts"
    columns = "Tasktype, Id, Instruction and Groundtruth"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open the tasks, and the prompts next to them.

        Raises:
            SourceError: when no row is laid out as this benchmark, or a domain is unknown.
        """
        self._prompts = find_prompts(folder_of(root)) if root.exists() else {}
        self._environments: dict[str, tuple[EnvironmentSpec, Origin | None]] = {}
        super().__init__(root, domains)

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether a row has a task type, an instruction and a ground truth, however spelled."""
        names = {plain(key) for key in values}
        return {TYPE, INSTRUCTION} <= names and bool(names & set(SCRIPTS))

    def version(self) -> Version:
        """Identify the files of tasks and prompts by their content."""
        folder = folder_of(self.root)
        return hash_files(folder, [*row_files(self.root), *self._prompts.values()], self.name)

    def build(self, row: Row) -> AgentTask:
        """Build the task of a row."""
        column = _Columns(row.values)
        task_type, instruction = column.text(TYPE), column.text(INSTRUCTION)
        script = column.text(*SCRIPTS)
        native_id = column.identity() or f"{row.file}:{row.number}"
        environment, policy_origin = self._environment(task_type)
        calls = calls_in(script)
        gold = (ToolCall(name="", text=script),) if calls is None else calls
        return AgentTask(
            id=f"{task_type}/{native_id}",
            native_id=native_id,
            benchmark=self.name,
            subtask=task_type,
            user=UserSpec(kind="scripted", turns=((Message(role="user", content=instruction),),)),
            environment=environment,
            evaluation=EvaluationSpec(
                checks=(Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0", note=SCRIPT_NOTE),)
            ),
            ground_truth=GroundTruth(semantics="reference_path", turns=(gold,), call_matching="state"),
            metadata={**column.others(), "script": script},
            origins={
                "": row.origin(),
                "/user/turns": row.origin(column.pointer(INSTRUCTION)),
                "/ground_truth": row.origin(column.pointer(*SCRIPTS)),
                "/metadata/script": row.origin(column.pointer(*SCRIPTS)),
                **({"/environment/policy": policy_origin} if policy_origin else {}),
            },
        )

    def _environment(self, task_type: str) -> tuple[EnvironmentSpec, Origin | None]:
        """Return what the tasks of a type share, and where their prompt is."""
        if task_type not in self._environments:
            prompt = prompt_of(task_type, self._prompts)
            origin = Origin(file=prompt.path.relative_to(folder_of(self.root)).as_posix()) if prompt else None
            self._environments[task_type] = EnvironmentSpec(policy=prompt.text if prompt else ""), origin
        return self._environments[task_type]


class _Columns:
    """Access to a row's columns by plain name."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._names = {plain(key): key for key in values}
        self._read: set[str] = set()

    def pointer(self, *names: str) -> str:
        """JSON Pointer to the first of the columns that is there."""
        return join("", next(self._names[name] for name in names if name in self._names))

    def text(self, *names: str) -> str:
        """Return the text of the first of the columns that is there.

        Raises:
            MalformedRecordError: when none is there, or it holds no text.
        """
        name = next((self._names[name] for name in names if name in self._names), None)
        if name is None:
            raise MalformedRecordError(f"no column {names[0]!r}, however spelled; there are: {', '.join(self._values)}")
        self._read.add(name)
        return expect(self._values[name], str, join("", name)).strip()

    def identity(self) -> str | None:
        """Return the id of the row; None when it has none."""
        name = self._names.get(IDENTITY)
        value = None if name is None else self._values[name]
        if name is None or value in (None, ""):
            return None
        self._read.add(name)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise MalformedRecordError(f"the id is neither text nor a number: {json.dumps(value)[:80]}", join("", name))
        return str(value)

    def others(self) -> dict[str, Any]:
        """Return the columns that were not read."""
        return {key: value for key, value in self._values.items() if key not in self._read}
