"""Tools that a gold call names in its arguments, or that its user lacks."""

import pytest

from agenthard.audit.detectors.ground_truth import UnavailableTool
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Status, ToolCall, ToolSpec
from tests.builders import LEND, make_task

THROUGH = ToolSpec(name="call_tool")
RENEW = ToolSpec(
    name="renew_card_1114",
    group="discoverable",
    parameters={"type": "object", "properties": {"member": {"type": "string"}}, "required": ["member"]},
)


def task(*calls: ToolCall, **metadata: object) -> AgentTask:
    return make_task(
        environment=EnvironmentSpec(tools=(LEND, THROUGH, RENEW), user_tools=(LEND,)),
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
        metadata=metadata,
    )


def through(name: str, arguments: object = '{"member": "Ada"}') -> ToolCall:
    return ToolCall(name="call_tool", arguments={"agent_tool_name": name, "arguments": arguments})


def claims(one: AgentTask) -> list[str]:
    return [item.hit.claim for item in check_shard([one], {}, [UnavailableTool()]).hits]


def test_a_tool_that_does_not_exist() -> None:
    (claim,) = claims(task(through("renew_card_1114"), through("renew_card_1141")))
    assert "'renew_card_1141', which does not exist; there is 'renew_card_1114'" in claim


def test_arguments_that_the_named_tool_does_not_take() -> None:
    (lacking, unknown) = claims(task(through("renew_card_1114", '{"person": "Ada"}')))
    assert "without the required 'member'" in lacking and "with the undocumented 'person'" in unknown


def test_a_tool_that_the_user_is_not_given() -> None:
    call = ToolCall(name="lend_book", arguments={}, requestor="user")
    (claim,) = claims(task(call, user_tools=[]))
    assert claim == "The user's gold call is of 'lend_book', and the task gives its user no tool."
    assert claims(task(call, user_tools=["lend_book"])) == []


@pytest.mark.parametrize("call", [through("renew_card_1114"), through("renew_card_1114", {"member": "Ada"})])
def test_a_call_that_fits(call: ToolCall) -> None:
    assert claims(task(call)) == []


def test_names_of_other_things() -> None:
    """No argument names a documented tool: the hammer is not one of an agent."""
    assert claims(task(ToolCall(name="lend_book", arguments={"tool_name": "hammer"}))) == []


def test_calls_that_name_no_tool_are_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [UnavailableTool()]).coverage
    assert row.status is Status.NOT_CHECKED
