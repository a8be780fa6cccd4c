"""The terms by which texts and records meet: identifiers, names, codes and days, compared without case."""

import calendar
import re
from collections.abc import Container, Iterator
from datetime import date
from typing import Any

LONGEST = 80
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
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3}
_SIGNS = {"next": 1, "following": 1, "later": 1, "after": 1, "previous": -1, "earlier": -1, "before": -1}
_SHIFT = re.compile(
    rf"\b(?:(next|following|previous|by) )?(?:({'|'.join(_COUNTS)}|[1-9]) )?days?(?: (later|earlier|after|before))?\b"
)
_ISO = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def as_term(text: str) -> str:
    """Bring a value into the form in which terms are compared; empty for what is too short or too long to name a thing.

    >>> as_term("#W123"), as_term(" Water  Bottle"), as_term("x")
    ('w123', 'water bottle', '')
    """
    bare = " ".join(text.casefold().split()).lstrip("#")
    return bare if 2 <= len(bare) <= LONGEST else ""


def is_day(text: str) -> bool:
    """Tell whether an ISO date is one of the calendar: 2024-02-30 is none."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_time(term: str) -> bool:
    """Tell whether a term begins as a time of day does."""
    return _TIME.match(term) is not None


def terms_in(value: Any) -> Iterator[str]:
    """Yield the terms of a JSON value: its strings, its whole numbers that are ids, and the keys of objects in it.

    >>> sorted(terms_in({"user_id": 71, "age": 30, "cards": {"card_9": {"brand": "Visa"}}}))
    ['71', 'card_9', 'cards', 'visa']
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            for key, member in each.items():
                is_id = type(member) is int and str(key).casefold().endswith("id")
                waiting.append(str(member) if is_id else member)
                waiting += [str(key)] if isinstance(member, dict) else []
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)
        elif isinstance(each, str) and (found := as_term(each)):
            yield found


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
    """Return the days that a text names: ISO dates as they are, others without their year. Moments are no days.

    >>> sorted(days("from May 20th to 2024-05-22, not on the 23 of May; booked 2024-05-01T10:00:00"))
    ['05-20', '05-23', '2024-05-22']
    """
    words = text.casefold()
    named = [*_MONTH_FIRST.findall(words), *((month, number) for number, month in _DAY_FIRST.findall(words))]
    return {*_ISO.findall(text), *(f"{_MONTHS[month]}-{int(number):02}" for month, number in named)}


def shifts(text: str) -> set[int]:
    """Return by how many days a text moves a day: later ones are positive, and both signs stand where it is not said.

    >>> sorted(shifts("to the next day; the return by one day")), sorted(shifts("two days earlier")), shifts("in May")
    ([-1, 1], [-2], set())
    >>> shifts("by day and by night; a day trip"), shifts("the day before"), shifts("3 days later")
    (set(), {-1}, {3})
    """
    found = set()
    for before, number, after in _SHIFT.findall(text.casefold()):
        count = _COUNTS.get(number) or int(number or 1)
        signs = {_SIGNS[word] for word in (before, after) if word in _SIGNS} or {1, -1}
        is_move = after or (before and (number or before != "by"))
        found |= {count * sign for sign in signs} if is_move else set()
    return found
