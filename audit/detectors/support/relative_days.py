"""Days that a request counts from a stated today: tomorrow, yesterday, the next Friday, all of August."""

import calendar
import datetime
import re
from collections.abc import Iterator
from typing import NamedTuple

from agenthard.audit.detectors.support.mentions import Mention, mentions

_TODAY = re.compile(
    r"(?:\btoday(?:'s date| date)? ?(?:is|being|=|,|:)|\bcurrent (?:date|time)(?: and time)? ?(?:is|:)|今天是)"
    r"[\s,:]*(?:\w+day,? )?(?:the )?$",
    re.IGNORECASE,
)
_NEAR = 12
"""Characters around a date within which a weekday is that of the date."""
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_WEEKDAY = "|".join(_WEEKDAYS)
_WORDS = (
    (re.compile(r"\bday after tomorrow\b|后天", re.IGNORECASE), (2,)),
    (re.compile(r"(?<!day after )\btomorrow\b|明天", re.IGNORECASE), (1,)),
    (re.compile(r"(?<!day before )\byesterday\b|昨天", re.IGNORECASE), (-1,)),
)
_NEXT = re.compile(rf"\b(?:(?P<which>next|this|upcoming|coming|this coming|on) )(?P<day>{_WEEKDAY})\b", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:week|weeks|weekend|month|months|days|later|after|before|until|till|from|to|through|between|end|start|same"
    r"|following|return\w*|night|nights|eve|midnight|past|last|day)\b|[周月底后前]",
    re.IGNORECASE,
)
"""Words by which more than one day may be meant, or one that is counted from another."""


class DayWord(NamedTuple):
    """A word for a day that is counted from today."""

    text: str
    """As it is written."""
    today: Mention
    """The date that the text gives as today's."""
    days: frozenset[str]
    """What it may mean, as ``YYYY-MM-DD``."""


def day_words(text: str) -> list[DayWord]:
    """List the words of a text that are counted from a date that it gives as today's.

    >>> [sorted(word.days) for word in day_words("Any concert tomorrow? Today is 2023-09-29.")]
    [['2023-09-30']]
    """
    todays = [m for m in mentions(text) if m.kind == "date" and _TODAY.search(text[max(0, m.start - 45) : m.start])]
    if len(todays) != 1 or len(todays[0].values) != 1 or str(next(iter(todays[0].values)))[0] == "-":
        return []
    try:
        today = datetime.date.fromisoformat(str(next(iter(todays[0].values))))
    except ValueError:
        return []
    near = text[max(0, todays[0].start - _NEAR) : todays[0].start + len(todays[0].text) + _NEAR].lower()
    if any(name in near for name, number in _WEEKDAYS.items() if number != today.weekday()):
        return []  # the text may contradict itself on what day today is
    rest = text[: todays[0].start] + " " * len(todays[0].text) + text[todays[0].start + len(todays[0].text) :]
    return [DayWord(word, todays[0], days) for word, days in _counted(rest, today)]


def _counted(text: str, today: datetime.date) -> Iterator[tuple[str, frozenset[str]]]:
    for pattern, offsets in _WORDS:
        for match in pattern.finditer(text):
            yield match[0], frozenset(str(today + datetime.timedelta(offset)) for offset in offsets)
    for match in _NEXT.finditer(text):
        ahead = (_WEEKDAYS[match["day"].lower()] - today.weekday()) % 7
        yield match["day"], frozenset(str(today + datetime.timedelta(ahead + extra)) for extra in (0, 7))


def counts_on(text: str) -> bool:
    """Tell whether a text may mean further days, which are counted from others."""
    return _OTHER.search(text) is not None


def is_today(text: str, mention: Mention) -> bool:
    """Tell whether a text gives a date as today's."""
    return _TODAY.search(text[max(0, mention.start - 45) : mention.start]) is not None


_WHOLE_MONTH = re.compile(
    r"\b(?:entire|whole|full|all of|throughout)(?: the)?(?: month)?(?: of)? "
    rf"(?P<month>{'|'.join(name for name in calendar.month_name if name)})\b",
    re.IGNORECASE,
)


def whole_months(text: str) -> list[tuple[str, int]]:
    """List the months of which a text means all days: the words, and the number of the month.

    >>> whole_months("Alerts for India during the entire month of August")
    [('entire month of August', 8)]
    """
    names = [name.lower() for name in calendar.month_name]
    return [(match[0], names.index(match["month"].lower())) for match in _WHOLE_MONTH.finditer(text)]
