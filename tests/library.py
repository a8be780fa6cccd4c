"""A small library desk with an environment and an evaluator of its own, registered as the benchmark "library"."""

import sys
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution import registry
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    ToolResponse,
    UnavailableError,
    Verdict,
)
from agenthard.audit.plugins import all_installed
from agenthard.taxonomy import (
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
from tests.builders import make_task

NUMBERS = count(1)
"""What the desk's ticket machine goes on counting, whoever resets the desk."""


def tool(name: str, effect: Any, **properties: dict[str, Any]) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name=name, effect=effect, parameters=schema)


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
DESK = EnvironmentSpec(
    tools=(
        tool("find_book", "read", book=TEXT),
        tool("lend_book", "write", book=TEXT, member=TEXT, kind={"type": "string", "enum": ["short", "long"]}),
        tool("pay_fee", "write", member=TEXT, amount=NUMBER),
        tool("leave_note", "write", text=TEXT),
        tool("draw_ticket", "write"),
        tool("break_down", "write"),
        tool("transfer_to_human_agents", "read"),
    ),
    state={
        "books": {"b7": {"lent_to": None}, "b8": {"lent_to": None}, "b9": {"lent_to": "ada"}},
        "members": {"ada": {"fees": []}, "bea": {"fees": []}},
    },
)


class Desk(Environment):
    """Lends books. It ignores how long a loan is to be, and compares final states and required texts."""

    name = "library desk"

    def __init__(self) -> None:
        self.state: Any = {}

    def version(self) -> str:
        return "1"

    def supports(self, task: AgentTask) -> str | None:
        return None if task.subtask == "lending" else "only lending is known here"

    def reset(self, task: AgentTask) -> None:
        self.state = {**deepcopy(task.environment.state), "tickets": []}

    def call(self, call: ToolCall) -> ToolResponse:
        try:
            return ToolResponse(text=getattr(self, f"_{call.name}")(**call.arguments))
        except (KeyError, TypeError, AttributeError) as error:
            return ToolResponse(text=f"Error: {error}", error=str(error))

    def snapshot(self) -> Any:
        return deepcopy(self.state)

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        if any(check.kind == "judge" and check.scored for check in task.evaluation.checks):
            raise UnavailableError("there is no judge here")
        wanted, reached = self._after(task, task.ground_truth.turns), self._after(task, attempt.turns)
        said = " ".join(attempt.replies)
        parts = {"state": wanted == reached, "outputs": all(text in said for text in task.ground_truth.outputs)}
        return Verdict(passed=all(parts.values()), parts=parts)

    def _after(self, task: AgentTask, turns: tuple[tuple[ToolCall, ...], ...]) -> str:
        self.reset(task)
        for turn in turns:
            for each in turn:
                self.call(each)
        return self.state_hash()

    def _find_book(self, book: str) -> str:
        return str(self.state["books"][book])

    def _lend_book(self, book: str, member: str, kind: str = "short") -> str:
        if self.state["books"][book]["lent_to"] not in (None, member):
            raise KeyError("the book is lent to someone else")
        self.state["books"][book]["lent_to"] = member
        return "lent"

    def _pay_fee(self, member: str, amount: float) -> str:
        self.state["members"][member]["fees"].append(str(amount))
        return "paid"

    def _leave_note(self, text: str) -> str:
        self.state["note"] = text
        return "noted"

    def _draw_ticket(self) -> str:
        self.state["tickets"].append(next(NUMBERS))
        return "drawn"

    def _break_down(self) -> str:
        raise ExecutionError("the desk broke down")

    def _transfer_to_human_agents(self) -> str:
        return "handed over"


@pytest.fixture
def library_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The desk is installed as the environment of the benchmark "library"."""
    info = tmp_path / "library_desk-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: library-desk\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\nlibrary = tests.library:Desk\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    all_installed.cache_clear()
    yield
    all_installed.cache_clear()
    current_execution().release()


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def lend(book: str = "b7", member: str = "ada", kind: str = "short") -> ToolCall:
    return call("lend_book", book=book, member=member, kind=kind)


def desk_task(
    *calls: ToolCall, id: str = "lib/1", says: str = "Help me.", outputs: tuple[str, ...] = (), **changes: Any
) -> AgentTask:
    checks = (
        Check(kind="final_state", scored=True, pointer="/ground_truth/turns/0"),
        *(Check(kind="output_substring", scored=True, expected=text) for text in outputs),
    )
    values: dict[str, Any] = {
        "environment": DESK,
        "user": UserSpec(kind="scripted", turns=((Message(role="user", content=says),),)),
        "evaluation": EvaluationSpec(checks=checks),
        "ground_truth": GroundTruth(semantics="reference_path", turns=(calls,), outputs=outputs, call_matching="state"),
        "traits": frozenset({"redundant_calls_free"}),
    }
    return make_task(id, **{**values, **changes})
