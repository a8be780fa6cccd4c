"""Prompts that take the day from a clock instead of stating it."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.outside_world import Passage
from agenthard.taxonomy.task import AgentTask

_FILLED = (
    r"\{\{-?[^{}\n]{1,120}\}\}|\{%-?[^{}\n]{1,120}%\}|\$\{[^{}\n]{1,120}\}|#\{[^{}\n]{1,120}\}|\{(?![\s\"'{%])[^{}\n]{1,80}\}"
    r"|<%=?[^<>\n]{1,120}%>|\$\([^()\n]{1,60}(?:\([^()\n]{0,30}\))?[^()\n]{0,60}\)|`[^`\n]{1,60}`|%\(\w{1,30}\)s"
    r"|<(?!/)[A-Za-z_][\w '’-]{0,40}>|\[\[?[A-Za-z_][\w '’-]{0,40}\]\]?|\$[A-Za-z_]\w{0,30}|%[A-Z_]{3,30}%"
    r"|__[A-Z][A-Z_]{2,30}__|@@?[A-Z_]{3,30}@@?"
)
"""What a template fills in, in the languages in which prompts are written."""
_BLANK = re.compile(_FILLED)
_CLOCK_CODE = (
    r"\b(?:datetime|date|time|LocalDate(?:Time)?|ZonedDateTime|Instant|DateTime|Time|moment|Date|pd\.Timestamp|dayjs)"
    r"(?:\.\w+)*(?:\.|::)(?:now|today|utcnow|current|UtcNow|Now|Today)\b|\bnew Date\b"
    r"|\btime\.(?:time|localtime|gmtime)\(|\b(?:now|today|utcnow|getdate|sysdate|curdate|strftime|strftime_now|current_date|current_timestamp)\s*\("
)
_CODE = re.compile(_CLOCK_CODE)
_NOW = re.compile(
    r"(?:\b|_)(?:now|today|todays|today['’]s|utcnow|sysdate|current[ _.-]?(?:date|day|time|datetime|timestamp))(?:\b|_)"
    r"|\b(?:current|today)(?=[A-Z])|^\W*date\s+[\"']?[-+]",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"^\W*(?:(?:the|insert|fill in|enter|your|actual|put)[ _])*"
    r"(?:date|time|day|datetime|timestamp|dt|date_?str|date_?time)\W*$",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:today(?:['’]s date)?|now|(?:current|present|actual) (?:date|day|time|date and time)|date|day|time|it)"
    r"\s*(?:is|are|=|:)+\s*(?:it is\s*)?[*_\"'(]*$",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\b(?:system|host|machine|server|computer|device|wall|built-in|internal|real-time)(?:['’]s)? (?:clock|date)\b"
    r"|\b(?:today|now|(?:current|present|local) (?:time|date|day))\b[^.\n]{0,40}\b(?:of|from|by|on) (?:the|your|its) "
    r"(?:computer|machine|host|system|server|device|operating system|clock)\b"
    r"|\b(?:today|now|(?:current|present) (?:date|day|time))\b (?:is|means)[^.\n]{0,30}\b(?:on which|when) "
    r"(?:this|you|the \w+) (?:\w+ )?(?:runs?|are run|is run|is executed|execute|is read|read|is evaluated)\b",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}(?!\d)")
_LINE_BEFORE = 60


def clocks(task: AgentTask) -> Iterator[Passage]:
    """Yield what makes a prompt take the day from the clock, in a task whose ground truth has a fixed day.

    That is a blank or an expression of a template for today's date, in any template language; code that asks a clock;
    or words that refer to the clock of the computer. A prompt that states a day as well has its present.
    """
    if not _fixed_day(task):
        return
    for pointer, text in _prompts(task):
        if _DAY.search(text):
            continue
        if blank := unfilled_date(text):
            yield Passage(pointer, blank, "leaves today's date blank")
        elif match := _CODE.search(text) or _IN_WORDS.search(text):
            yield Passage(pointer, match[0], "takes the day from a clock")


def unfilled_date(text: str) -> str:
    """Return the first blank or expression that a template fills with the present day; empty when there is none.

    It names the present itself (now, today, the current date, a function of a clock), or it is called date or time and
    stands where the text says what day it is.

    >>> unfilled_date("Date: {date}. Write days as {day}.")
    '{date}'
    """
    for match in _BLANK.finditer(text):
        before = text[max(0, match.start() - _LINE_BEFORE) : match.start()].rpartition("\n")[2]
        inner = match[0].strip("`")
        if match[0].startswith("`") and not (_CODE.search(inner) or re.match(r"date(?:\s+[-+]|$)", inner)):
            continue
        if match[0].startswith("`") and not _CODE.search(inner) and not _PRESENT.search(before):
            continue
        if _CODE.search(inner) or _NOW.search(inner) or (_DATE.match(inner) and _PRESENT.search(before)):
            return match[0]
    return ""


def _prompts(task: AgentTask) -> Iterator[tuple[str, str]]:
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    for i, turn in enumerate(task.user.turns):
        for j, message in enumerate(turn):
            if message.role == "system":
                yield f"/user/turns/{i}/{j}/content", message.content


def _fixed_day(task: AgentTask) -> bool:
    if any(_DAY.search(text) for text in task.ground_truth.outputs):
        return True
    values = (value for _, call in task.gold_calls() for value in gold_values(call.arguments) if not value.omissible)
    return any(_DAY.search(text) for value in values for _, text in value.strings())
