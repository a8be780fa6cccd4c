"""Finding the place in the task record that a judge means."""

import re
from typing import Any

from rapidfuzz import process

from agenthard.audit.judge.investigation.found import InvalidLookupError
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.task import AgentTask

STATES = ("/environment/state", "/initial_state")
"""Where a task's state stands: what its tasks share, and its own."""
READABLE = ("/user", "/environment", "/initial_state", "/hidden_tools", "/evaluation", "/ground_truth")
"""Parts of the record that can be read; the rest is the record's own bookkeeping and may tell more than the task."""
_LEVELS = {"/environment/state": 2, "/initial_state": 6}
"""Levels below a state on which a key alone is looked for: of what tasks share, the tables and their members."""
_PIECE = re.compile(r"#\d+$")
"""What labels of the material add where only a piece of a record is shown."""
_NAMED = 8
"""Places, or names, that a message lists."""


def states(task: AgentTask) -> list[tuple[str, Any]]:
    """Return the states of a task that are not empty, by pointer."""
    found = [(pointer, resolve(task, pointer)) for pointer in STATES]
    return [(pointer, value) for pointer, value in found if value]


def place(task: AgentTask, at: str) -> str:
    """Return the JSON Pointer that is meant.

    Args:
        task: The task.
        at: A JSON Pointer into its record; a path below a state, such as ``users/u1``; or a key alone, such as ``u1``.

    Raises:
        InvalidLookupError: There is no such place, or there are several; the message names what comes near.
    """
    path = at.strip()
    if any(path == part or path.startswith(part + "/") for part in READABLE):
        piece = _PIECE.sub("", path)
        return _checked(task, piece if not _leads(task, path) and _leads(task, piece) else path)
    below = path.strip("/")
    for root, state in states(task):
        if _leads(state, "/" + below):
            return f"{root}/{below}"
    found = [pointer for root, state in states(task) for pointer in _keyed(state, root, below) if "/" not in below]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidLookupError(f"{at!r} stands at {len(found)} places: {', '.join(found[:_NAMED])}; name one of them")
    if "/" not in below and states(task):
        raise InvalidLookupError(f"no record is called {at!r}; search_state finds a text anywhere in the state")
    for root, _ in states(task):
        _checked(task, f"{root}/{below}")
    raise InvalidLookupError(f"there is no {at!r}: the task has no state; the record has {', '.join(READABLE)}")


def _leads(value: Any, pointer: str) -> bool:
    try:
        resolve(value, pointer)
    except (LookupError, ValueError):
        return False
    return True


def _keyed(state: Any, root: str, key: str) -> list[str]:
    """Return the places of a key on the highest level that has it."""
    level = [(root, state)]
    for _ in range(_LEVELS[root]):
        level = [(place, value) for place, value in level if isinstance(value, dict)]
        found = [join(place, key) for place, value in level if key in value]
        if found:
            return found
        level = [(join(place, name), item) for place, value in level for name, item in value.items()]
    return []


def _checked(task: AgentTask, pointer: str) -> str:
    """Return the pointer when it leads somewhere.

    Raises:
        InvalidLookupError: It does not; the message says how far it leads, and what there is.
    """
    tokens, here = split(pointer), ""
    for token in tokens:
        there = join(here, token)
        if not _leads(task, there):
            raise InvalidLookupError(f"there is no {token!r} at {here or '/'}{_instead(resolve(task, here), token)}")
        here = there
    return here


def _instead(value: Any, token: str) -> str:
    if isinstance(value, dict):
        names = [str(name) for name in value]
    elif isinstance(value, list | tuple):
        return f", which is a list of {len(value)} (counted from 0)"
    elif hasattr(type(value), "model_fields"):
        names = list(type(value).model_fields)
    else:
        return f", which is no object but {value!r:.80}"
    near = [name for name, *_ in process.extract(token, names, limit=_NAMED)]
    return f", which has {len(names)} members; the likest: {', '.join(near)}" if near else ", which is empty"
