"""A state cut into records that can be shown one by one: users, orders, flights with the days they fly on.

Every record is a passage whose text is a contiguous piece of the canonical JSON at its pointer. A value that is short
is one record. A longer one is opened: its containers are cut on their own, and the plain members between them are
*plain pieces* (``/state/flights/HAT001#1``). A *calendar* (an object keyed by days) is always opened, so that a flight
need not be shown with all its days.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.context.terms import as_term, is_time, named_terms
from agenthard.audit.judge.context.tokens import passage_tokens
from agenthard.taxonomy.pointer import join, split

LONGEST = 4000
"""Characters of canonical JSON up to which a value is one record."""
DEEPEST = 20
"""Levels of a task record down to which values are opened."""
CALENDAR_DAYS = 5
"""Days that an object needs to be a calendar."""
_LIKENESS = 6
"""Members of a table that are looked at to see that they are alike."""
DAY = re.compile(r"\d{4}-\d\d-\d\d")
"""A day, as an ISO date."""


Fields = frozenset[tuple[str, str]]
"""Names of fields with a term that each holds."""


def plain_fields(value: Any) -> Fields:
    """Return the strings at the top of an object, except times of day, which records share by chance.

    >>> sorted(plain_fields({"from": "RIGA", "leaves": "09:00", "stops": ["KIEL"], "berths": 3}))
    [('from', 'riga')]
    """
    members = value.items() if isinstance(value, dict) else ()
    strings = ((str(key), as_term(text)) for key, text in members if isinstance(text, str))
    return frozenset((key, term) for key, term in strings if term and not is_time(term))


@dataclass(frozen=True)
class StateRecord:
    """A record, or a part of an opened one."""

    passage: Passage
    """What is shown."""
    tokens: int
    """Tokens of the passage at most."""
    record: str
    """Pointer of the record that it is, or is a part of."""
    table: str
    """Pointer of the table that the record stands in."""
    keys: frozenset[str]
    """Terms by which others name it: its key in the table, and the keys of what it holds."""
    held: Fields
    """Its fields at any depth, with the terms that they hold."""
    fields: Fields
    """The fields at its top, with the terms of their strings, except times of day."""
    entry: str | None
    """The key of the entry of a series that it is, a day; None for all else."""


@dataclass
class _Place:
    """Where the cutting stands."""

    table: str = ""
    record: str = ""
    keys: frozenset[str] = frozenset()


def cut(state: Any, base: str) -> tuple[StateRecord, ...]:
    """Cut a state into records, in the order of its canonical JSON.

    Args:
        state: JSON data; None gives nothing.
        base: JSON Pointer of the state in the task record.
    """
    if state is None:
        return ()
    text = _text(state)
    if not isinstance(state, (dict, list)) or (len(text) <= LONGEST and not _has_calendar(state)):
        return (_record(text, base, base, _Place(base, base, _keys("", state)), state),)
    return tuple(_opened(state, base, _Place()))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


@dataclass
class _Run:
    """Plain members of an opened value that stand side by side."""

    texts: list[str] = field(default_factory=list)
    members: dict[str, Any] = field(default_factory=dict)


def _opened(value: Any, pointer: str, place: _Place) -> Iterator[StateRecord]:
    """Cut a container member by member."""
    is_dict = isinstance(value, dict)
    members: list[tuple[str | int, Any]]
    members = [(str(key), value[key]) for key in sorted(value)] if is_dict else list(enumerate(value))
    inside = _inside(value, pointer, place)
    run, pieces = _Run(), 0
    for key, member in members:
        text = canonical_json(member)
        stands_alone = _holds_containers(member) or len(text) > LONGEST
        if (stands_alone or sum(map(len, run.texts)) > LONGEST) and run.texts:
            pieces += 1
            yield _piece(run, pointer, pieces, inside)
            run = _Run()
        if stands_alone:
            yield from _member(str(key), member, pointer, inside)
        else:
            run.texts.append(f"{canonical_json(key)}: {text}" if is_dict else text)
            run.members[str(key)] = member
    if run.texts:
        yield _piece(run, pointer, pieces + 1, inside)


def _member(key: str, member: Any, pointer: str, inside: _Place) -> Iterator[StateRecord]:
    at, text = join(pointer, key), _text(member)
    place = inside
    if not inside.record:
        place = _Place(inside.table, at if inside.table else "", _keys(key, member))
    if isinstance(member, (dict, list)) and at.count("/") < DEEPEST and (len(text) > LONGEST or _has_calendar(member)):
        yield from _opened(member, at, place)
    else:
        yield _record(text, at, at, _Place(place.table or pointer, place.record or at, place.keys), member)


def _inside(value: Any, pointer: str, place: _Place) -> _Place:
    """Say where the members of an opened value stand: a table makes each of them a record."""
    return _Place(pointer) if not place.table and _is_table(value) else place


def _is_table(value: Any) -> bool:
    """Tell whether a value is two or more objects that share a member with the first."""
    members = list(value.values()) if isinstance(value, dict) else value
    if len(members) < 2 or not all(isinstance(member, dict) for member in members):
        return False
    return all(not members[0].keys().isdisjoint(member) for member in members[1:_LIKENESS])


def _piece(run: _Run, pointer: str, number: int, inside: _Place) -> StateRecord:
    place = _Place(inside.table or pointer, inside.record or pointer, inside.keys)
    return _record(", ".join(run.texts), f"{pointer}#{number}", pointer, place, run.members)


def _record(text: str, label: str, pointer: str, place: _Place, value: Any) -> StateRecord:
    tokens = split(pointer)
    entry = next((token for token in reversed(tokens) if DAY.fullmatch(token)), None)
    passage = Passage(label=label, part="state", title="state", text=text, pointer=pointer)
    fields = plain_fields(value if isinstance(value, dict) else {"": value})
    return StateRecord(
        passage=passage,
        tokens=passage_tokens(passage),
        record=place.record,
        table=place.table,
        keys=place.keys,
        held=frozenset(named_terms(value)),
        fields=fields,
        entry=entry,
    )


def _keys(key: str, member: Any) -> frozenset[str]:
    """The terms that name a member: its key, or the id of what has a mere number; the keys of the tables in it."""
    found = {_own_id(member) if key.isdigit() else as_term(key)}
    if isinstance(member, dict):
        for value in member.values():
            if isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
                found |= {as_term(str(inner)) for inner in value}
    elif isinstance(member, list):
        found |= {_own_id(each) for each in member}
    return frozenset(found - {""})


def _own_id(record: Any) -> str:
    """Return the first member that is called an id; empty when there is none."""
    members = record.items() if isinstance(record, dict) else ()
    return next((as_term(str(v)) for k, v in members if k.casefold().endswith("id") and type(v) in (str, int)), "")


def _holds_containers(value: Any) -> bool:
    """Tell whether a value is an object, or a list with objects or lists in it; empty ones are plain."""
    return bool(value) and (isinstance(value, dict) or (isinstance(value, list) and any(map(_is_container, value))))


def _is_container(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _has_calendar(value: Any, levels: int = 3) -> bool:
    if not isinstance(value, dict) or not levels:
        return False
    if len(value) >= CALENDAR_DAYS and all(DAY.fullmatch(str(key)) for key in value):
        return True
    return any(_has_calendar(member, levels - 1) for member in value.values())
