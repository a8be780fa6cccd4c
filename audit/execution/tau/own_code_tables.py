"""Databases that are restored record by record after a change; part of the script that runs benchmark code.

A database of τ-bench takes tenths of a second to copy, to compare or to hash, and an audit judges thousands of
attempts, each from the initial state. So a table records which of its records were returned, by key or by iteration:
no other record can have changed.
"""

import copy
import json
import marshal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

GONE = None
"""Marks a record that was deleted."""


class Table(dict[Any, Any]):
    """A dictionary that tracks which of its records were returned to callers; otherwise an ordinary one.

    What goes through a dictionary without its methods (a repetition of its text, a comparison, a serialiser written in
    C) gets no record to change.
    """

    def __init__(self, records: dict[Any, Any]) -> None:
        super().__init__(records)
        self.forget()

    def forget(self) -> None:
        """Start tracking from here."""
        self.touched: set[Any] = set()
        self.whole = self.moved = False

    def suspects(self) -> list[Any]:
        """List the keys whose records may have changed since tracking started; some may be deleted."""
        return list(self) + list(self.touched - self.keys()) if self.whole else list(self.touched)

    def put(self, key: Any, record: Any) -> None:
        """Set a record without tracking it."""
        super().__setitem__(key, record)

    def __getitem__(self, key: Any) -> Any:
        self.touched.add(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return one record."""
        self.touched.add(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[Any]:  # its own one, so that dict(table) asks for each record
        return super().__iter__()

    def values(self) -> Any:
        """Return all records."""
        self.whole = True
        return super().values()

    def items(self) -> Any:
        """Return all records with their keys."""
        self.whole = True
        return super().items()

    def copy(self) -> dict[Any, Any]:
        """Return all records in an ordinary dictionary."""
        self.whole = True
        return dict(super().items())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    __reduce_ex__ = lambda self, _: self.__reduce__()  # noqa: E731

    def __setitem__(self, key: Any, record: Any) -> None:
        self.touched.add(key)
        super().__setitem__(key, record)

    def __delitem__(self, key: Any) -> None:
        self.touched.add(key)
        self.moved = True
        super().__delitem__(key)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return one record; set it first if it is missing."""
        self.touched.add(key)
        return super().setdefault(key, default)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set records."""
        for key, record in dict(*args, **kwargs).items():
            self[key] = record

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove and return one record."""
        self.touched.add(key)
        self.moved = True
        return super().pop(key, *default)

    def popitem(self) -> Any:
        """Remove and return the last record."""
        key, record = super().popitem()
        self.touched.add(key)
        self.moved = True
        return key, record

    def clear(self) -> None:
        """Remove all records."""
        self.touched.update(super().keys())
        self.moved = True
        super().clear()


class Kept:
    """A table with its original records and their serialised form."""

    def __init__(self, records: dict[Any, Any], mark: Callable[[Any], Any]) -> None:
        """Copy a table.

        Args:
            records: the table; it must not be changed any more.
            mark: returns of a record what is equal only as long as the record is.
        """
        self._base = records
        self._mark = mark
        self._marks = {key: mark(record) for key, record in records.items()}
        self.table = Table(copy.deepcopy(records))

    def restored(self) -> Table:
        """Restore and return the table; records that were returned before must no longer be used."""
        table, changed = self.table, self._changed(self.table)
        known = [key for key in changed if key in self._base]
        if table.moved or len(known) < len(changed):
            kept = {key: dict.get(table, key) for key in self._base.keys() - set(changed)}
            again = {key: kept[key] if key in kept else copy.deepcopy(record) for key, record in self._base.items()}
            self.table = Table(again)
            return self.table
        for key in known:
            table.put(key, copy.deepcopy(self._base[key]))
        table.forget()
        return table

    def changes(self, now: dict[Any, Any]) -> dict[Any, Any]:
        """Return the changed records, by key; ``now`` may be another table."""
        return {key: dict.get(now, key, GONE) for key in self._changed(now)}

    def _changed(self, now: dict[Any, Any]) -> list[Any]:
        suspects = now.suspects() if now is self.table else dict.keys(now) | self._marks.keys()
        return sorted((key for key in suspects if not self._same(key, now)), key=str)

    def _same(self, key: Any, now: dict[Any, Any]) -> bool:
        if key not in self._marks or not dict.__contains__(now, key):
            return key not in self._marks and not dict.__contains__(now, key)
        return bool(self._mark(dict.get(now, key)) == self._marks[key])


class Tables:
    """Tables of records as JSON data."""

    def __init__(self, text: str) -> None:
        """Read the tables."""
        self._base: dict[str, Any] = json.loads(text)
        self._kept = {name: Kept(table, _marshalled) for name, table in self._base.items() if isinstance(table, dict)}
        self._now: dict[str, Any] = {}

    def restored(self) -> dict[str, Any]:
        """Restore and return the tables; earlier return values must no longer be used."""
        self._now = {
            name: self._kept[name].restored() if name in self._kept else copy.deepcopy(table)
            for name, table in self._base.items()
        }
        return self._now

    def changes(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the changed records, by table; a deleted record is null."""
        found: dict[str, Any] = {}
        for name in sorted(data.keys() | self._base.keys()):
            before, now = self._base.get(name), data.get(name)
            if isinstance(before, dict) and isinstance(now, dict):
                records = self._kept[name].changes(now)
                different = {key: record for key, record in records.items() if not _same(before.get(key), record)}
                found |= {name: different} if different else {}
            elif not _same(before, now):
                found[name] = now
        return found


class Database:
    """A database as a pydantic model; each field holds a dictionary of records or something else."""

    def __init__(self, pristine: Any) -> None:
        """Copy a database; it must not be changed any more."""
        self.pristine = pristine
        self._now = copy.deepcopy(pristine)
        fields = {name: getattr(pristine, name) for name in type(pristine).model_fields}
        records = {name: field for name, field in fields.items() if isinstance(field, dict)}
        self._kept = {name: Kept(field, _text) for name, field in records.items()}
        self._others = fields.keys() - records.keys()
        self._text = self._written(pristine, self._others)
        self._dumped = pristine.model_dump(mode="json", include=self._others)

    def restored(self) -> Any:
        """Restore and return the database; earlier return values must no longer be used."""
        if self._written(self._now, self._others) != self._text:
            for name in self._others:
                before = getattr(self.pristine, name)
                if self._written(self.pristine, {name}) != self._written(self._now, {name}):
                    setattr(self._now, name, copy.deepcopy(before))
        for name, kept in self._kept.items():
            setattr(self._now, name, kept.restored())
        return self._now

    def reduced(self, database: Any) -> tuple[Any, dict[str, list[Any]]]:
        """Return a database of the changed records only, and the keys of deleted records, by table."""
        small = copy.copy(database)
        gone: dict[str, list[Any]] = {}
        for name, kept in self._kept.items():
            changed = kept.changes(getattr(database, name))
            setattr(small, name, {key: record for key, record in changed.items() if record is not GONE})
            gone |= {name: keys} if (keys := [key for key, record in changed.items() if record is GONE]) else {}
        return small, gone

    def changes(self, database: Any) -> dict[str, Any]:
        """Return the changed records as JSON data, by table; a deleted record is null."""
        small, gone = self.reduced(database)
        found = {}
        for name, now in small.model_dump(mode="json").items():
            records = _differing(self._dumped.get(name), now)
            if name in self._kept:
                records = {**now, **dict.fromkeys(gone.get(name, ()))}
            if records if name in self._kept else now != self._dumped.get(name):
                found[name] = records
        return found

    def _written(self, database: Any, names: Iterable[str]) -> str:
        return str(database.model_dump_json(include=set(names)))


def _differing(before: Any, after: Any) -> Any:
    """Return the records of a table that differ; anything that is not a table is returned as a whole."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    if "data" in before and "data" in after:
        before, after = before["data"], after["data"]
    return {key: after.get(key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)}


def _marshalled(record: Any) -> bytes:
    """Serialise a record so that equal bytes mean equal records; format 2 does not depend on shared objects."""
    return marshal.dumps(record, 2)


def _same(one: Any, other: Any) -> bool:
    """Tell whether data have the same JSON text, apart from the order of keys: 86 and 86.0 are two values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _text(record: Any) -> str:
    if hasattr(record, "model_dump_json"):
        return str(record.model_dump_json())
    return json.dumps(record, default=str)
