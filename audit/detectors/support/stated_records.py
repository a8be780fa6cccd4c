"""What texts say of one record in several facts: a charge by name, amount and day; a flight by airport and day."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.own_records import Found
from agenthard.audit.detectors.support.reachable_records import texts_of
from agenthard.audit.detectors.support.text import words

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = (
    rf"(?P<name>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)|\b(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})/\d{{4}}\b"
    r"|\b\d{4}-(?P<mm>\d\d)-(?P<dd>\d\d)(?!\d)"
)
_DAYS = re.compile(_DAY)
_AMOUNTS = re.compile(r"\$ ?(\d[\d,]*(?:\.\d\d)?)(?![\d%])")
_NAME = re.compile(
    r"(?<!\d )(?<!\d)((?:[A-Z][\w&'’-]*)(?: (?:[A-Z&][\w&'’-]*|of|the|and))*)[*\"'”]*[ :,(–-]{0,4}"
    r"(?:(?:charge|purchase|payment|transaction)s? )?(?:of |for |- )?$"
)
_EMPTY = frozenset(
    "a an the for of on my your i in and at with from to this that if charge charges dispute disputes "
    "refund cancel return pay paid card account purchase payment transaction".split()
)
_CODE = re.compile(r"\b[A-Z]{3}\b")
LONGEST = 3000
"""Characters of a record of one person; the timetable of a flight is longer."""
_NEAR = 45
"""Characters between two facts about one thing."""

Day = tuple[int, int]
"""Month and day."""


class Fact(NamedTuple):
    """What a text says of one record."""

    at: str
    """JSON Pointer of the text."""
    quote: str
    what: str
    """The fact that the record contradicts."""
    said: str
    record: Found
    """A record that has the other facts."""


def days_of(text: str) -> Iterator[tuple[int, int, Day]]:
    """Yield the days of a text without their year: start, end, month and day.

    >>> [day for _, _, day in days_of("On May 17, or 05/18/2024; not 2024-05-19.")]
    [(5, 17), (5, 18), (5, 19)]
    """
    for match in _DAYS.finditer(text):
        if match["name"]:
            day = (_MONTHS.index(match["name"][:3].lower()) + 1, int(match["day"]))
        else:
            day = (int(match["m"] or match["mm"]), int(match["d"] or match["dd"]))
        yield match.start(), match.end(), day


def charges_in(text: str) -> bool:
    """Tell whether a text names an amount in cents.

    >>> charges_in("Uline $412.34"), charges_in("$50")
    (True, False)
    """
    return any("." in amount for amount in _AMOUNTS.findall(text))


def places_in(text: str) -> bool:
    """Tell whether a text names a day and the code of a place.

    >>> places_in("From JFK on May 17."), places_in("On May 17.")
    (True, False)
    """
    return _CODE.search(text) is not None and next(days_of(text), None) is not None


class _Object(NamedTuple):
    found: Found
    amounts: frozenset[float]
    days: frozenset[Day]
    words: frozenset[str]


def _read(found: Found) -> _Object:
    scalars = [value for value in found[1].values() if not isinstance(value, dict | list)]
    texts = [value for value in scalars if isinstance(value, str)]
    amounts = {float(value) for value in scalars if isinstance(value, int | float) and not isinstance(value, bool)}
    amounts |= {float(value.replace(",", "")) for text in texts for value in _AMOUNTS.findall(text)}
    days = {day for text in texts for _, _, day in days_of(text)}
    return _Object(
        found, frozenset(amounts), frozenset(days), frozenset(word for text in texts for word in words(text))
    )


def contradicted_charges(texts: Sequence[tuple[str, str]], objects: Sequence[Found]) -> Iterator[Fact]:
    """Yield charges that texts name by a name and an amount, of which records have one and not the other.

    Args:
        texts: the texts, each with its JSON Pointer.
        objects: the records, each with its JSON Pointer.
    """
    read = [each for each in map(_read, objects) if each.amounts and each.words]
    for at, text in texts if read else ():
        for match in _AMOUNTS.finditer(text):
            named = _NAME.search(text[max(0, match.start() - 70) : match.start()])
            own = set(words(named[1])) - _EMPTY if named else set()
            amount = float(match[1].replace(",", ""))
            if not own or named is None or "." not in match[1]:
                continue
            with_amount = [each for each in read if amount in each.amounts]
            with_name = [each for each in read if own <= each.words]
            day = next((day for start, _, day in days_of(text[match.end() : match.end() + 30]) if start < 6), None)
            said = f"{named[1]} {match[0]}"
            quoted = text[max(0, match.start() - 70) + named.start(1) : match.end()]
            right = [each for each in with_amount if own <= each.words]
            near = [each for each in with_amount if not own.isdisjoint(each.words)]
            on_the_day = [each for each in with_amount if day in each.days]
            if right:
                if day and all(each.days and day not in each.days for each in right):
                    yield Fact(at, quoted, "day", said, right[0].found)
            elif on_the_day or (len(with_amount) == 1 and not near):
                yield Fact(at, quoted, "name", said, [*on_the_day, *with_amount][0].found)
            elif day and not with_amount and any(day in each.days for each in with_name):
                yield Fact(at, quoted, "amount", said, next(each for each in with_name if day in each.days).found)


_TRIP = re.compile(
    r"\b(?:flights?|trips?|reservation|booking|leav\w+|depart\w+|from|to|out of) [^.]{0,12}\b[A-Z]{3}\b"
    r"|\b[A-Z]{3} (?:flight|trip)"
)
_TARGET = re.compile(r"\b(?:to|until|for|till|than|or|and|instead|new)\b[^.,;]{0,12}$", re.IGNORECASE)


def contradicted_days(
    texts: Sequence[tuple[str, str]], objects: Sequence[Found], given: frozenset[Day]
) -> Iterator[Fact]:
    """Yield days that texts name together with the code of a place, where no record with that code has the day.

    Args:
        texts: the texts, each with its JSON Pointer.
        objects: the records, each with its JSON Pointer.
        given: the days that gold calls give: a day that is wanted is in no record yet.
    """
    named = [(at, text, *found) for at, text in texts for found in days_of(text) if _CODE.search(text)]
    read = [(each, {value for value in each[1].values() if isinstance(value, str)}) for each in objects if named]
    coded = [(each, values) for each, values in read if any(_CODE.fullmatch(value) for value in values)]
    legs = [(each, values, days_given(each[1])) for each, values in coded if len(str(each[1])) <= LONGEST]
    for at, text, start, end, day in named:
        if day in given or _TARGET.search(text[max(0, start - 20) : start]):
            continue
        sentence = text[max(0, start - _NEAR) : start].rpartition(". ")[2] + text[start:end] + text[end : end + 12]
        codes = set(_CODE.findall(sentence)) if _TRIP.search(sentence) else set()
        about = [leg for leg in legs if leg[2] and codes and codes <= leg[1]]
        about = about or [leg for leg in legs if leg[2] and codes & leg[1]]
        if about and not any(day in days for _, _, days in about):
            yield Fact(at, text[start:end], "day", f"{' '.join(sorted(codes))} {text[start:end]}", about[0][0])


def days_given(value: object) -> frozenset[Day]:
    """Collect the days of a JSON value."""
    return frozenset(day for text in texts_of(value) for _, _, day in days_of(text))
