"""The records of a user: those of the user's name or key, those that they name, and those that gold calls name."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.own_records import Found, own_records
from agenthard.audit.detectors.support.sharing import IdentityCache, LastCache
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_DEEPEST = 4
_KEY = re.compile(r"^(?=.*\d)(?=.*[A-Za-z])[\w#.-]{5,}$")
"""Keys of records that do not have their key as a field; a day is not one."""
_ROUNDS = 2
"""A user names orders, an order names what is in it."""
_MOST = 400
"""Records of one user; a user with more is a table."""


class _Index(NamedTuple):
    """The records of a state by their keys, and by the keys of others that are their fields."""

    keyed: dict[str, Found]
    naming: dict[str, list[Found]]


def _index(environment: EnvironmentSpec) -> _Index:
    keyed = dict(_keyed("/environment/state", environment.state, 0))
    naming: dict[str, list[Found]] = defaultdict(list)
    for key, found in keyed.items():
        for value in found[1].values():
            if isinstance(value, str) and value != key and value in keyed:
                naming[value].append(found)
    return _Index(keyed, dict(naming))


def _keyed(at: str, value: Any, depth: int) -> Iterator[tuple[str, Found]]:
    if isinstance(value, dict) and depth <= _DEEPEST:
        for key, item in value.items():
            if isinstance(item, dict):
                if _KEY.search(str(key)) or any(key == own for own in item.values() if isinstance(own, str)):
                    yield str(key), (join(at, key), item)
                yield from _keyed(join(at, key), item, depth + 1)


_shared: IdentityCache[EnvironmentSpec, _Index] = IdentityCache(_index)


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts of a JSON value, at every depth."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value


def _reachable(task: AgentTask) -> tuple[Found, ...]:
    known, naming = _shared(task.environment)
    found = dict(own_records(task, (text for _, text in task.user_texts())))
    frontier: list[Any] = list(found.values())
    owners = [key for record in frontier for key in record.values() if isinstance(key, str) and key in naming]
    frontier += [call.arguments for _, call in task.gold_calls()]
    for _ in range(_ROUNDS):
        named = {key for value in frontier for key in texts_of(value) if key in known}
        new = [known[key] for key in sorted(named) if known[key][0] not in found]
        found |= dict(new[:_MOST])
        frontier = [record for _, record in new[:_MOST]]
    found |= dict([row for owner in owners for row in naming[owner]][:_MOST])
    return tuple(found.items())


reachable = LastCache(_reachable)
"""Returns the records that belong to a task, each with its JSON Pointer."""


def objects_in(found: Found) -> Iterator[Found]:
    """Yield a record and the objects inside it, each with its JSON Pointer."""
    at, value = found
    yield at, value
    for key, item in value.items():
        if isinstance(item, dict):
            yield from objects_in((join(at, key), item))
        elif isinstance(item, list | tuple):
            for i, each in enumerate(item):
                if isinstance(each, dict):
                    yield from objects_in((join(at, key, i), each))
