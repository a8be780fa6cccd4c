"""Whether the evaluator of a task looks at an argument of its ground truth at all: tried with other values."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.audit.execution.declared import accepts
from agenthard.audit.execution.environment import Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_no_path
from agenthard.audit.execution.replay import Turns, gold_turns
from agenthard.audit.execution.variants import argument_path, attempt_of, place_of, replaced, value_at, with_call
from agenthard.taxonomy.task import AgentTask

_OTHER_TEXT = ("0 another value 0", "9876543210")
_ARGUMENT = re.compile(r"/ground_truth/turns/\d+/\d+/arguments/.+")


def never_compared(task: AgentTask, pointer: str) -> str | None:
    """Say that no other value at a place of a gold argument changes the verdict; None when one does, or nobody knows.

    The place gets values of the same type that the ground truth does not accept, one at a time, and the environment
    judges each attempt beside the ground truth itself. Nothing is said where the ground truth itself is rejected, and
    of a call that fails in the replay: the value may be why.

    Args:
        task: the task.
        pointer: JSON Pointer to an argument of a gold call, or to a value inside one.
    """
    if not _ARGUMENT.fullmatch(pointer):
        return None
    try:
        return _tried(task, place_of(pointer), argument_path(pointer))
    except (UnavailableError, ExecutionError):
        return None


def _tried(task: AgentTask, place: tuple[int, int], path: list[str]) -> str | None:
    environment, turns = environment_of(task), gold_turns(task)
    if task.ground_truth.call_matching == "state" and (why_no_path(task) or _fails(task, place)):
        return None
    gold, call = task.ground_truth.turns[place[0]][place[1]], turns[place[0]][place[1]]
    changed = [
        arguments
        for value in _others(value_at(call.arguments, path))
        if not accepts(gold.arguments, arguments := replaced(call.arguments, path, value))
    ]
    if not changed or not _all_pass(environment, task, turns, place, [call.arguments, *changed]):
        return None
    return f"{environment.label()} passes {len(changed)} other values there as well"


def _all_pass(
    environment: Environment, task: AgentTask, turns: Turns, place: tuple[int, int], tried: list[dict[str, Any]]
) -> bool:
    attempts = [attempt_of(task, with_call(turns, place, arguments=arguments)) for arguments in tried]
    verdicts = environment.evaluate_many(task, attempts)
    return all(not isinstance(verdict, ExecutionError) and verdict.passed for verdict in verdicts)


def _fails(task: AgentTask, place: tuple[int, int]) -> bool:
    steps = gold_replay(task).steps
    return any((step.turn, step.index) == place and step.observation.error is not None for step in steps)


def _others(value: Any) -> Iterator[Any]:
    """Yield other values of the same type; none for null, of which nothing is known."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value * 10 + 7, -value - 1)
    elif isinstance(value, float):
        yield from (value + 1.5, value * 10 + 7.5, -value - 1.5)
    elif isinstance(value, str):
        yield from (text for text in _OTHER_TEXT if text != value)
    elif isinstance(value, list) and value:
        yield [next(_others(item), item) for item in value]
    elif isinstance(value, dict) and value:
        yield {key: next(_others(item), item) for key, item in value.items()}
