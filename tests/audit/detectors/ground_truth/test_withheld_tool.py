"""Tools that are withheld until a later turn."""

import pytest

from agenthard.audit.detectors.ground_truth import WithheldTool
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, Status, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task


def task(hidden: dict[str, tuple[str, ...]], *turns: str) -> AgentTask:
    calls = tuple(tuple(ToolCall(name=name) for name in turn.split()) for turn in turns)
    said = tuple((Message(role="user", content=f"Wish {i + 1}."),) for i in range(len(turns)))
    names = {name for turn in turns for name in turn.split()} | {name for some in hidden.values() for name in some}
    return make_task(
        environment=EnvironmentSpec(tools=tuple(ToolSpec(name=name) for name in sorted(names))),
        hidden_tools=hidden,
        user=UserSpec(kind="scripted", turns=said),
        ground_truth=GroundTruth(semantics="required", turns=calls, call_matching="state"),
    )


def test_a_call_before_its_tool_is_offered() -> None:
    (item,) = check_shard([task({"2": ("tail", "cat")}, "ls", "tail", "cat")], {}, [WithheldTool()]).hits
    assert item.hit.claim == "The gold calls 'tail' in turn 2, and the task offers it from turn 3 on only."
    assert [each.pointer for each in item.hit.evidence] == ["/ground_truth/turns/1/0", "/hidden_tools/2"]


def test_a_tool_that_is_never_needed() -> None:
    (item,) = check_shard([task({"2": ("login",)}, "ls", "", "send_message")], {}, [WithheldTool()]).hits
    assert item.hit.claim == (
        "Turn 2 expects no call because 'login' is withheld, and the gold then does without it: send_message."
    )
    assert item.hit.category == "incorrect-tool-call"


@pytest.mark.parametrize(
    "one",
    [
        task({"2": ("login", "send_message")}, "ls", "", "send_message"),
        task({"2": ("login",)}, "ls", "pwd", "send_message"),
        task({"2": ("get_symbol",)}, "ls", "", "send_message"),
    ],
    ids=["one of several is used", "nothing waits for it", "a look-up"],
)
def test_tools_that_are_withheld_for_a_reason(one: AgentTask) -> None:
    assert check_shard([one], {}, [WithheldTool()]).hits == ()


def test_tasks_that_withhold_nothing_are_not_checked() -> None:
    rows = check_shard([make_task(), make_task("lib/2", hidden_tools={"": ("ls",)})], {}, [WithheldTool()]).coverage
    assert [row.status for row in rows] == [Status.NOT_CHECKED] * 2


def test_a_tool_that_the_turn_which_reveals_it_does_without() -> None:
    [item] = check_shard([task({"2": ("login",)}, "ls", "", "pwd", "login")], {}, [WithheldTool()]).hits
    assert "'login' is withheld, and the gold then does without it: pwd." in item.hit.claim
