"""Texts: marks that carry the meaning, dates, and the user's own spelling."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

from agenthard.audit.execution.mutation.mutant import Change, Place, Truth
from agenthard.taxonomy.accepted import concrete_values

_POWER = re.compile(r"(?<![A-Za-z])([a-z])(?:\^|\*\*)(?=[2-9](?![\d.]))")
_EXPRESSION = re.compile(r"[\w\s+*^/().=-]{3,200}")
_PATH = re.compile(r"/(?:[\w.-]+/)+[\w.-]+")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTHS = "January February March April May June July August September October November December".split()
_WORDS = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]+)*")
_FORMAT = re.compile(
    r"format|enum|yyyy|mm[-/]dd|dd[-/]mm|iso|\be\.?g\b|example|such as|like|case|\d{4}-\d{2}|upper|lower|exact", re.I
)


def lost_power(place: Place, random: Random) -> Iterator[Change]:
    """Multiply where a power is meant, x^2 as x*2: wrong, because it is another function."""
    value = place.value
    if isinstance(value, str) and _EXPRESSION.fullmatch(value) and _POWER.search(value):
        changed = _POWER.sub(r"\1*", value, count=1)
        yield Change("lost-power", changed, Truth.WRONG, "a power is not a product", "operator")


def lost_slash(place: Place, random: Random) -> Iterator[Change]:
    """Drop the last slash of an absolute path: wrong, because it names another file."""
    if isinstance(place.value, str) and _PATH.fullmatch(place.value):
        folder, _, name = place.value.rpartition("/")
        yield Change("lost-slash", f"{folder}{name}", Truth.WRONG, "it names another file", "operator")


def other_day(place: Place, random: Random) -> Iterator[Change]:
    """Take the next day, and one in 10,000 days: wrong, because they are other days."""
    day = _day(place)
    for operator, days in (("next-day", 1), ("far-day", 10_000)):
        if day is not None and day.year < date.max.year - 100:
            later = (day + timedelta(days=days)).isoformat()
            yield Change(operator, later, Truth.WRONG, "it is another day", "field")


def users_date(place: Place, random: Random) -> Iterator[Change]:
    """Write a day as the user does, where no format is documented: equivalent, it is the same day.

    It is certain where the ground truth itself accepts a day written in words.
    """
    day = _day(place)
    if day is None or _asks_for_form(place):
        return
    month = _MONTHS[day.month - 1]
    spelled = re.compile(
        rf"\b(?:{month}|{month[:3]}\.?) {day.day}(?:st|nd|rd|th)?,? {day.year}\b"
        rf"|\b{day.day}(?:st|nd|rd|th)?(?: of)? (?:{month}|{month[:3]}),? {day.year}\b",
        re.IGNORECASE,
    )
    for _, text in place.task.user_texts():
        found = spelled.search(text)
        if found:
            why = "it is the same day in the user's own words, and no format is documented"
            accepted = concrete_values(place.call.arguments[place.argument])
            words = any(isinstance(one, str) and re.search("[A-Za-z]{3}", one) for one in accepted)
            yield Change("date-as-the-user-says", found[0], Truth.EQUIVALENT, why, "task", certain=words)
            return


def users_case(place: Place, random: Random) -> Iterator[Change]:
    """Write words in the letter case in which the user gives them: equivalent where no form is documented.

    What is stored in a state, or names a file or a record in it, may depend on letter case.
    """
    value = place.value
    if not isinstance(value, str) or not _WORDS.fullmatch(value) or _asks_for_form(place):
        return
    if place.task.ground_truth.call_matching == "state":
        return
    texts = [text for _, text in place.task.user_texts()]
    if any(value in text for text in texts):
        return
    pattern = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    for text in texts:
        found = pattern.search(text)
        if found:
            why = "it is the user's own spelling, and no form is documented"
            yield Change("case-as-the-user-writes", found[0], Truth.EQUIVALENT, why, "task")
            return


def _day(place: Place) -> date | None:
    if not isinstance(place.value, str) or not _ISO.fullmatch(place.value):
        return None
    try:
        return date.fromisoformat(place.value)
    except ValueError:
        return None


def _asks_for_form(place: Place) -> bool:
    """Tell whether the documentation may fix how the value is written."""
    known = ("enum", "pattern", "format", "default", "examples")
    return any(key in place.schema for key in known) or bool(_FORMAT.search(str(place.schema.get("description", ""))))
