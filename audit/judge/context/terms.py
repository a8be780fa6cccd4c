"""The terms by which texts and records meet: identifiers, names, codes and days, compared without case."""

import calendar
import re
from collections.abc import Container, Iterator
from typing import Any

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
    """Return the days that a text names: ISO dates as they are, others without their year. Moments are no days.

    >>> sorted(days("from May 20th to 2024-05-22, not on the 23 of May; booked 2024-05-01T10:00:00"))
    ['05-20', '05-23', '2024-05-22']
    """
    words = text.casefold()
    named = [*_MONTH_FIRST.findall(words), *((month, number) for number, month in _DAY_FIRST.findall(words))]
    return {*_ISO.findall(text), *(f"{_MONTHS[month]}-{int(number):02}" for month, number in named)}
