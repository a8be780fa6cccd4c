"""Recorded runs that differ from the ground truth in values alone: what a blind spot of an evaluator let pass."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from agenthard.audit.execution.mutation.roots import Kind, kind_of
from agenthard.taxonomy.accepted import concrete_values, is_optional
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory


def wrong_values(task: AgentTask, run: Trajectory) -> tuple[Kind, ...] | None:
    """Return the class of every value in which the calls of a run differ from the ground truth.

    Only for a task whose calls are compared. Calls of one tool are paired, equal ones first, in their order.

    Returns:
        Nothing (an empty tuple) for equal calls; None where they differ in more than values, so that a verdict on the
        run cannot be put down to a value.
    """
    made: dict[str, list[ToolCall]] = defaultdict(list)
    for message in run.messages:
        if message.role == "assistant":
            for call in message.tool_calls:
                made[call.name].append(call)
    wanted: dict[str, list[ToolCall]] = defaultdict(list)
    for _, call in task.gold_calls():
        wanted[call.name].append(call)
    if {name: len(calls) for name, calls in made.items()} != {name: len(calls) for name, calls in wanted.items()}:
        return None
    found: list[Kind] = []
    for name, golds in wanted.items():
        left = made[name]
        for gold in golds:
            options = [_differences(gold, call) for call in left]
            known = [(len(kinds), i) for i, kinds in enumerate(options) if kinds is not None]
            if not known:
                return None
            _, best = min(known)
            found.extend(options[best] or ())
            del left[best]
    return tuple(found)


def _differences(gold: ToolCall, made: ToolCall) -> list[Kind] | None:
    required = {name for name, value in gold.arguments.items() if not is_optional(value)}
    if not required <= set(made.arguments) <= set(gold.arguments):
        return None
    found: list[Kind] = []
    for name, value in made.arguments.items():
        accepted = concrete_values(gold.arguments[name])
        if any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in accepted):
            continue
        kinds = None if not accepted else list(_leaves((name,), accepted[0], value))
        if not kinds or None in kinds:
            return None
        found.extend(kind for kind in kinds if kind is not None)
    return found


def _leaves(path: tuple[str | int, ...], right: Any, wrong: Any) -> Iterator[Kind | None]:
    """Yield the class of every differing value, and None where two structures differ."""
    if isinstance(right, dict) and isinstance(wrong, dict) and set(right) == set(wrong):
        for key in right:
            yield from _leaves((*path, key), right[key], wrong[key])
    elif isinstance(right, list) and isinstance(wrong, list) and len(right) == len(wrong):
        for position, (one, other) in enumerate(zip(right, wrong, strict=True)):
            yield from _leaves((*path, position), one, other)
    elif isinstance(right, dict | list) or isinstance(wrong, dict | list):
        yield None
    elif right != wrong or isinstance(right, bool) != isinstance(wrong, bool):
        yield kind_of(path, right, wrong)
