"""Small conversations between a user, an agent and a shop, written by hand."""

from typing import Any

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import Detector
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    Coverage,
    EnvironmentSpec,
    Finding,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    UserSpec,
)
from tests.builders import make_run, make_task

TOOLS = (
    ToolSpec(name="get_order", effect="read"),
    ToolSpec(name="get_product", effect="read"),
    ToolSpec(name="cancel_order", effect="write"),
    ToolSpec(name="change_items", effect="write"),
)


def shop_task(task_id: str = "t1", instruction: str = "Cancel order #W1.", **gold: Any) -> AgentTask:
    call = ToolCall(name="cancel_order", arguments=gold or {"order_id": "#W1", "reason": "ordered by mistake"})
    return make_task(
        task_id,
        user=UserSpec(kind="simulated", instruction=instruction),
        environment=EnvironmentSpec(tools=TOOLS),
        ground_truth=GroundTruth(semantics="reference_path", turns=((call,),)),
    )


def user(text: str) -> Message:
    return Message(role="user", content=text)


def agent(text: str) -> Message:
    return Message(role="assistant", content=text)


def called(name: str, response: str, **arguments: Any) -> tuple[Message, Message]:
    call = ToolCall(name=name, arguments=arguments, id="1")
    return (
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content=response, tool_call_id="1", tool_name=name),
    )


def played(*messages: Message, task_id: str = "t1", model: str = "m1", passed: bool = False, **more: Any) -> Trajectory:
    return make_run(task_id, model, passed, messages=messages, user_model=more.pop("simulator", "sim"), **more)


def audit(detector: Detector, tasks: list[AgentTask], runs: list[Trajectory]) -> tuple[list[Finding], list[Coverage]]:
    by_task = {task.id: [run for run in runs if run.task_id == task.id] for task in tasks}
    shards = [check_shard([task], by_task, [detector]) for task in tasks]
    return conclude("tiny", [task.id for task in tasks], shards, [detector])
