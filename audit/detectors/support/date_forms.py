"""Forms of dates that a documentation prescribes, and parts of dates that no calendar has."""

import re
from collections.abc import Sequence
from typing import Any

from agenthard.audit.detectors.support.gold_values import name_words

_FORM = re.compile(r"(?<![A-Za-z])(YYYY|MM|DD)([-/.]?)(YYYY|MM|DD)\2(YYYY|MM|DD)(?![A-Za-z])", re.IGNORECASE)
_PARTS = {"YYYY": r"(?:1[5-9]|20|21)\d\d", "MM": r"(?:0?[1-9]|1[0-2])", "DD": r"(?:0?[1-9]|[12]\d|3[01])"}
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|(?:19|20)\d{6}")
_CLOCK = r"(?:[T ].*)?"
_LARGEST = {"month": 12, "day": 31, "hour": 24, "minute": 60}


def broken_form(prose: str, name: str, values: Sequence[Any]) -> str | None:
    """Return why no accepted value is a date, or a part of one, as its parameter wants it; None where one is.

    Args:
        prose: the documentation of the parameter.
        name: its name.
        values: the values that are accepted.
    """
    given = [value for value in values if value is not None and value != ""]
    texts = [value for value in given if isinstance(value, str)]
    form = other_date_form(prose, texts) if len(texts) == len(given) else None
    return f"the documentation says: {form}" if form else beyond_calendar(name, given)


def other_date_form(prose: str, texts: Sequence[str]) -> str | None:
    """Return the one form of dates that a documentation prescribes, where all accepted dates have another.

    Args:
        prose: the documentation of a parameter.
        texts: the accepted values.

    >>> other_date_form("Start date, in the format DD/MM/YYYY.", ["2024-03-01"])
    'DD/MM/YYYY'
    >>> other_date_form("YYYY-MM-DD", ["2024-3-1", "today"]) is None
    True
    """
    forms = {match[0].upper(): match for match in _FORM.finditer(prose)}
    if len(forms) != 1 or not texts or not all(re.fullmatch(_DATE.pattern + _CLOCK, text) for text in texts):
        return None
    (form, match), *_ = forms.items()
    parts = [match[i].upper() for i in (1, 3, 4)]
    if len(set(parts)) != len(parts):
        return None
    right = re.escape(match[2]).join(_PARTS[part] for part in parts) + _CLOCK
    return None if any(re.fullmatch(right, text) for text in texts) else form


def beyond_calendar(name: str, values: Sequence[Any]) -> str | None:
    """Return what is wrong where all accepted values of a parameter are months, days or hours that do not exist.

    >>> beyond_calendar("month", [15]), beyond_calendar("departure_month", [12]), beyond_calendar("months", [15])
    ('a month is at most 12', None, None)
    """
    words = name_words(name)
    most = _LARGEST.get(words[-1]) if words else None
    if most is None or {"per", "number", "num", "count", "total", "each"} & set(words) or len(words) > 2:  # noqa: PLR2004
        return None
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if not numbers or len(numbers) < len(values) or min(numbers) <= most:
        return None
    return f"a {words[-1]} is at most {most}"
