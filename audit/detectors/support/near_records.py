"""Groups of gold arguments that equal a record of the state in all fields but one."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.knowledge import Knowledge
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

_FEWEST = 5
"""Fields that both have. With fewer, two records are alike by chance."""
_MOST = 14
_RAREST = 4
"""Fields by which records are looked up; one of them may differ, and one may be the id of another record."""
_CHANGES = re.compile(r"time|date|_at$|status|amount|price|cost|total|count|quantity|number|note|reason|description")
"""Fields that differ from one event to the next."""
_DEEPEST = 8

Fields = dict[str, str]
_Group = tuple[str, Fields]


class NearRecord(NamedTuple):
    """A record that a gold call copies except for one field."""

    given_at: str
    """Pointer of the field, relative to the arguments."""
    given: str
    """What the gold call has there."""
    recorded_at: str
    """Pointer of the field of the record, into the task."""
    recorded: str
    """What the record has."""
    shared: int
    """Fields that are equal."""


class _Index:
    """The records of a state by one of their fields."""

    def __init__(self, environment: EnvironmentSpec) -> None:
        self.by: dict[tuple[str, str], list[_Group]] = defaultdict(list)
        for at, fields in _groups(environment.state, "/environment/state", 0):
            for item in fields.items():
                self.by[item].append((at, fields))

    def like(self, fields: Fields) -> list[_Group]:
        """Return the records with one of the rarest fields: one that differs in one field only is among them."""
        known = [item for item in fields.items() if item in self.by]
        rare = sorted(known, key=lambda item: len(self.by[item]))[:_RAREST]
        found = {at: (at, other) for item in rare for at, other in self.by[item]}
        return [found[at] for at in sorted(found)]


_index = IdentityCache(_Index)


def near_records(task: AgentTask, call: ToolCall, knowledge: Knowledge) -> Iterator[NearRecord]:
    """Yield the groups of arguments with five fields or more of a record, of which one differs and is not said.

    Nothing is yielded where a record has all of them, where records disagree on which field differs, or for fields that
    differ from one event to the next: times, amounts, states.

    Args:
        task: the task, whose shared state is searched.
        call: the gold call.
        knowledge: what is known of the task.
    """
    for at, fields in _groups(call.arguments, "", 0):
        near: list[NearRecord] = []
        for place, other in _index(task.environment).like(fields):
            shared = [name for name in fields if name in other]
            different = [name for name in shared if fields[name] != other[name]]
            if len(shared) < _FEWEST or len(different) > 1:
                continue
            if not different:
                near = []
                break
            name = different[0]
            near.append(NearRecord(join(at, name), fields[name], join(place, name), other[name], len(shared) - 1))
        fit = {(item.given_at, item.recorded) for item in near}
        if (
            len(fit) == 1
            and not _CHANGES.search(near[0].given_at.rpartition("/")[2])
            and not knowledge.said(near[0].given)
        ):
            yield near[0]


def _groups(value: Any, at: str, depth: int) -> Iterator[_Group]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        fields = {
            key: str(item)
            for key, item in value.items()
            if isinstance(item, str | int) and item is not True and item is not False
        }
        if _FEWEST <= len(fields) <= _MOST:
            yield at, fields
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from _groups(item, join(at, key), depth + 1)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _groups(item, join(at, i), depth + 1)


_ZIP, _CITY = re.compile(r"zip|postal"), re.compile(r"^(?:city|town)$")


class _Places:
    """The cities of each postal code of a state."""

    def __init__(self, environment: EnvironmentSpec) -> None:
        self.cities: dict[str, dict[str, str]] = defaultdict(dict)
        for at, fields in _groups(environment.state, "/environment/state", 0):
            names = _zip_and_city(fields)
            if names is not None:
                self.cities[fields[names[0]]].setdefault(fields[names[1]], join(at, names[1]))


_places = IdentityCache(_Places)


def _zip_and_city(fields: Fields) -> tuple[str, str] | None:
    codes, cities = [name for name in fields if _ZIP.search(name)], [name for name in fields if _CITY.search(name)]
    return (codes[0], cities[0]) if len(codes) == len(cities) == 1 else None


def other_city(task: AgentTask, call: ToolCall) -> Iterator[NearRecord]:
    """Yield the city of an address whose postal code all records of the state have with one other city.

    Args:
        task: the task, whose shared state is searched.
        call: the gold call.
    """
    for at, fields in _groups(call.arguments, "", 0):
        names = _zip_and_city(fields)
        known = _places(task.environment).cities.get(fields[names[0]], {}) if names else {}
        if names and len(known) == 1 and fields[names[1]] not in known:
            city, place = next(iter(known.items()))
            yield NearRecord(join(at, names[1]), fields[names[1]], place, city, 1)
