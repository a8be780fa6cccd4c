"""Gold calls that a later call of the same tool overwrites, except in lists that log each call."""

from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.execution.difference import Difference, differences
from agenthard.audit.execution.environment import Attempt, Environment, ExecutionError
from agenthard.audit.execution.necessity import without
from agenthard.audit.execution.replay import Replay, Step, Turns, gold_turns
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask


class Superseded(Record):
    """A call that a later one overwrites."""

    first: Step
    """The overwritten call."""
    last: Step
    """The call that overwrites it."""
    logs: tuple[str, ...]
    """JSON Pointers into the state: the lists in which the final states differ."""
    attempt: Attempt
    """The ground truth without the overwritten call; the evaluator rejects it."""


def superseded(environment: Environment, task: AgentTask, gold: Replay) -> Iterator[Superseded]:
    """Find gold calls that a later one overwrites and that the evaluator demands all the same.

    Raises:
        ExecutionError: the environment broke.
    """
    turns = gold_turns(task)
    for one, two in _pairs(gold.steps):
        before, after, final = _states(environment, task, turns, one)
        shared = task.environment.state
        logged = {found.pointer: found.before for found in differences(before, final, shared) if _grown(found)}
        if all(map(_grown, differences(before, after, shared))):
            continue
        attempt = Attempt(turns=without(turns, one.turn, one.index), replies=task.ground_truth.outputs)
        other, errors = _final(environment, task, attempt.turns)
        apart = differences(final, other, shared)
        if not apart or errors > sum(step.observation.error is not None for step in gold.steps):
            continue
        if all(found.pointer in logged and _appended(found, logged[found.pointer]) for found in apart):
            verdict = environment.evaluate_many(task, [attempt])[0]
            if isinstance(verdict, ExecutionError):
                raise verdict
            if not verdict.passed:
                yield Superseded(first=one, last=two, logs=tuple(found.pointer for found in apart), attempt=attempt)


def _pairs(steps: Sequence[Step]) -> Iterator[tuple[Step, Step]]:
    """Yield each call with the next of the same tool that shares an argument, where both changed the state."""
    done = [step for step in steps if step.changed and step.observation.error is None]
    for number, one in enumerate(done):
        for two in done[number + 1 :]:
            shared = {name for name, value in one.call.arguments.items() if two.call.arguments.get(name) == value}
            if two.call.name == one.call.name and shared:
                if one.call.arguments != two.call.arguments:
                    yield one, two
                break


def _states(environment: Environment, task: AgentTask, turns: Turns, one: Step) -> tuple[Any, Any, Any]:
    """Replay all calls; return the state before and after one of them, and at the end."""
    environment.reset(task)
    before = after = environment.snapshot()
    for number, turn in enumerate(turns):
        for index, call in enumerate(turn):
            here = (number, index) == (one.turn, one.index)
            before = environment.snapshot() if here else before
            environment.call(call)
            after = environment.snapshot() if here else after
    return before, after, environment.snapshot()


def _final(environment: Environment, task: AgentTask, turns: Turns) -> tuple[Any, int]:
    environment.reset(task)
    errors = sum(environment.call(call).error is not None for turn in turns for call in turn)
    return environment.snapshot(), errors


def _grown(found: Difference) -> bool:
    """Tell whether a list was appended to."""
    return isinstance(found.before, list) and isinstance(found.after, list) and _appended(found, found.before)


def _appended(found: Difference, base: Any) -> bool:
    lists = (found.before, found.after)
    return all(isinstance(each, list) and each[: len(base)] == base for each in lists)
