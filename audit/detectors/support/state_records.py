"""Records and tables of a benchmark's state, and what a response tells about them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

IDENTIFIER = re.compile(
    r"(?:^|_)(?:id|uuid|email|phone|username|sku)$"
    r"|(?:flight|phone|order|account|invoice|tracking|reservation|booking|confirmation|ticket|serial|card|customer"
    r"|case|license|line)_number$"
)
"""Arguments that name one entity."""
_SEPARATOR = re.compile(r"\s*[,;|\n]\s*")
FEWEST_OTHERS = 2
"""Records that a table has at least, apart from the one that is named."""

Rows = dict[str, tuple[str, dict[str, Any]]]
"""The records of a table by id, each with its JSON Pointer."""


def rows(pointer: str, value: Any) -> Rows:
    """Return the records of a table, which is an object of records by id or a list of records with an ``id``.

    Args:
        pointer: where the value is.
        value: any JSON value; one that is not a table has no records.
    """
    if isinstance(value, dict) and len(value) > FEWEST_OTHERS and all(isinstance(row, dict) for row in value.values()):
        return {str(id): (join(pointer, id), row) for id, row in value.items()}
    if isinstance(value, list) and all(isinstance(row, dict) and "id" in row for row in value):
        return {str(row["id"]): (join(pointer, i), row) for i, row in enumerate(value)}
    return {}


def readings(value: Any) -> Iterator[frozenset[str]]:
    """Yield the sets of ids that a value can be read as a list of.

    That is a list of single values, or of objects with a single value each; the keys of an object whose values say
    nothing by themselves (truth values, equal or empty ones), and its values; a text with separators; a single value.
    A value with deeper levels or with records of several fields is not a list of ids.

    >>> [sorted(ids) for ids in readings([{"id": "B-7"}, {"id": "B-9"}])], list(readings({"B-7": {"title": "Emma"}}))
    ([['B-7', 'B-9']], [])
    """
    if isinstance(value, dict):
        plain = list(value.values())
        silent = all(not item or item is True for item in plain)
        if plain and (silent or (all(item == plain[0] for item in plain) and not isinstance(plain[0], (dict, list)))):
            yield frozenset(map(str, value))
        parts: list[Any] = plain
    elif isinstance(value, list):
        parts = [next(iter(part.values())) if isinstance(part, dict) and len(part) == 1 else part for part in value]
    elif isinstance(value, str):
        parts = [part for part in _SEPARATOR.split(value.strip()) if part]
    else:
        parts = [value]
    if parts and all(isinstance(part, (str, int, float)) and not isinstance(part, bool) for part in parts):
        yield frozenset(map(str, parts))


_DEEPEST_ENTITY = 3
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
    shared = _entities_of_environment(task.environment)
    return _meet(shared, first, second) or _meet(_entity_index(task.initial_state), first, second)


def _meet(tables: _Tables, first: object, second: object) -> bool:
    none: frozenset[str] = frozenset()
    return bool(tables.get(str(first), none) & tables.get(str(second), none))


def _entity_index(state: Any) -> _Tables:
    places: dict[str, set[str]] = defaultdict(set)
    for place, identifier in _records(state, "", 0):
        places[identifier].add(place)
    return {identifier: frozenset(found) for identifier, found in places.items()}


def _records(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the identifiers of a state, each with the place of its table."""
    if depth > _DEEPEST_ENTITY:
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


_entities_of_environment: IdentityCache[EnvironmentSpec, _Tables] = IdentityCache(
    lambda environment: _entity_index(environment.state)
)


Record = dict[str, Any]
Stored = Mapping[str, list[Record]]
"""Records of a state by identifier; those of several tables may share one."""

_DEEPEST = 3
"""Levels below the whole state at which tables are looked for."""
_MOST = 4
"""Records that may share an identifier; what more of them share is not an identifier."""
_ALIKE = 0.75
"""Share of the fields of an object, empty ones aside, that a record has to have for the object to show that record."""
_CHARACTERS = 40
"""Longest identifier, in characters."""


class Told(NamedTuple):
    """One value of a record that a response tells."""

    field: str
    """Name of the field, the innermost one of a nested value."""
    identifier: str
    """Identifier of the record."""
    value: Any
    """What the response tells."""
    stored: Any
    """What the state has."""

    @property
    def differs(self) -> bool:
        """Whether response and state contradict one another."""
        return not _equal(self.value, self.stored)


def records_of(task: AgentTask) -> Stored:
    """Index the records that a run of the task starts from.

    A task with a state of its own starts from that; else from the state that tasks share. A state that actions are
    still to change, before the run starts, is not known.
    """
    if not task.initial_state:
        return _of_environment(task.environment)
    own = task.initial_state
    if isinstance(own, dict) and any(key.endswith("actions") for key in own if own[key]):
        return {}
    return _index(own)


def told(call: ToolCall, response: Any, stored: Stored) -> Iterator[Told]:
    """Yield the values of a response that the state has as well, record by record.

    An object shows a record when it is filed under the record's identifier, has it as its ``id``, or is the whole
    response to a call that names the identifier, and three quarters of its fields are fields of the record.

    Args:
        call: the call.
        response: its response, as JSON data.
        stored: the records.
    """
    named = [text for value in call.arguments.values() for text in _identifiers(value)]
    yield from _objects(response, tuple(named) if len(named) == 1 else (), stored)


def _objects(value: Any, names: tuple[str, ...], stored: Stored) -> Iterator[Told]:
    if isinstance(value, dict):
        own = [text for key, item in value.items() if IDENTIFIER.search(key) for text in _identifiers(item)]
        for name in dict.fromkeys((*names, *own)):
            found = [list(_compared(value, record, name)) for record in stored.get(name, ()) if _shows(value, record)]
            if found:
                yield from min(found, key=lambda items: sum(item.differs for item in items))
                return
        envelope = sum(isinstance(item, dict | list) for item in value.values()) == 1
        for key, item in value.items():
            yield from _objects(item, (key, *names) if envelope else (key,), stored)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, (), stored)


def _shows(value: Record, record: Record) -> bool:
    filled = {key for key, item in value.items() if item is not None}
    return len(filled) > 1 and len(filled & record.keys()) >= _ALIKE * len(filled)


def _alike(row: Record, other: Record) -> bool:
    """Tell whether two objects are rows of one table: the one with fewer fields shows most of them in the other."""
    return _shows(*sorted((row, other), key=len))


def _compared(value: Any, record: Any, name: str, field: str = "") -> Iterator[Told]:
    """Yield the values that both have at the same place; lists are compared where they are equally long."""
    if isinstance(value, dict) and isinstance(record, dict):
        for key in value.keys() & record.keys():
            yield from _compared(value[key], record[key], name, key)
    elif isinstance(value, list) and isinstance(record, list):
        if len(value) == len(record):
            for item, other in zip(*_paired(value, record), strict=True):
                yield from _compared(item, other, name, field)
    elif _kind(value) is not None and _kind(value) == _kind(record):
        yield Told(field, name, value, record)


def _paired(value: list[Any], record: list[Any]) -> tuple[list[Any], list[Any]]:
    """Pair two lists of equal length: objects by their place, mere names by what both have."""
    if not all(isinstance(item, str) for item in (*value, *record)):
        return value, record
    return sorted(value, key=lambda item: (item not in record, item)), sorted(
        record, key=lambda item: (item not in value, item)
    )


def _kind(value: Any) -> str | None:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else None


def _equal(value: Any, stored: Any) -> bool:
    """Tell whether a value is the stored one, up to rounding, case, spaces and a cut marked by dots."""
    if isinstance(value, str):
        first, second = (" ".join(text.casefold().split()) for text in (value, stored))
        cut = first.rstrip(".…")
        return first == second or (cut != first and second.startswith(cut))
    return bool(value == stored) or (not isinstance(value, bool) and abs(value - stored) < 0.01)


def _identifiers(value: Any) -> Iterator[str]:
    if type(value) in (str, int) and 0 < len(str(value)) <= _CHARACTERS:
        yield str(value)


def _index(state: Any) -> Stored:
    found: dict[str, list[Record]] = defaultdict(list)
    for identifier, record in _filed(state, 0):
        found[identifier].append(record)
    return {identifier: records for identifier, records in found.items() if len(records) <= _MOST}


def _filed(value: Any, depth: int) -> Iterator[tuple[str, Record]]:
    """Yield a state's records by identifier: members of tables of like objects, and listed objects with an id."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        rows = [item for item in value.values() if isinstance(item, dict)]
        table = bool(rows) and len(rows) == len(value) and all(_alike(rows[0], row) for row in rows[1:])
        for key, item in value.items():
            if table:
                yield key, item
            yield from _filed(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                own = {text for key, v in item.items() if IDENTIFIER.search(key) for text in _identifiers(v)}
                yield from ((text, item) for text in sorted(own))
                yield from _filed(item, depth + 1)


_of_environment: IdentityCache[EnvironmentSpec, Stored] = IdentityCache(lambda environment: _index(environment.state))
