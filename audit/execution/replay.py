"""Replays calls step by step: the response to each call, and whether it changed the state."""

from collections.abc import Sequence

from agenthard.audit.execution.environment import Environment, ToolResponse
from agenthard.taxonomy.accepted import nearest_value
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall

Turns = tuple[tuple[ToolCall, ...], ...]
"""Calls, turn by turn."""


class Step(Record):
    """One call of a replay."""

    turn: int
    """Turn, from 0."""
    index: int
    """Position within the turn, from 0."""
    call: ToolCall
    """The call, without any-of nodes."""
    observation: ToolResponse
    """The response."""
    before: str
    """Hash of the state before."""
    after: str
    """Hash of the state after."""

    @property
    def changed(self) -> bool:
        """Whether the state is another one now."""
        return self.before != self.after

    @property
    def pointer(self) -> str:
        """JSON Pointer to the call in a task whose unchanged ground truth was replayed."""
        return f"/ground_truth/turns/{self.turn}/{self.index}"


class Replay(Record):
    """A replay from the initial state of a task."""

    environment: str
    """What ran, with its version."""
    initial: str
    """Hash of the initial state."""
    steps: tuple[Step, ...] = ()
    """The calls in order."""

    @property
    def final(self) -> str:
        """Hash of the final state."""
        return self.steps[-1].after if self.steps else self.initial


def gold_turns(task: AgentTask) -> Turns:
    """Return the calls of the ground truth with the first accepted value of every argument."""
    return tuple(tuple(map(concrete, turn)) for turn in task.ground_truth.turns)


def concrete(call: ToolCall) -> ToolCall:
    """Return a call without any-of nodes: the first accepted value of each argument, optional ones included.

    An argument for which nothing is accepted is left out, because any value would be ours and not the benchmark's.
    """
    return call.model_copy(update={"arguments": nearest_value(call.arguments)})


def replay(environment: Environment, task: AgentTask, turns: Sequence[Sequence[ToolCall]]) -> Replay:
    """Execute calls one after the other from the initial state of a task.

    Args:
        environment: Where they are carried out; it is reset first.
        task: Its initial state comes first.
        turns: The calls.

    Returns:
        Every step. A call that fails does not end the replay.

    Raises:
        UnavailableError: the task cannot be executed here.
        ExecutionError: the environment broke.
    """
    placed = [(number, index, call) for number, turn in enumerate(turns) for index, call in enumerate(turn)]
    initial, seen = environment.trace(task, [call for _, _, call in placed])
    steps, state = [], initial
    for (number, index, call), (observation, after) in zip(placed, seen, strict=True):
        steps.append(Step(turn=number, index=index, call=call, observation=observation, before=state, after=after))
        state = after
    return Replay(environment=environment.label(), initial=initial, steps=tuple(steps))
