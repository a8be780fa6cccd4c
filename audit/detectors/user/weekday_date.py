"""Check: dates of the user that name a weekday which they do not fall on."""

import datetime
import re
from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
    rf"{_MONTH} {_DAY},? (?P<year>\d{{4}})",
    rf"{_DAY}(?: of)? {_MONTH},? (?P<year>\d{{4}})",
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_BETWEEN = r"[,，、]? ?\(?(?:the )?"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for date in _DATES
    for pattern in (rf"\b{_WEEKDAY}{_BETWEEN}{date}(?!\d)", rf"(?<!\d){date}{_BETWEEN}{_WEEKDAY}\b")
)


class WeekdayDate(TaskDetector):
    """A weekday and a full date next to each other in the user's texts mean the same day.

    A date with a year has one weekday, so nothing but the calendar is needed. Read are ``2023-05-15``, ``2023.5.15``,
    ``May 15th, 2023`` and ``15 May 2023`` directly before or after the weekday. Dates in digits that do not begin with
    the year are skipped: countries read them in two ways.

    Flagged: "for next Friday, November 10th, 2024", which is a Sunday. Not flagged: "Monday, May 15, 2023", which is
    right; "Friday the 13th", which names no year; "on Friday and 2023-05-15", which may be two days.

    Wrong where the two are meant as two days ("the Friday 2023-05-15 reports to").
    """

    id = "weekday-date"
    title = "Weekdays that contradict the date next to them"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "The weekday means one day and the date another, and the ground truth takes one of them."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without a word of the user cannot be checked."""
        return None if next(task.user_texts(), None) else "the user says nothing"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per date with a wrong weekday."""
        for pointer, text in task.user_texts():
            if "day" not in text.lower():
                continue
            for pattern in _PATTERNS:
                for match in pattern.finditer(text):
                    date = _date(match)
                    if date is not None and _WEEKDAYS[date.weekday()] != match["weekday"].lower():
                        yield Hit(
                            claim=f"The user says {match[0]!r}, but that date is a {date:%A}.",
                            evidence=(quote(task, pointer, text=match[0], note="weekday and date"),),
                            fix="Correct the weekday or the date, whichever the ground truth does not use.",
                            cause=shared_cause(task, match[0]),
                        )


def _date(match: re.Match[str]) -> datetime.date | None:
    found = match.groupdict()
    name = found.get("name")
    month = _MONTHS.index(name[:3].lower()) + 1 if name else int(found["month"])
    try:
        return datetime.date(int(found["year"]), month, int(found["day"]))
    except ValueError:
        return None
