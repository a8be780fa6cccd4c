"""Attempts made from a ground truth by one change, with which checks test an evaluator."""

from typing import Any

from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.replay import Turns, gold_turns
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, ToolCall

OMITTED = object()
"""Marks a value that is left out."""


def gold_attempt(task: AgentTask) -> Attempt:
    """Return an attempt with the calls of the ground truth (first accepted values) and the required texts."""
    return attempt_of(task, gold_turns(task))


def attempt_of(task: AgentTask, turns: Turns) -> Attempt:
    """Return an attempt with given calls and the required texts."""
    return Attempt(turns=turns, replies=task.ground_truth.outputs)


def place_of(pointer: str) -> tuple[int, int]:
    """Return turn and position of the gold call that a JSON Pointer leads to or into.

    >>> place_of("/ground_truth/turns/0/2/arguments/id")
    (0, 2)
    """
    parts = split(pointer)
    return int(parts[2]), int(parts[3])


def with_call(turns: Turns, place: tuple[int, int], **changes: Any) -> Turns:
    """Change fields of one call, and drop its source text."""

    def change(call: ToolCall, at: tuple[int, int]) -> ToolCall:
        return call.model_copy(update={**changes, "text": None}) if at == place else call

    return tuple(tuple(change(call, (i, j)) for j, call in enumerate(turn)) for i, turn in enumerate(turns))


def with_value(task: AgentTask, pointer: str, value: Any) -> Attempt | None:
    """Return an attempt with another value at one place of the ground truth; ``OMITTED`` leaves it out.

    Args:
        task: the task.
        pointer: JSON Pointer to an argument of a gold call, or into one.
        value: the other value.

    Returns:
        None when the pointer does not lead to an argument of the calls.
    """
    turns, place, path = gold_turns(task), place_of(pointer), argument_path(pointer)
    arguments = turns[place[0]][place[1]].arguments
    if not path or value_at(arguments, path) is OMITTED:
        return None
    return attempt_of(task, with_call(turns, place, arguments=replaced(arguments, path, value)))


def argument_path(pointer: str) -> list[str]:
    """Return the keys below ``arguments`` without the any-of nodes, which a call that is made does not have.

    >>> argument_path("/ground_truth/turns/0/2/arguments/days/$any_of/0/1")
    ['days', '1']
    """
    path: list[str] = []
    parts = iter(split(pointer)[5:])
    for part in parts:
        if part == ANY_OF:
            next(parts, None)
        else:
            path.append(part)
    return path


def value_at(value: Any, path: list[str]) -> Any:
    """Return the value at some keys and positions; ``OMITTED`` when there is none."""
    for part in path:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return OMITTED
    return value


def replaced(value: Any, path: list[str], new: Any) -> Any:
    """Return a copy with another value at some keys and positions, which exist, or without it."""
    if not path:
        return new
    if isinstance(value, list):
        items = [replaced(item, path[1:], new) if i == int(path[0]) else item for i, item in enumerate(value)]
        return [item for item in items if item is not OMITTED]
    members = {key: replaced(item, path[1:], new) if key == path[0] else item for key, item in value.items()}
    return {key: item for key, item in members.items() if item is not OMITTED}
