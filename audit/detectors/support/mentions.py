"""Numbers, codes, dates and times of day that a text mentions, in a form in which two spellings compare equal."""

import calendar
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

_MONTHS = {name[:3].lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = "(?P<month>" + "|".join(rf"{n[:3]}(?:{n[3:]})?" for n in calendar.month_name if n) + r"|Sept)\.?"
_ORDINAL = "(?:st|nd|rd|th)?"
_CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?Z?)?"
_DATES = (
    re.compile(rf"(?<![\d-])(?P<year>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)(?={_CLOCK})"),
    re.compile(r"(?<![\w.-])(?P<year>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\w-]|\.\d)"),
    re.compile(r"(?<!\d)(?P<year>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]"),
    re.compile(r"(?<![\d年])(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]"),
    re.compile(
        rf"\b{_MONTH} (?:the )?(?P<d>\d{{1,2}})(?!\d|:){_ORDINAL}(?:(?:,| of)? ?(?P<year>(?:19|20)\d\d))?(?!\d)", re.I
    ),
    re.compile(rf"(?<!\d)(?P<d>\d{{1,2}}){_ORDINAL} (?:of )?{_MONTH}\b(?:,? (?P<year>(?:19|20)\d\d))?", re.I),
)
_NUMERIC_DATE = re.compile(r"(?<![\d/.-])(?P<a>\d{1,2})([-/.])(?P<b>\d{1,2})\2(?P<year>(?:19|20)\d\d)(?!\d)")
_TIMES = (
    re.compile(r"(?<![\d:.])(?P<h>\d{1,2})(?::(?P<min>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?", re.I),
    re.compile(
        r"(?<![\d:.])(?P<h>\d{1,2})(?::(?P<min>[0-5]\d))?(?: o'clock)? (?:in the|at) "
        r"(?P<half>morning|afternoon|evening|night)",
        re.I,
    ),
    re.compile(r"(?<![\d:.])(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?::[0-5]\d)?(?![\d:])"),
)
_CODE = re.compile(
    r"(?<![A-Za-z0-9_@./#-])(?:#?(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*"
    r"|\d{2,}(?:-\d{2,})+)(?![A-Za-z0-9_@/-]|\.\w)"
)
_MEASURE = re.compile(r"\d+(?:[a-z]{1,4}|[A-Z])|\d+e-?\d+|\d+-[a-z]+", re.I)
"""A number with its unit, an ordinal, "3-star": not codes."""
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,:/#@^])(?P<minus>(?<!\d)-)?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,8})?(?:[eE][-+]?\d{1,3})?)"
    r"(?P<unit>%| ?percent\b|[kK](?![A-Za-z])|[mM](?![A-Za-z])| ?thousand\b| ?million\b| ?billion\b|[万亿千])?"
    r"(?!\d|[.,:/]\d|-\d|_)"
)
_UNITS = {"%": 0.01, "percent": 0.01, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}
_UNITS |= {"万": 1e4, "亿": 1e8, "千": 1e3}
_SHORTEST_CODE = 4
_MOST = 500

Kind = Literal["number", "code", "date", "time"]


class Mention(NamedTuple):
    """One value in a text."""

    kind: Kind
    start: int
    """Where it begins in the text."""
    text: str
    """As it is written."""
    values: frozenset[float | str]
    """What it may mean: numbers with and without their unit; a code in small letters; a date as ``YYYY-MM-DD`` or, with
    an unknown year, ``-MM-DD``, in both orders where it is written with numbers; a time as minutes of the day."""


@lru_cache(maxsize=256)
def mentions(text: str) -> tuple[Mention, ...]:
    """List the values that a text mentions, at most 500; a part of a date, a time or a code is not a number.

    >>> [m.text for m in mentions("Book B-18 for 2 people on May 3rd at 7 pm, at most $1,250")]
    ['B-18', '2', 'May 3rd', '7 pm', '1,250']
    """
    found, rest = list[Mention](), text
    for reader in (_dates, _times, _codes, _numbers):
        for mention in reader(rest):
            if rest[mention.start : mention.start + len(mention.text)].strip():
                found.append(mention)
                rest = _blanked(rest, mention)
            if len(found) == _MOST:
                break
    return tuple(sorted(found, key=lambda each: each.start))


def _blanked(text: str, mention: Mention) -> str:
    end = mention.start + len(mention.text)
    return text[: mention.start] + " " * (end - mention.start) + text[end:]


def _dates(text: str) -> Iterator[Mention]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            named = match.groupdict()
            month = _MONTHS[named["month"][:3].lower()] if named.get("month") else int(named["m"])
            if 1 <= month <= 12 and 1 <= int(named["d"]) <= 31:
                yield Mention("date", match.start(), match[0], frozenset([_date(named.get("year"), month, named["d"])]))
    for match in _NUMERIC_DATE.finditer(text):
        orders = ((match["a"], match["b"]), (match["b"], match["a"]))
        values = {_date(match["year"], int(month), day) for month, day in orders if 1 <= int(month) <= 12}
        if values:
            yield Mention("date", match.start(), match[0], frozenset(values))


def _date(year: str | None, month: int, day: str) -> str:
    return f"{year or ''}-{month:02}-{int(day):02}"


def _times(text: str) -> Iterator[Mention]:
    for pattern in _TIMES:
        for match in pattern.finditer(text):
            hour, minute, half = int(match["h"]), int(match["min"] or 0), match.groupdict().get("half")
            if half:
                late = half.lower() not in ("a", "morning")
                if hour > 12:
                    continue
                hour = hour % 12 + 12 * late
            yield Mention("time", match.start(), match[0], frozenset([float(60 * hour + minute)]))


def _codes(text: str) -> Iterator[Mention]:
    for match in _CODE.finditer(text):
        bare = match[0].lstrip("#")
        if len(bare) >= _SHORTEST_CODE and not _MEASURE.fullmatch(bare):
            yield Mention("code", match.start(), match[0], frozenset([bare.casefold()]))


def _numbers(text: str) -> Iterator[Mention]:
    for match in _NUMBER.finditer(text):
        number = float(match["digits"].replace(",", "")) * (-1 if match["minus"] else 1)
        factor = _UNITS.get((match["unit"] or "").strip().casefold(), 1.0)
        written = match[0] if match["unit"] in ("%", "万", "亿", "千") else match[0].removesuffix(match["unit"] or "")
        yield Mention("number", match.start(), written, frozenset([number, round(number * factor, 10)]))
