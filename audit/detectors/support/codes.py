"""Texts that no computation makes right: days and times that do not exist, and unknown codes of a known form."""

import datetime
import re
from collections.abc import Iterable

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_NUMBERED = re.compile(r"(?:[A-Za-z]+ )?(?P<letters>[A-Z]{1,4})-?\d{1,4}")
_NUMBERS = re.compile(r"\d{1,6}(?P<sign>[-/.])\d{1,4}(?P=sign)\d{1,4}")
_FEWEST = 3


def impossible(text: str) -> str | None:
    """Return what is impossible about a day or a time of day, or None.

    >>> impossible("2025-02-30"), impossible("72:10"), impossible("19:30")
    ('no calendar has this day', 'no clock shows this time', None)
    """
    if match := _DAY.fullmatch(text):
        try:
            datetime.date(*map(int, match.groups()))
        except ValueError:
            return "no calendar has this day"
    if match := _TIME.fullmatch(text):
        hours, *rest = (int(part) for part in match.groups() if part)
        if hours > 24 or any(part > 59 for part in rest):
            return "no clock shows this time"
    return None


def misshapen_day(text: str, others: Iterable[str]) -> bool:
    """Tell whether three numbers are no day as the others write it, though they are written like one.

    >>> shelf = ["2025-04-01", "2025-04-09", "2025-05-30"]
    >>> [misshapen_day(text, shelf) for text in ("20255-04-09", "2025-4-09", "2025-04-31", "04/09/2025")]
    [True, True, False, False]
    """
    if not (match := _NUMBERS.fullmatch(text)) or _DAY.fullmatch(text) or match["sign"] != "-":
        return False
    alike = [other for other in others if _NUMBERS.fullmatch(other)]
    return len(alike) >= _FEWEST and all(map(_DAY.fullmatch, alike))


def shows_times_of_day(texts: Iterable[str]) -> bool:
    """Tell whether some of the texts are times, and all of these exist: "72:10" is then no duration."""
    times = [text for text in texts if _TIME.fullmatch(text)]
    return bool(times) and not any(impossible(text) for text in times)


def form(text: str) -> str | None:
    """Write the form of a code of digits and capitals; None when a text has not both.

    >>> form("595.78 HAL"), form("VN-27712"), form("hello"), form("20 hours")
    ('000.00 AAA', 'AA-00000', None, None)
    """
    if not re.search(r"\d", text) or not re.search(r"[A-Z]", text) or re.search(r"[a-z]", text):
        return None
    return re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", text))


def is_family(codes: Iterable[str]) -> bool:
    """Tell whether three or more texts of one form are codes, and not amounts with a unit.

    They are when their letters mostly differ, or when no space or point stands in them.

    >>> is_family(["595.78 HAL", "623.88 PAS", "641.81 ODU"]), is_family(["12.00 EUR", "13.00 EUR", "19.10 EUR"])
    (True, False)
    """
    different = set(codes)
    letters = {"".join(re.findall(r"[A-Z]+", code)) for code in different}
    joined = all(re.fullmatch(r"[A-Z0-9-]+", code) for code in different)
    return len(different) >= _FEWEST and (joined or len(letters) * 2 > len(different))


def siblings(text: str, passages: Iterable[str]) -> set[str]:
    """Find the other numbers of a numbered list, such as the rules L1, L2, L3 of a policy for "rule L9".

    >>> sorted(siblings("rule L9", ["Rule L1: be kind. Rule L2: be quick."]))
    ['L1', 'L2']
    """
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return set()
    own = re.escape(match["letters"])
    return {found for passage in passages for found in re.findall(rf"(?<![\w-]){own}-?\d{{1,4}}(?![\w-])", passage)}
