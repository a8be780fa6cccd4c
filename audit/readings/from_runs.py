"""Readings that models took in recorded runs: what they changed, grouped by the state in which they end."""

from collections.abc import Iterable
from typing import NamedTuple

from agenthard.audit.execution.environment import Environment
from agenthard.audit.readings.records import Reading
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory


class TakenReading(NamedTuple):
    """A final state that runs reach."""

    reading: Reading
    """The calls of the first run that change the state; it says what the task requires."""
    models: tuple[str, ...]
    """Models that end there at least once, by name."""
    runs: tuple[str, ...]
    """Ids of the runs that end there."""
    final: str
    """Hash of the state."""


def taken_readings(task: AgentTask, environment: Environment, runs: Iterable[Trajectory]) -> list[TakenReading]:
    """Carry out recorded runs and group them by their final state, the most models first.

    Only calls that succeed and change the state are kept, so a reading is the shortest way of that run. Runs without a
    verdict, and those that the environment does not read, are left out.

    Args:
        task: the task.
        environment: reads runs, and carries them out as the benchmark does.
        runs: its runs.

    Raises:
        UnavailableError: the task cannot be executed here.
        ExecutionError: the environment broke.
    """
    reached: dict[str, list[Trajectory]] = {}
    calls: dict[str, tuple[ToolCall, ...]] = {}
    for run in sorted(runs, key=lambda run: (run.model, run.trial, run.id)):
        attempt = environment.attempt_of(run.messages) if run.passed is not None else None
        if attempt is None:
            continue
        made, final = _changes(task, environment, [call for turn in attempt.turns for call in turn])
        reached.setdefault(final, []).append(run)
        if final not in calls or len(made) < len(calls[final]):
            calls[final] = made
    found = [
        TakenReading(
            reading=Reading(name="A", meaning="what models did", turns=(calls[final],), says=task.ground_truth.outputs),
            models=tuple(sorted({run.model for run in group})),
            runs=tuple(run.id for run in group),
            final=final,
        )
        for final, group in reached.items()
    ]
    return sorted(found, key=lambda taken: (-len(taken.models), -len(taken.runs), taken.final))


def _changes(task: AgentTask, environment: Environment, calls: list[ToolCall]) -> tuple[tuple[ToolCall, ...], str]:
    trace = environment.trace(task, calls)
    made, state = [], trace.initial
    for call, (response, after) in zip(calls, trace.steps, strict=True):
        if response.error is None and after != state:
            made.append(call.model_copy(update={"id": None, "text": None}))
        state = after
    return tuple(made), state
