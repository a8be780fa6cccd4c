"""The evaluator of the demo benchmark."""

from collections.abc import Iterable, Sequence

from agenthard.flows.demo.world import World
from agenthard.taxonomy import AgentTask, Check, Message, ToolCall


def passes(task: AgentTask, world: type[World], messages: Sequence[Message]) -> bool:
    """Score a run: it passes when every scored check of the task does.

    Args:
        task: the task, with whatever flaws it was published with.
        world: where it takes place, as it really is.
        messages: the conversation.
    """
    return all(_holds(check, task, world, messages) for check in task.evaluation.checks if check.scored)


def _holds(check: Check, task: AgentTask, world: type[World], messages: Sequence[Message]) -> bool:
    turns = _calls_by_turn(messages)
    made = [call for calls in turns for call in calls]
    gold = task.ground_truth.turns
    if check.kind == "no_call":
        return not made
    if check.kind == "tool_calls":
        return [[_key(call) for call in calls] for calls in turns] == [[_key(call) for call in calls] for calls in gold]
    if check.kind == "final_state":
        return _state_after(world, made) == _state_after(world, [call for calls in gold for call in calls])
    if check.kind == "output_substring":
        said = (message.content for message in messages if message.role == "assistant")
        return any(_plain(str(check.expected)) in _plain(text) for text in said)
    raise ValueError(f"{task.id}: the demo benchmark has no evaluator for a check of kind {check.kind}")


def _calls_by_turn(messages: Iterable[Message]) -> list[list[ToolCall]]:
    turns: list[list[ToolCall]] = []
    for message in messages:
        if message.role == "user":
            turns.append([])
        elif message.tool_calls:
            turns[-1].extend(message.tool_calls)
    return turns


def _key(call: ToolCall) -> tuple[str, dict[str, object]]:
    return call.name, call.arguments


def _state_after(world: type[World], calls: Iterable[ToolCall]) -> object:
    fresh = world()
    for call in calls:
        fresh.call(call.name, call.arguments)
    return fresh.state


def _plain(text: str) -> str:
    return text.lower().replace(",", "")
