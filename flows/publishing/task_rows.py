"""Tasks as rows: the columns of the published tables, and the hash that says whether a score can have changed."""

import hashlib
from typing import Any, NamedTuple

import pyarrow as pa

from agenthard.audit.evidence import canonical_json
from agenthard.reports.kit.arrow import array
from agenthard.reports.kit.files import utf8
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolSpec


class TextColumn(NamedTuple):
    """A column of a published table; every cell is text, or a whole number."""

    name: str
    """Name."""
    doc: str
    """What it holds."""
    type: pa.DataType = pa.string()
    """Arrow type."""


TASK_COLUMNS = (
    TextColumn("id", "Id of the task."),
    TextColumn("native_id", "The benchmark's own id."),
    TextColumn("category", "Category or domain of the benchmark."),
    TextColumn("decision", "keep, review (waits for a person), unchecked (no deciding check ran) or repair."),
    TextColumn("user_kind", "scripted: the user's turns are fixed; simulated: a model plays the user."),
    TextColumn("user", "Turns or instruction of the user, as JSON."),
    TextColumn("tools", "Tools of the agent as JSON Schema, as JSON."),
    TextColumn("user_tools", "Tools of the simulated user, as JSON."),
    TextColumn("hidden_tools", "Tools withheld at the start, by the turn that reveals them, as JSON."),
    TextColumn("environment", "Row of the table `environments` with the policy and the shared state."),
    TextColumn("initial_state", "State of this task alone, as JSON."),
    TextColumn("ground_truth", "What a right run does in the benchmark's eyes, as JSON."),
    TextColumn("evaluation", "What is scored, and what is stated without being scored, as JSON."),
    TextColumn("traits", "Conventions of the task, as a JSON list."),
    TextColumn("source_file", "File of the benchmark that holds the task."),
    TextColumn("source_line", "1-based line in it, where one line is one task.", pa.int64()),
    TextColumn("source_pointer", "JSON Pointer in it."),
    TextColumn("content", "Hash of everything that an agent sees or a score depends on."),
)
ENVIRONMENT_COLUMNS = (
    TextColumn("id", "Id that rows of tasks name."),
    TextColumn("policy", "System prompt or policy of the agent."),
    TextColumn("state_name", "Name of the shared state, such as its file."),
    TextColumn("state", "Initial state that tasks share, as JSON."),
)
REMOVAL_COLUMNS = (
    TextColumn("task_id", "Id of the task, or the place of a record that cannot be read."),
    TextColumn("category", "Category or domain of the benchmark."),
    TextColumn("status", "removed, not_selected, unreadable; in the split: under_review, unchecked, repaired."),
    TextColumn("reasons", "Why, as a JSON list of sentences."),
    TextColumn("decided_by", "Who decided: checks, judges, people, as JSON."),
    TextColumn("finding_ids", "Findings of the audit, as a JSON list."),
    TextColumn("findings", "These findings with quotes of the benchmark's files and their lines, as JSON."),
)


def schema_of(columns: tuple[TextColumn, ...]) -> pa.Schema:
    """Return the Arrow schema of a table; every field carries its meaning."""
    return pa.schema([pa.field(c.name, c.type, metadata={"description": c.doc}) for c in columns])


def batch_of(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Turn rows into a batch."""
    return pa.RecordBatch.from_arrays(
        [array([row[field.name] for row in rows], field.type) for field in schema], schema=schema
    )


class TaskWriter:
    """Turns tasks into rows; what tasks share is turned once."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.environments: dict[str, dict[str, Any]] = {}
        """Rows of the shared environments, by id."""
        self._known: dict[int, tuple[EnvironmentSpec, str, str, str]] = {}

    def row(self, task: AgentTask, decision: str) -> dict[str, Any]:
        """Return the row of a task."""
        environment, tools, user_tools = self._environment(task.environment)
        parts = task.model_dump(
            mode="json", include={"user", "hidden_tools", "initial_state", "ground_truth", "evaluation"}
        )
        origin = task.origins.get("")
        texts = {name: _json(value) for name, value in parts.items()}
        traits = _json(sorted(task.traits))
        seen = _json([texts, traits, environment, tools, user_tools])
        return {
            **texts,
            "id": task.id,
            "native_id": task.native_id,
            "category": task.subtask,
            "decision": decision,
            "user_kind": task.user.kind,
            "tools": tools,
            "user_tools": user_tools,
            "environment": environment,
            "traits": traits,
            "source_file": origin.file if origin else None,
            "source_line": origin.line if origin else None,
            "source_pointer": origin.pointer if origin else None,
            "content": _short_hash(seen),
        }

    def _environment(self, spec: EnvironmentSpec) -> tuple[str, str, str]:
        known = self._known.get(id(spec))
        if known is None:
            row = {"policy": spec.policy, "state_name": spec.state_name, "state": _json(spec.state)}
            identity = _short_hash(_json(row))
            self.environments.setdefault(identity, {"id": identity, **row})
            tools, user_tools = (_json([_tool(tool) for tool in each]) for each in (spec.tools, spec.user_tools))
            known = self._known[id(spec)] = (spec, identity, tools, user_tools)
            if len(self._known) > _MOST_KNOWN:
                self._known.pop(next(iter(self._known)))
        return known[1:]


_MOST_KNOWN = 64
"""Environments kept at hand: many benchmarks have one for each task, which comes once."""


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return tool.model_dump(mode="json", exclude={"origin": True, "implementation": {"origin"}})


def _json(value: Any) -> str:
    return utf8(canonical_json(value))


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
