"""Rows like those of BFCL: question and function, with the ground truth where there is one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.accepted_values import answer_calls
from agenthard.audit.sources.formats.calls import parse_call, read_call
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.audit.sources.formats.row_source import RowSource, decoded
from agenthard.audit.sources.formats.rows import Row
from agenthard.audit.sources.formats.tool_docs import tool
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)

CALLS_NOTE = "the rows name no evaluator: a right run is taken to make these calls"
_ROLES = ("system", "user", "assistant", "tool")
_NESTED = ("question", "function", "ground_truth")
_READ = frozenset({"id", *_NESTED})


class FunctionRows(RowSource):
    """Reader of rows with ``question``, ``function`` and perhaps ``ground_truth``, as BFCL spells them."""

    name = "function-rows"
    title = "question and function rows"
    layout = "a file of rows, or a folder of them"
    columns = "question and function"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a file of rows, or a folder of them."""
        self._environments: dict[str, EnvironmentSpec] = {}
        super().__init__(root, domains)

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether a row has a question and functions."""
        return {"question", "function"} <= set(values)

    def build(self, row: Row) -> AgentTask:
        """Build the task of a row."""
        values = decoded(row.values, _NESTED)
        written = values.get("id")
        task_id = f"{row.file}:{row.number}" if written in (None, "") else str(written)
        turns = _turns(values["question"] if "question" in values else member(values, "question", str))
        environment = self._environment(member(values, "function", list), row)
        truth = _truth(values.get("ground_truth"), environment.tools)
        checks = tuple(
            Check(kind="tool_calls", scored=True, pointer=f"/ground_truth/turns/{i}", note=CALLS_NOTE)
            for i, turn in enumerate(truth.turns)
            if turn
        )
        return AgentTask(
            id=task_id,
            native_id=task_id,
            benchmark=self.name,
            subtask=Path(row.file).stem,
            user=UserSpec(kind="scripted", turns=turns),
            environment=environment,
            evaluation=EvaluationSpec(checks=checks),
            ground_truth=truth,
            metadata={key: value for key, value in row.values.items() if key not in _READ},
            origins={
                "": row.origin(),
                "/user/turns": row.origin("/question"),
                "/environment/tools": row.origin("/function"),
                "/ground_truth": row.origin("/ground_truth"),
            },
        )

    def _environment(self, docs: list[Any], row: Row) -> EnvironmentSpec:
        key = repr(docs)
        if key not in self._environments:
            origins = [row.origin(join("/function", i)) for i in range(len(docs))]
            tools = [tool(expect(d, dict, f"/function/{i}"), "python", origins[i]) for i, d in enumerate(docs)]
            self._environments[key] = EnvironmentSpec(tools=tuple(tools))
        return self._environments[key]


def _turns(question: Any) -> tuple[tuple[Message, ...], ...]:
    if isinstance(question, str):
        return ((Message(role="user", content=question),),)
    turns = expect(question, list, "/question")
    if turns and isinstance(turns[0], dict):
        return (tuple(_message(item, join("/question", i)) for i, item in enumerate(turns)),)
    return tuple(
        tuple(_message(item, join("/question", i, j)) for j, item in enumerate(expect(turn, list, f"/question/{i}")))
        for i, turn in enumerate(turns)
    )


def _message(item: Any, pointer: str) -> Message:
    fields = expect(item, dict, pointer)
    role = member(fields, "role", str, pointer)
    if role not in _ROLES:
        raise MalformedRecordError(f"unknown role {role!r}; known: {', '.join(_ROLES)}", join(pointer, "role"))
    return Message.model_validate({"role": role, "content": member(fields, "content", str, pointer)})


def _truth(written: Any, tools: Sequence[ToolSpec]) -> GroundTruth:
    """Read accepted values per parameter, call strings (of one turn, or a list per turn), or name and arguments."""
    if written is None:
        return GroundTruth(semantics="none", call_matching="none")
    items = expect(written, list, "/ground_truth")
    if items and all(isinstance(item, list) for item in items):
        turns = tuple(_calls(turn, tools, join("/ground_truth", i)) for i, turn in enumerate(items))
        return GroundTruth(semantics="reference_path", turns=turns, call_matching="state")
    if all(isinstance(item, dict) and len(item) == 1 for item in items):
        calls, _ = answer_calls(items, tools, one_function=False)
    else:
        calls = _calls(items, tools, "/ground_truth")
    return GroundTruth(semantics="required", turns=(calls,), call_matching="any_order")


def _calls(items: Sequence[Any], tools: Sequence[ToolSpec], pointer: str) -> tuple[ToolCall, ...]:
    parameters = {spec.name: list(spec.parameters["properties"]) for spec in tools}
    return tuple(
        parse_call(item, parameters) if isinstance(item, str) else read_call(item, join(pointer, i))
        for i, item in enumerate(items)
    )
