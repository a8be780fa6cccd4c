"""Which entities a benchmark's data hold, by table: what stands there before a run cannot have been created by it."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_DEEPEST = 3
"""Levels below the whole state at which tables are looked for."""

_Tables = dict[str, frozenset[str]]
"""Places of the tables that hold an identifier, by identifier."""


def in_one_table(task: AgentTask, first: object, second: object) -> bool:
    """Tell whether two identifiers name records of one table, in the shared data or the task's own.

    A table is an object whose members are objects, keyed by identifier, or a list of objects, in which a member of each
    holds it.

    Args:
        task: the task.
        first: one identifier.
        second: another.
    """
    shared = _of_environment(task.environment)
    return _meet(shared, first, second) or _meet(_index(task.initial_state), first, second)


def _meet(tables: _Tables, first: object, second: object) -> bool:
    none: frozenset[str] = frozenset()
    return bool(tables.get(str(first), none) & tables.get(str(second), none))


def _index(state: Any) -> _Tables:
    places: dict[str, set[str]] = defaultdict(set)
    for place, identifier in _records(state, "", 0):
        places[identifier].add(place)
    return {identifier: frozenset(found) for identifier, found in places.items()}


def _records(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the identifiers of a state, each with the place of its table."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        table = len(value) > 1 and all(isinstance(item, dict) for item in value.values())
        for key, item in value.items():
            if table:
                yield place, key
            if isinstance(item, dict | list):
                yield from _records(item, f"{place}/*" if table else f"{place}/{key}", depth + 1)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from ((f"{place}/*/{key}", str(v)) for key, v in item.items() if type(v) in (str, int))


_of_environment: IdentityCache[EnvironmentSpec, _Tables] = IdentityCache(lambda environment: _index(environment.state))
