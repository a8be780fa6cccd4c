"""What the tools answered when an audit executed a ground truth, shortened for a person to read."""

from collections.abc import Iterable

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.gold import GOLD_REPLAY
from agenthard.audit.execution.replay import Replay, Step
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask

MOST_STEPS = 60
"""Calls of a replay that are shown."""
LONGEST = 1_500
"""Characters of a call, and of a response, that are shown."""


class ShownStep(Record):
    """One call and its response."""

    turn: int
    """Turn, from 0."""
    call: str
    """Name of the tool and arguments as JSON, cut."""
    response: str
    """What an agent sees, cut."""
    more: int = 0
    """Characters of the response that are not shown."""
    failed: bool = False
    """Whether the call failed."""
    changed: bool = False
    """Whether the state is another one afterwards."""


class ShownReplay(Record):
    """The replay of one ground truth."""

    task_id: str
    """Id of the task."""
    environment: str
    """What ran, with its version."""
    steps: tuple[ShownStep, ...]
    """The first calls."""
    more: int = 0
    """Calls that are not shown."""


def shown_replays(execution: Execution, tasks: Iterable[AgentTask]) -> tuple[ShownReplay, ...]:
    """Return the replays of ground truths that checks have made; nothing is executed again.

    Args:
        execution: executed the tasks.
        tasks: the tasks that were checked.
    """
    made = ((task.id, execution.recall(GOLD_REPLAY, task)) for task in tasks)
    return tuple(_shown(task_id, replay) for task_id, replay in made if isinstance(replay, Replay) and replay.steps)


def _shown(task_id: str, replay: Replay) -> ShownReplay:
    return ShownReplay(
        task_id=task_id,
        environment=replay.environment,
        steps=tuple(map(_step, replay.steps[:MOST_STEPS])),
        more=max(0, len(replay.steps) - MOST_STEPS),
    )


def _step(step: Step) -> ShownStep:
    call = f"{step.call.name} {canonical_json(step.call.arguments)}"
    text = step.observation.text
    return ShownStep(
        turn=step.turn,
        call=call if len(call) <= LONGEST else f"{call[:LONGEST]} …",
        response=text[:LONGEST],
        more=max(0, len(text) - LONGEST),
        failed=step.observation.error is not None,
        changed=step.changed,
    )
