"""Days that can be counted from the days a task names."""

import datetime
import re
from collections.abc import Iterable

from agenthard.audit.detectors.support.derived_numbers import numbers_said

_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_SPAN = re.compile(
    r"(?P<before>(?:[\w,-]+ ){0,6}?)(?P<unit>day|night|week|fortnight|month|quarter|year)s?\b", re.IGNORECASE
)
_LENGTHS = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "month": 31, "quarter": 92, "year": 366}
_SHORTEST_REACH = 31
_TIMES = 2
"""A span may be counted twice, as by a renewal."""
_FEWEST = 3
"""Fewer days say nothing about the time that a task is about."""


def days_in(texts: Iterable[str]) -> frozenset[datetime.date]:
    """Return the days of the calendar that texts name as year, month and day."""
    return frozenset(day for text in texts for match in _DAY.finditer(text) if (day := _day(match[0])) is not None)


def longest_span(texts: Iterable[str]) -> int:
    """Return the longest span of time that texts name, in days, at least a month.

    >>> longest_span(["for 7, 14 or 21 days"]), longest_span(["within two months of a week"])
    (31, 62)
    """
    spans = [
        _LENGTHS[match["unit"].lower()] * max(numbers_said(match["before"]) or {1.0})
        for text in texts
        for match in _SPAN.finditer(text)
    ]
    return int(max([_SHORTEST_REACH, *spans]))


def out_of_reach(text: str, named: frozenset[datetime.date], passages: Iterable[str]) -> str | None:
    """Return why a day cannot be counted from the days that are named, or None.

    The return of a named day in another year can be, and so can one in a month that a text names.

    Args:
        text: the day as year, month and day; anything else gives None.
        named: days that state and texts name.
        passages: the texts that say how days are counted: policy, documentation, the user's words.
    """
    day, words = _day(text), list(passages)
    if day is None or len(named) < _FEWEST or any((day.month, day.day) == (other.month, other.day) for other in named):
        return None
    if any(day.strftime("%B").casefold() in said.casefold() for said in words):
        return None
    nearest = min(named, key=lambda other: (abs(other - day), other))
    span = longest_span(words)
    if abs(nearest - day).days <= _TIMES * span:
        return None
    return f"the nearest day that is named is {nearest}, and no span of more than {span} days is"


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None
