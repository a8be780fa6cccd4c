"""Cut a state into records that can be shown one by one, and read the terms by which records and texts are compared.

Every record is a passage whose text is a contiguous piece of the canonical JSON at its pointer. A value that is short
is one record. A longer one is opened: its containers are cut on their own, and the plain members between them are
*plain pieces* (``/state/stocks/ACME#1``). A *series* (an object whose keys are days, such as prices or measurements) is
always opened, so that a record can be shown with some of its days.
"""

import calendar
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.material import Passage, passage_tokens
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
    """Pointer of the table that the record is in."""
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
    """The table, the record and the keys that a cut value belongs to."""

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
    """Adjacent plain members of an opened value."""

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
    """Return the place of the members of an opened value: in a table, each of them is a record."""
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


LONGEST_TERM = 80
"""Characters up to which a value is a term; longer ones are prose."""
_WORDS = 4
"""Words up to which a name is looked for in a text."""
_TOKEN = re.compile(r"[^\s\"“”‘’(){}\[\]<>,;!?]+")
_EDGES = ".:'`*#-_|"
_INNER = re.compile(r"[:/=|\\.]")
_MONTHS = {
    name.casefold(): f"{number:02}"
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
}
_MONTH, _NUMBER = rf"({'|'.join(sorted(_MONTHS, key=len, reverse=True))})", r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\.?\s+{_NUMBER}\b")
_DAY_FIRST = re.compile(rf"\b{_NUMBER}\s+(?:of\s+)?{_MONTH}\b")
_TIME = re.compile(r"\d\d?:\d\d")
_ISO = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def as_term(text: str) -> str:
    """Bring a value into the form in which terms are compared; empty for what is too short or too long to name a thing.

    >>> as_term("#W123"), as_term(" Water  Bottle"), as_term("x")
    ('w123', 'water bottle', '')
    """
    bare = " ".join(text.casefold().split()).lstrip("#")
    return bare if 2 <= len(bare) <= LONGEST_TERM else ""


def is_time(term: str) -> bool:
    """Tell whether a term begins as a time of day does."""
    return _TIME.match(term) is not None


def named_terms(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the terms of a JSON value, each with the name of the field that holds it.

    Terms are its strings, its whole numbers that are ids, and the keys of objects in it.

    >>> sorted(named_terms({"user_id": 71, "age": 30, "cards": {"card_9": {"brand": "Visa"}}}))
    [('', 'cards'), ('brand', 'visa'), ('cards', 'card_9'), ('user_id', '71')]
    """
    waiting = [(name, value)]
    while waiting:
        field, each = waiting.pop()
        if isinstance(each, dict):
            for key, member in each.items():
                is_id = type(member) is int and str(key).casefold().endswith("id")
                waiting.append((str(key), str(member) if is_id else member))
                waiting += [(field, str(key))] if isinstance(member, dict) else []
        elif isinstance(each, (list, tuple)):
            waiting.extend((field, member) for member in each)
        elif isinstance(each, str) and (found := as_term(each)):
            yield field, found


def terms_in(value: Any) -> set[str]:
    """Return the terms of a JSON value."""
    return {term for _, term in named_terms(value)}


def mentioned(text: str, known: Container[str]) -> set[str]:
    """Return the known terms that a text names, as words of it or as up to four words in a row.

    >>> sorted(mentioned("Is the Water Bottle of order #W123 mine?", {"water bottle", "w123", "order", "cap"}))
    ['order', 'w123', 'water bottle']
    """
    words = [word.strip(_EDGES).removesuffix("'s").removesuffix("\\n") for word in _TOKEN.findall(text.casefold())]
    found: set[str] = set()
    for start, word in enumerate(words):
        found.update(part for part in (word, *_INNER.split(word)) if part in known)
        found.update(
            phrase for count in range(2, _WORDS + 1) if (phrase := " ".join(words[start : start + count])) in known
        )
    return found


def days(text: str) -> set[str]:
    """Return the days that a text names: ISO dates as they are, others without their year. Timestamps do not count.

    >>> sorted(days("from May 20th to 2024-05-22, not on the 23 of May; booked 2024-05-01T10:00:00"))
    ['05-20', '05-23', '2024-05-22']
    """
    words = text.casefold()
    named = [*_MONTH_FIRST.findall(words), *((month, number) for number, month in _DAY_FIRST.findall(words))]
    return {*_ISO.findall(text), *(f"{_MONTHS[month]}-{int(number):02}" for month, number in named)}
