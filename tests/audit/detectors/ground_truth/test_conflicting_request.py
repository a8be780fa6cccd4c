from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import ConflictingRequest
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, Finding, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

SCHEMA = {"type": "object", "properties": {"book": {"type": "integer"}}, "required": ["book"]}


def tool(description: str, name: str = "lend", schema: dict[str, Any] = SCHEMA) -> ToolSpec:
    return ToolSpec(name=name, description=description, parameters=schema)


def task(
    task_id: str, tools: tuple[ToolSpec, ...], *calls: ToolCall, said: str = "Lend book 7!", **changes: Any
) -> AgentTask:
    user = UserSpec(kind="scripted", turns=((Message(role="user", content=said),),))
    truth = GroundTruth(semantics="required", turns=(calls,), call_matching="exact")
    traits = frozenset() if calls else frozenset({"expects_no_call"})
    values = {"user": user, "environment": EnvironmentSpec(tools=tools), "ground_truth": truth, "traits": traits}
    return make_task(task_id, **{**values, **changes})


def find(*tasks: AgentTask) -> list[Finding]:
    detectors = [ConflictingRequest()]
    return conclude("library", [item.id for item in tasks], [check_shard(tasks, {}, detectors)], detectors)[0]


LEND = ToolCall(name="lend", arguments={"book": 7})
CALLING = task("a", (tool("Lend a book."),), LEND)


def test_a_call_against_no_call_of_a_tool_that_fits() -> None:
    [finding] = find(CALLING, task("b", (tool("Lends a book out."),), said="lend book 7"))
    assert finding.task_ids == ("a", "b") and "no call" in finding.claim
    assert [item.pointer for item in finding.evidence] == ["/user/turns/0/0/content", "/ground_truth"] * 2


def test_two_tools_that_both_tasks_offer() -> None:
    tools = (tool("Lend a book."), tool("Reserve a book.", "reserve"))
    other = task("b", (*tools, tool("Renew.", "renew")), ToolCall(name="reserve", arguments={"book": 7}))
    assert [finding.task_ids for finding in find(task("a", tools, LEND), other)] == [("a", "b")]


@pytest.mark.parametrize(
    "other",
    [
        task("b", (tool("Lend a book."),)),
        task("b", (tool("Find a book.", "find"),)),
        task(
            "b",
            (tool("Lend.", schema={**SCHEMA, "required": ["book", "card"], "properties": {"book": {}, "card": {}}}),),
        ),
        task("b", (tool("Lend.", schema={**SCHEMA, "properties": {"book": {"type": "string"}}}),)),
        task("b", (tool("Lends a book out."),), said="Lend book 8!"),
        task("b", (tool("Lends a book out."),), ToolCall(name="lend", arguments={"book": 7})),
        task("b", (tool("Lends.", schema={**SCHEMA, "title": "x"}),), ToolCall(name="lend", arguments={"book": 8})),
    ],
)
def test_equal_tasks_and_explained_differences_are_clean(other: AgentTask) -> None:
    assert find(CALLING, other) == []


def test_tasks_with_a_state_are_not_checked() -> None:
    assert ConflictingRequest().not_applicable(task("b", (), LEND, initial_state={})) is not None
    assert ConflictingRequest().not_applicable(CALLING) is None
