"""The texts and values around a task that an agent reads and repeats: user, gold calls, records, policy."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

_WORD = re.compile(r"#?\w[\w-]*")
_MAX_LEAVES = 5_000

Leaf = tuple[str, Any]
"""JSON Pointer of a value that is neither object nor array, and the value."""


def surroundings(task: AgentTask) -> Iterator[list[Leaf]]:
    """Yield what stands around ``task`` in circles, nearest first.

    The circles: the user's texts and the gold arguments; the task's own initial state and the records of the shared
    state that the first circle names; the records that those name (user, order, product); the policy.
    """
    arguments = _gold_arguments(task)
    texts = list(task.user_texts())
    yield texts + arguments
    named = {word for _, text in texts for word in _WORD.findall(text)}
    named |= {value for _, value in arguments if isinstance(value, str)}
    seen: set[str] = set()
    own = _records(task, named, seen)
    yield list(_leaves("/initial_state", task.initial_state)) + own
    yield _records(task, {value for _, value in own if isinstance(value, str)}, seen)
    if task.environment.policy:
        yield [("/environment/policy", task.environment.policy)]


def _records(task: AgentTask, ids: set[str], seen: set[str]) -> list[Leaf]:
    """List the values of the records with these ids, of a shared state of the form table → id → record."""
    found: list[Leaf] = []
    tables = task.environment.state
    for table, records in sorted(tables.items()) if isinstance(tables, dict) else ():
        for key in sorted(ids & records.keys()) if isinstance(records, dict) else ():
            pointer = join("/environment/state", table, key)
            if pointer not in seen:
                seen.add(pointer)
                found += _leaves(pointer, records[key])
    return found


def _gold_arguments(task: AgentTask) -> list[Leaf]:
    return [leaf for pointer, call in task.gold_calls() for leaf in _leaves(f"{pointer}/arguments", call.arguments)]


def _leaves(pointer: str, value: Any) -> Iterator[Leaf]:
    stack, count = [(pointer, value)], 0
    while stack and count < _MAX_LEAVES:
        at, item = stack.pop()
        if isinstance(item, dict):
            stack += [(join(at, key), child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(join(at, i), child) for i, child in reversed(list(enumerate(item)))]
        elif item is not None:
            count += 1
            yield at, item
