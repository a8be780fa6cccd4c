"""The records of the person who speaks: found by the name or the id that the texts give."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.sharing import IdentityCache, LastCache
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_NAME = r"(?P<name>[A-Z][\w'’-]+(?: [A-Z](?:\.|[\w'’-]*)){0,2} [A-Z][\w'’-]+)"
_SPEAKS = re.compile(
    rf"(?i:\byou are|\byour? (?:full )?name is|\bmy (?:full )?name is|\bi am|\bi['’]m|\bname\W{{1,4}}"
    rf"|\bcharacter\W{{1,6}}(?:is an?\b[^.\n]{{1,60}}?\bnamed )?)\s*(?i:you are |called |named )?{_NAME}"
)
_ID = re.compile(
    r"(?i:\byou are|\b(?:user|customer|member|account|profile)[ _]?(?:id|name)(?: is|:)?)\W{1,4}(?P<id>[\w-]*\d[\w-]*)"
)
_DEEPEST = 6

Found = tuple[str, dict[str, Any]]
"""JSON Pointer of a record, and the record."""


class Own(NamedTuple):
    """One field of a record of the person who speaks."""

    at: str
    """JSON Pointer into the task."""
    value: str
    """Its value as text."""


class _People:
    """The records of a state by the name of a person, and by id."""

    def __init__(self, root: str, state: Any) -> None:
        self.named: dict[str, list[Found]] = {}
        self.filed: dict[str, list[Found]] = {}
        self._read(root, state, 0)

    def _read(self, at: str, value: Any, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(value, dict):
            if name := full_name(value):
                self.named.setdefault(name.casefold(), []).append((at, value))
            for key, item in value.items():
                if isinstance(item, dict) and full_name(item):
                    self.filed.setdefault(str(key), []).append((join(at, key), item))
                if isinstance(item, dict | list):
                    self._read(join(at, key), item, depth + 1)
        elif isinstance(value, list | tuple):
            for i, item in enumerate(value):
                self._read(join(at, i), item, depth + 1)


def full_name(record: Mapping[str, Any]) -> str | None:
    """Return the name of the person whom a record is about; None where it is about something else."""
    inner = record.get("name")
    parts = inner if isinstance(inner, dict) else record
    first, last = parts.get("first_name"), parts.get("last_name")
    if isinstance(first, str) and isinstance(last, str):
        return f"{first} {last}"
    whole = (record.get(key) for key in ("name", "full_name", "customer_name"))
    return next((name for name in whole if isinstance(name, str) and " " in name.strip()), None)


_shared: IdentityCache[EnvironmentSpec, _People] = IdentityCache(
    lambda environment: _People("/environment/state", environment.state)
)
_own: LastCache[AgentTask, _People] = LastCache(lambda task: _People("/initial_state", task.initial_state))


def introduced_names(text: str) -> list[str]:
    """List the names by which a text introduces the one who speaks.

    >>> introduced_names("You are Ada Lovelace, and you live in London.")
    ['Ada Lovelace']
    """
    return [match["name"] for match in _SPEAKS.finditer(text)]


def own_records(task: AgentTask, texts: Iterable[str]) -> list[Found]:
    """List the records of the people whom texts introduce as the one who speaks ("You are Ada Lovelace").

    Args:
        task: the task, whose shared and own state are searched.
        texts: what the user says or is told.
    """
    found: dict[str, Found] = {}
    for text in texts:
        names = [match["name"].casefold() for match in _SPEAKS.finditer(text)]
        ids = [match["id"] for match in _ID.finditer(text)]
        for people in (_shared(task.environment), _own(task)):
            # A longer run of capitalised words ends in the name of a firm or begins the next sentence.
            known = [people.named.get(name) or people.named.get(" ".join(name.split()[:2]), []) for name in names]
            for at, record in (
                *(r for rows in known for r in rows),
                *(r for i in ids for r in people.filed.get(i, ())),
            ):
                found.setdefault(at, (at, record))
    return list(found.values())


def fields(records: Iterable[Found], named: re.Pattern[str]) -> Iterator[Own]:
    """Yield the fields of records, at every depth, whose own name or that of the list they are in matches."""
    for at, record in records:
        yield from _fields(at, record, "", named)


def _fields(at: str, value: Any, key: str, named: re.Pattern[str]) -> Iterator[Own]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _fields(join(at, name), item, str(name), named)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _fields(join(at, i), item, key, named)
    elif isinstance(value, str | int) and not isinstance(value, bool) and named.search(key.casefold()):
        yield Own(at, str(value))


_FEWEST_ROWS, _MOST_CLASSES = 10, 8
_WORD = re.compile(r"[A-Za-z][A-Za-z_ -]{2,20}")


def _classes_of(environment: EnvironmentSpec) -> dict[tuple[str, str], frozenset[str]]:
    """Collect the few words that a field of a table has as values, by table and field."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    state = environment.state
    for table, rows in state.items() if isinstance(state, dict) else ():
        records = [row for row in rows.values() if isinstance(row, dict)] if isinstance(rows, dict) else []
        for field in records[0] if len(records) >= _FEWEST_ROWS else ():
            values = [row.get(field) for row in records]
            words = {value for value in values if isinstance(value, str) and _WORD.fullmatch(value)}
            if 1 < len(words) <= _MOST_CLASSES and all(isinstance(value, str) and value in words for value in values):
                found[table, str(field)] = frozenset(words)
    return found


_classes = IdentityCache(_classes_of)


class Class(NamedTuple):
    """A field of the user's record that has one of few words, such as a membership."""

    own: Own
    """The field and its value."""
    words: frozenset[str]
    """All values that the table has."""


def classes(task: AgentTask, records: Iterable[Found]) -> Iterator[Class]:
    """Yield the fields of records of shared tables that have one of a few words."""
    for at, record in records:
        names = at.split("/")
        for (table, field), words in _classes(task.environment).items() if len(names) == 5 else ():
            if names[1:4] == ["environment", "state", table]:
                yield Class(Own(join(at, field), record[field]), words)
