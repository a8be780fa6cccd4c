"""Required texts that the agent cannot know: impossible dates, unknown codes, misspelt texts, amounts of no bill."""

import datetime
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.numbers import numbers_said
from agenthard.audit.detectors.support.spelling import neighbours
from agenthard.taxonomy.accepted import nearest_value
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall

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
    """Tell whether three numbers are written like a day and are not one in the order that the others use.

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

    They are when their letters mostly differ, or when they contain no space and no point.

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


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FEWEST_LETTERS = 5
_FEWEST_OF_PUT_IN, _FEWEST_OF_REPLACED = 6, 7
"""Letters of a word on its own, for one put in, lost or replaced to be a slip: "least" is not a slip of "last"."""
_MOST_WORDS = 6
_SPELLINGS = frozenset({frozenset("sz"), frozenset("ce"), frozenset("cs"), frozenset("iy")})
"""Letters that two spellings of one word have in place of one another: organise, organize; licence, license."""


def meant(task: AgentTask, text: str) -> str | None:
    """Return the one text of the state, the policy or the tools that ``text`` is a slip away from, or None.

    A slip changes one word: two neighbouring letters are exchanged, or one inside the word is lost, put in or replaced
    by another, which in a short word on its own makes another word as often. A change at the end of a word is
    inflection and none, nor is one at its start, unless it is a neighbouring key in one of several words, nor one of
    digits.

    Args:
        task: the task.
        text: a text that appears nowhere in the task.
    """
    given = _words(text)
    if not 0 < len(given) <= _MOST_WORDS or sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        return None
    joined = " ".join(given)
    there = {" ".join(passage) for passage in _passages(task, len(given))}
    near = process.extract(joined, there, scorer=OSA.distance, score_cutoff=1, limit=None)
    found = sorted(other for other, _, _ in near if _is_slip(given, other.split(" ")))
    return found[0] if len(found) == 1 else None


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _passages(task: AgentTask, length: int) -> Iterator[tuple[str, ...]]:
    """Yield all runs of ``length`` words of what the agent can read, apart from what the user says."""
    tools = (*task.environment.tools, *task.environment.user_tools)
    texts = {task.environment.policy, *(tool.description for tool in tools)}
    for source in (task.environment.state, task.initial_state, *(tool.parameters for tool in tools)):
        texts |= {text for text in scalars_in(source)}
    for text in texts:
        words = _words(text)
        yield from zip(*(words[start:] for start in range(length)), strict=False)


def _is_slip(given: list[str], other: list[str]) -> bool:
    changed = [pair for pair in zip(given, other, strict=True) if pair[0] != pair[1]]
    return len(changed) == 1 and _is_slip_of_word(*changed[0], alone=len(given) == 1)


def _is_slip_of_word(given: str, other: str, alone: bool = True) -> bool:
    """Tell whether one word is a misspelling of the other.

    >>> [_is_slip_of_word(given, "evening") for given in ("evenign", "evning", "eveening", "evenimg", "evenings")]
    [True, True, True, True, False]
    """
    start = next((i for i, (a, b) in enumerate(zip(given, other, strict=False)) if a != b), min(len(given), len(other)))
    longer = max(given, other, key=len)
    inside = 0 < start < len(longer) - 1
    if len(given) != len(other):
        return inside and longer[start].isalpha() and (not alone or len(longer) >= _FEWEST_OF_PUT_IN)
    here, there = given[start : start + 2], other[start : start + 2]
    if here == there[::-1]:
        return here.isalpha() and {here, there} != {"er", "re"}
    letters = frozenset((here[0], there[0]))
    long = not alone or len(given) >= _FEWEST_OF_REPLACED
    if start == 0 and len(given) > 2 and not alone and given[1:] == other[1:]:
        return neighbours(*sorted(letters))
    return inside and long and all(map(str.isalpha, letters)) and letters not in _SPELLINGS


_DAY_IN_TEXT = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_SPAN = re.compile(
    r"(?P<before>(?:[\w,-]+ ){0,6}?)(?P<unit>day|night|week|fortnight|month|quarter|year)s?\b", re.IGNORECASE
)
_LENGTHS = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "month": 31, "quarter": 92, "year": 366}
_SHORTEST_REACH = 31
_TIMES = 2
"""A span may be counted twice, as by a renewal."""
_FEWEST_DAYS = 3
"""Fewer days say nothing about the time that a task is about."""


def days_in(texts: Iterable[str]) -> frozenset[datetime.date]:
    """Return the days of the calendar that texts name as year, month and day."""
    return frozenset(
        day for text in texts for match in _DAY_IN_TEXT.finditer(text) if (day := _day(match[0])) is not None
    )


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
    if (
        day is None
        or len(named) < _FEWEST_DAYS
        or any((day.month, day.day) == (other.month, other.day) for other in named)
    ):
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
        return datetime.date.fromisoformat(text) if _DAY_IN_TEXT.fullmatch(text) else None
    except ValueError:
        return None


_AMOUNT = re.compile(r"[$€£]?\s?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:\.\d{1,2})?)")
_CENTS = 100
_MOST = 1e12
"""Larger numbers are not amounts of money, and infinities have no cents."""


class ForOne(NamedTuple):
    """A charge of the ground truth, and the thing of which a required amount counts one where the charge counts all."""

    pointer: str
    """JSON Pointer of the charge in the ground truth."""
    charged: float | int
    """The charge."""
    listed: str
    """Argument that lists the things; several where they list equally many."""
    number: int
    """How many there are."""


def charged_for_all(task: AgentTask, text: str) -> ForOne | None:
    """Find the charge of which a required amount is the same for one of the things that a gold call pays for.

    A gold call lists n things (passengers, items) and several payments. A required amount that is one n-th of their sum
    less all payments but one sets the price of one thing against the payments for all; no customer is charged that.

    Returns:
        None where the amount is charged, is not an amount, or no call of the ground truth explains it so.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    required = round(float(match["number"].replace(",", "")) * _CENTS)
    for pointer, call in task.gold_calls():
        payments = list(_payments(pointer, call))
        if any(round(amount * _CENTS) == required for _, amount in payments):
            return None
        total = sum(round(amount * _CENTS) for _, amount in payments)
        for at, amount in payments if len(payments) > 1 and required > 0 else ():
            others = total - round(amount * _CENTS)
            numbers = {name: number for name, number in _lists(call) if total - number * others == number * required}
            if numbers:
                return ForOne(at, amount, " or ".join(numbers), next(iter(numbers.values())))
    return None


def _payments(pointer: str, call: ToolCall) -> Iterator[tuple[str, float | int]]:
    """Yield the numbers in the objects of a list, one in each: what several means of payment contribute."""
    for name, items in _lists_of_objects(call):
        numbers = [[(key, item[key]) for key in item if _is_number(item[key])] for item in items]
        if all(len(each) == 1 and abs(each[0][1]) < _MOST for each in numbers):
            for i, [(key, amount)] in enumerate(numbers):
                yield join(f"{pointer}/arguments", name, i, key), amount


def _lists(call: ToolCall) -> Iterator[tuple[str, int]]:
    """Yield the lists of two things or more that hold no numbers, with their lengths."""
    for name, items in _lists_of_objects(call):
        if len(items) > 1 and not any(_is_number(value) for item in items for value in item.values()):
            yield name, len(items)


def _lists_of_objects(call: ToolCall) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name, value in call.arguments.items():
        items = nearest_value(value)
        if isinstance(items, list) and items and all(isinstance(item, dict) for item in items):
            yield name, items


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
