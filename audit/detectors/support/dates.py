"""Dates as benchmarks write them."""

import re
from dataclasses import dataclass

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TIME = r"(?:[T ,]+\d{1,2}:.*)?"
_FULL = (
    re.compile(rf"(?P<year>\d{{4}})[-/.](?P<a>\d{{1,2}})[-/.](?P<b>\d{{1,2}}){_TIME}", re.IGNORECASE),
    re.compile(rf"(?P<a>\d{{1,2}})[-/.](?P<b>\d{{1,2}})[-/.](?P<year>\d{{4}}){_TIME}", re.IGNORECASE),
    re.compile(rf"(?P<name>{_MONTH})[. ]+(?P<a>\d{{1,2}})(?:st|nd|rd|th)?,? ?(?P<year>\d{{4}}){_TIME}", re.IGNORECASE),
    re.compile(rf"(?P<a>\d{{1,2}})(?:st|nd|rd|th)? (?P<name>{_MONTH})[.,]* (?P<year>\d{{4}}){_TIME}", re.IGNORECASE),
)
_YEAR = re.compile(r"(?<!\d)((?:1[5-9]|20|21)\d\d)(?:(?:0\d|1[0-2])[0-3]\d)?(?!\d)")
_SHORT_YEAR = re.compile(r"(?<!\d)\d{1,2}[-/.]\d{1,2}[-/.](\d\d)(?!\d)|['’](\d\d)(?!\d)")
_CENTURY_TURNS = 69
"""Two-digit years from here on are in the 1900s, as in POSIX."""
_DAY_OF_MONTH = re.compile(
    rf"\b{_MONTH}\.? ?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? ?{_MONTH}\b"
    r"|\b\d{1,2}[/.]\d{1,2}\b|\b\d{1,2}(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|current(?:ly)?|(?:next|this|last|upcoming|coming|past) "
    r"(?:few |couple of |\d+ )?(?:day|week|weekend|month|year|mon|tues|wednes|thurs|fri|satur|sun)\w*"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|christmas|new year)\b",
    re.IGNORECASE,
)
_EVERY_YEAR = re.compile(r"christmas|new year", re.IGNORECASE)


@dataclass(frozen=True)
class Date:
    """A date whose year is certain and whose other parts may be in either order."""

    year: int
    """Year with four digits."""
    parts: frozenset[int]
    """Month and day, in no order."""


def parse_date(text: str) -> Date | None:
    """Read a text that is one full date, with or without a time of day; None for anything else.

    >>> parse_date("03/14/2023") == parse_date("March 14, 2023") == parse_date("2023-03-14T10:00:00Z")
    True
    >>> parse_date("March 14") is None
    True
    """
    for pattern in _FULL:
        if match := pattern.fullmatch(text.strip()):
            found = match.groupdict()
            month = _MONTHS.index(found["name"][:3].lower()) + 1 if found.get("name") else int(found["b"])
            return Date(int(found["year"]), frozenset({int(found["a"]), month}))
    return None


def years_in(text: str) -> set[int]:
    """Find the years that a text names, in full or with two digits in a date (``3/14/23``, ``'23``).

    >>> sorted(years_in("from 2021.3.1 or 20220301 until 3/14/23"))
    [2021, 2022, 2023]
    """
    years = {int(year) for year in _YEAR.findall(text)}
    for groups in _SHORT_YEAR.findall(text):
        short = int("".join(groups))
        years.add(short + (2000 if short < _CENTURY_TURNS else 1900))
    return years


def calendar_words(text: str) -> list[str]:
    """Find the words that point at a day without naming its year: ``March 14th``, ``next Friday``, ``3/14``.

    >>> calendar_words("Book it for April 5th or next Friday.")
    ['April 5th', 'next Friday']
    """
    return [match.group() for pattern in (_DAY_OF_MONTH, _RELATIVE) for match in pattern.finditer(text)]


def counted_from_today(word: str) -> bool:
    """Tell whether a calendar word means another day each day, so that it says nothing without today's date.

    >>> [counted_from_today(word) for word in ("tomorrow", "next Friday", "April 5th", "Christmas")]
    [True, True, False, False]
    """
    return _RELATIVE.fullmatch(word) is not None and _EVERY_YEAR.fullmatch(word) is None
