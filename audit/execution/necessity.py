"""Which calls of a ground truth are needed: unneeded calls, calls whose order matters, and overwritten calls."""

from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.environment import Attempt, Environment, ExecutionError
from agenthard.audit.execution.replay import Replay, Step, Turns, gold_turns, replay
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask

SHORTEST_RESULT = 3
"""Fewest characters of a value; shorter values occur in later calls by chance."""


def without(turns: Turns, turn: int, index: int) -> Turns:
    """Return the calls without one of them."""
    return tuple(
        tuple(call for j, call in enumerate(calls) if (i, j) != (turn, index)) for i, calls in enumerate(turns)
    )


def swapped(turns: Turns, turn: int, index: int) -> Turns:
    """Return the calls with one of them and the next in the same turn exchanged."""
    changed = [list(calls) for calls in turns]
    calls = changed[turn]
    calls[index], calls[index + 1] = calls[index + 1], calls[index]
    return tuple(map(tuple, changed))


def unneeded_calls(environment: Environment, task: AgentTask, gold: Replay) -> Iterator[Step]:
    """Find gold calls without which the evaluator passes, the final state is the same and no later call lacks a value.

    Tried are calls that changed the state, and calls that repeat an earlier one in the same state. Not tried are calls
    that failed and documented writes that changed nothing, which other checks report, and documented reads where
    redundant calls are free and nothing that they return is scored: they are one way to find out.

    Raises:
        ExecutionError: the environment broke.
    """
    turns = gold_turns(task)
    tried = [step for number, step in enumerate(gold.steps) if _worth_trying(task, gold.steps, number)]
    attempts = [Attempt(turns=without(turns, s.turn, s.index), replies=task.ground_truth.outputs) for s in tried]
    verdicts = environment.evaluate_many(task, attempts) if attempts else []
    for step, attempt, verdict in zip(tried, attempts, verdicts, strict=True):
        if isinstance(verdict, ExecutionError):
            raise verdict
        if verdict.passed and replay(environment, task, attempt.turns).final == gold.final:
            yield step


def order_dependent_calls(environment: Environment, task: AgentTask, gold: Replay) -> Iterator[tuple[Step, Step]]:
    """Find neighbours that change the state, succeed in either order, and end in another state when exchanged.

    Raises:
        ExecutionError: the environment broke.
    """
    turns = gold_turns(task)
    for one, two in zip(gold.steps, gold.steps[1:], strict=False):
        if one.turn != two.turn or not (one.changed and two.changed) or one.call == two.call:
            continue
        other = replay(environment, task, swapped(turns, one.turn, one.index))
        if other.final != gold.final and _errors(other) <= _errors(gold):
            yield one, two


def _worth_trying(task: AgentTask, steps: Sequence[Step], number: int) -> bool:
    step = steps[number]
    if step.observation.error is not None:
        return False
    if step.changed:
        return not values_from(steps, number)
    tool = task.tool(step.call.name, step.call.requestor)
    free = "redundant_calls_free" in task.traits and "unchecked_turns" not in task.traits
    if tool is not None and (tool.effect == "write" or (free and tool.effect == "read")):
        return False
    return _asked_before(steps[:number], step)


def _asked_before(earlier: Sequence[Step], step: Step) -> bool:
    """Tell whether the same call had the same response in the same state."""
    return any(
        other.call.name == step.call.name
        and other.call.arguments == step.call.arguments
        and other.observation == step.observation
        and not other.changed
        and other.after == step.before
        for other in earlier
    )


def values_from(steps: Sequence[Step], number: int) -> list[str]:
    """List the values of later arguments that occur in the response of a call and in no earlier response."""
    before = "\n".join(step.observation.text for step in steps[:number])
    response = steps[number].observation.text
    later = (value for step in steps[number + 1 :] for value in _scalars(step.call.arguments))
    return [text for text in later if len(text) >= SHORTEST_RESULT and text in response and text not in before]


def _scalars(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value if isinstance(value, str) else canonical_json(value)


def _errors(found: Replay) -> int:
    return sum(step.observation.error is not None for step in found.steps)


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


def superseded_calls(environment: Environment, task: AgentTask, gold: Replay) -> Iterator[Superseded]:
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
