"""ComplexFuncBench: multi-step function calling, with the recorded gold path and its responses."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.calls import read_call
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.audit.sources.formats.row_source import RecordedSource, decoded, responses
from agenthard.audit.sources.formats.rows import Row
from agenthard.audit.sources.formats.tool_docs import EnvironmentBuilder
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    UserSpec,
)

CALLS_NOTE = (
    "the calls of one step in any order; the format check looks at the types of primitive values only (string, "
    "integer, number, boolean): what stands inside arrays and objects is not checked against the documentation"
)
REPLY_NOTE = "a judge rates completeness and correctness of the last reply; both are reported next to the success rate"

_DOMAIN = re.compile(r"(.+?)[-_]\d+")
_NESTED = ("conversations", "functions")
_READ = frozenset({"id", *_NESTED})


class ComplexFuncBench(RecordedSource):
    """Reader of ComplexFuncBench. A domain is the part before the number of an id: Hotels, Flights, Cross."""

    name = "complexfuncbench"
    title = "ComplexFuncBench"
    layout = "a JSON Lines file (or JSON array, Parquet, Arrow; or a folder of them)"
    columns = "id, conversations and functions"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open the file, or a folder that holds it.

        Raises:
            SourceError: when no row is laid out as this benchmark, or a domain is unknown.
        """
        self._environments = EnvironmentBuilder()
        super().__init__(root, domains)

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether a row has an id, conversations and functions."""
        return {"id", "conversations", "functions"} <= set(values)

    def task_id(self, row: Row) -> str:
        """Return the id of a row."""
        return member(row.values, "id", str)

    def conversation(self, row: Row) -> tuple[Message, ...]:
        """Return the recorded conversation; calls get the ids ``call_0``, ``call_1`` and so on."""
        items = member(decoded(row.values, _NESTED), "conversations", list)
        return tuple(_messages(items))

    def build(self, row: Row) -> AgentTask:
        """Build the task of a row."""
        values = decoded(row.values, _NESTED)
        task_id = self.task_id(row)
        messages = self.conversation(row)
        asked = [i for i, message in enumerate(messages) if message.role == "user"]
        if not asked:
            raise MalformedRecordError("no message of the user", "/conversations")
        ends = [*asked[1:], len(messages)]
        turns = [_calls(messages[start:end]) for start, end in zip(asked, ends, strict=True)]
        found = _DOMAIN.fullmatch(task_id)
        said = responses(messages)
        checks = [
            Check(kind="tool_calls", scored=True, pointer=f"/ground_truth/turns/{i}", note=CALLS_NOTE)
            for i in range(len(turns))
        ]
        return AgentTask(
            id=task_id,
            native_id=task_id,
            benchmark=self.name,
            subtask=found[1] if found else "",
            user=UserSpec(kind="scripted", turns=tuple((messages[i],) for i in asked)),
            environment=self._environments.environment(
                member(values, "functions", list), row.origin("/functions"), _policy(messages)
            ),
            initial_state={"responses": said} if said else None,
            evaluation=EvaluationSpec(checks=(*checks, Check(kind="judge", scored=False, note=REPLY_NOTE))),
            ground_truth=GroundTruth(semantics="required", turns=tuple(turns), call_matching="any_order"),
            metadata={key: value for key, value in row.values.items() if key not in _READ},
            origins={
                "": row.origin(),
                "/user/turns": row.origin("/conversations"),
                "/environment/tools": row.origin("/functions"),
                "/ground_truth/turns": row.origin("/conversations"),
                "/initial_state": row.origin("/conversations"),
            },
        )


def _calls(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    return tuple(call for message in messages for call in message.tool_calls)


def _policy(messages: Sequence[Message]) -> str:
    return "\n\n".join(message.content for message in messages if message.role == "system")


def _messages(items: Sequence[Any]) -> Iterator[Message]:
    open_calls: list[ToolCall] = []
    number = 0
    for index, item in enumerate(items):
        place = join("/conversations", index)
        fields = expect(item, dict, place)
        role = member(fields, "role", str, place)
        if role in ("user", "system"):
            yield Message(role="user" if role == "user" else "system", content=member(fields, "content", str, place))
        elif role == "assistant":
            open_calls = []
            for j, call in enumerate(expect(fields.get("function_call") or [], list, join(place, "function_call"))):
                read = read_call(call, join(place, "function_call", j))
                open_calls.append(read.model_copy(update={"id": f"call_{number}"}))
                number += 1
            yield Message(role="assistant", content=_text(fields.get("content")), tool_calls=tuple(open_calls))
        elif role == "observation":
            yield from _observed(fields.get("content"), open_calls)
        else:
            raise MalformedRecordError(
                f"unknown role {role!r}; known: user, assistant, observation", join(place, "role")
            )


def _observed(content: Any, calls: Sequence[ToolCall]) -> Iterator[Message]:
    """Pair responses with the calls of the step before; a surplus response belongs to no call."""
    for response, call in zip_longest(content if isinstance(content, list) else [content], calls):
        if response is not None:
            yield Message(
                role="tool",
                content=_text(response),
                tool_call_id=call.id if call else None,
                tool_name=(call.name or None) if call else None,
            )


def _text(content: Any) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
