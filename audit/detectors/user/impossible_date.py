"""Dates that the calendar does not have."""

import calendar
import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.task_texts import sentence_around
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_MONTHS = [name.lower() for name in calendar.month_name][1:]
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"\b(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month2>{_MONTH}),? (?P<year2>\d{{4}})\b"
    r"|(?<![\d/.-])(?P<year3>(?:19|20)\d\d)-(?P<month3>\d\d)-(?P<day3>\d\d)(?![\d/.-])",
    re.IGNORECASE,
)


class ImpossibleDate(TaskDetector):
    """A text of the user, the policy or a gold argument names a full date that does not exist.

    Rule: a date with its year, whose month is in words or which is written as year-month-day, is not in the calendar.
    Dates next to a wrong day of the week are left to ``weekday-date``.

    Flagged: "June 31, 2024"; "2023-02-30". Not flagged: "February 29, 2024"; a date without a year; a task in which no
    call is expected, because the date may be there to be refused.

    Wrong where an impossible date is there to see whether the agent notices, in a task that expects calls as well.
    """

    id = "impossible-date"
    title = "a date that the calendar does not have"
    version = "1"
    experimental = True
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "Which day is meant has to be guessed."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return "no call is expected; the date may be there to be refused" if "expects_no_call" in task.traits else None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each impossible date once."""
        seen: set[str] = set()
        for pointer, text in _texts(task):
            for claim, start, end in _impossible(text):
                if claim in seen:
                    continue
                seen.add(claim)
                yield Hit(
                    claim=claim,
                    evidence=(quote(task, pointer, text=sentence_around(text, start, end), note="the date"),),
                    fix="Correct the date.",
                    category="incorrect-tool-call" if pointer.startswith("/ground_truth") else None,
                    cause=claim if pointer == "/environment/policy" else shared_cause(task, claim),
                )


def _texts(task: AgentTask) -> Iterator[tuple[str, str]]:
    yield from task.user_texts()
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    for pointer, call in task.gold_calls():
        if call.arguments:
            yield f"{pointer}/arguments", canonical_json(call.arguments)


@lru_cache(maxsize=256)
def _impossible(text: str) -> tuple[tuple[str, int, int], ...]:
    """List the impossible dates of a text with their spans; policies are shared, so the last texts are remembered."""
    found = ((_claim(match), *match.span()) for match in _DATE.finditer(text))
    return tuple((claim, start, end) for claim, start, end in found if claim)


def _claim(match: re.Match[str]) -> str | None:
    found = match.groupdict()
    year, day = (int(next(found[f"{part}{i}"] for i in ("", 2, 3) if found[f"{part}{i}"])) for part in ("year", "day"))
    month = int(found["month3"]) if found["month3"] else _MONTHS.index((found["month"] or found["month2"]).lower()) + 1
    try:
        date(year, month, day)
    except ValueError:
        return f"The day “{match[0]}” does not exist"
    return None
