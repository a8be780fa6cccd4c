"""A database that many runs share; a run keeps only the records it changed, so that a reset is cheap."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

Table = Mapping[str, dict[str, Any]]
"""Records by id."""
Records = dict[str, dict[str, dict[str, Any]]]
"""Records by table and id."""


class State:
    """Copy-on-write view of a database of tables of records.

    >>> state = State({"users": {"u1": {"name": "Ann"}}})
    >>> state.edit("users", "u1")["name"] = "Bea"
    >>> state.changes()
    {'users': {'u1': {'name': 'Bea'}}}
    >>> state.reset()
    >>> state.changes()
    {}
    """

    def __init__(self, tables: Mapping[str, Table]) -> None:
        """Start from a database that is never changed."""
        self._base = tables
        self._own: Records = {name: {} for name in tables}

    def reset(self) -> None:
        """Forget every change."""
        for records in self._own.values():
            records.clear()

    def held(self) -> Records:
        """Return a copy of the records that were looked at for a change, or added."""
        return {name: copied(records) for name, records in self._own.items()}

    def hold(self, records: Records) -> None:
        """Go to the state that `held` returned."""
        self._own = {name: copied(own) for name, own in records.items()}

    def has(self, table: str, key: str) -> bool:
        """Tell whether there is a record of this id."""
        return key in self._own[table] or key in self._base[table]

    def read(self, table: str, key: str) -> dict[str, Any]:
        """Return a record to look at; it must not be changed.

        Raises:
            KeyError: when there is none of this id.
        """
        own = self._own[table]
        return own[key] if key in own else self._base[table][key]

    def edit(self, table: str, key: str) -> dict[str, Any]:
        """Return a record to change.

        Raises:
            KeyError: when there is none of this id.
        """
        own = self._own[table]
        if key not in own:
            own[key] = copied(self._base[table][key])
        return own[key]

    def add(self, table: str, key: str, record: dict[str, Any]) -> None:
        """Put a new record into a table."""
        self._own[table][key] = record

    def records(self, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield all records by id, in the order of the database, new ones last; they must not be changed."""
        own, base = self._own[table], self._base[table]
        for key, record in base.items():
            yield key, own.get(key, record)
        yield from ((key, record) for key, record in own.items() if key not in base)

    def changes(self) -> Records:
        """Return copies of the records that differ from the database, by table and id.

        Values are compared by their JSON text, as in both benchmarks: 86 and 86.0 differ.
        """
        found = {
            name: {key: copied(own[key]) for key in sorted(own) if not same(own[key], self._base[name].get(key))}
            for name, own in self._own.items()
        }
        return {name: records for name, records in found.items() if records}


def same(one: Any, other: Any) -> bool:
    """Tell whether JSON data have the same text, apart from the order of keys.

    >>> same({"a": 1, "b": 2}, {"b": 2, "a": 1}), same(86, 86.0)
    (True, False)
    """
    return one is other or json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def copied(value: Any) -> Any:
    """Copy JSON data."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
