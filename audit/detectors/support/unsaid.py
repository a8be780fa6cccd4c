"""Values of gold calls that occur nowhere in the task: short numbers and words, where nothing could lead to them."""

import re
from typing import Any

from rapidfuzz import fuzz

from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.gold_values import GoldValue, documented, name_words
from agenthard.audit.detectors.support.knowledge import knowledge_of, scalars_in
from agenthard.audit.detectors.support.numbers import derives, numbers_said
from agenthard.audit.detectors.support.sharing import IdentityCache, LastCache
from agenthard.audit.detectors.support.text import squash, words
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

_ASSUMED = 1
"""Numbers up to this size are what an agent assumes: one piece, the first page, no limit."""
_LARGE = 100
"""Larger numbers are the matter of the check invented-value."""
_MOST_NUMBERS = 60
"""Where more numbers are said, almost every number follows from two of them."""
_MOST_WORDS = 4
_ALIKE = 60.0
"""Similarity, of 100, from which a word is taken for a spelling of another."""
_STEM = 4
_CODE = re.compile(r"[A-Z]{1,4}|#[0-9A-Fa-f]{3,8}")
"""Codes of countries, currencies and colours, which agents know."""
_UNITS = re.compile(
    r"minute|hour|day|week|month|year|decade|centur|percent|%|dozen|hundred|thousand|million|billion|\dk\b|feet|foot"
    r"|inch|\d ?(?:ft|in|lbs?)\b|mile|km|kilo|kg|\blb|pound|gram|degree|hal[fv]|quarter|third|double|twice|triple|each"
    r"|every|\bper\b|average|total|sum|times|fortnight|\d ?[ap]\.?m|celsius|fahrenheit|cent|met(?:er|re)|lit(?:er|re)"
    r"|gallon",
    re.IGNORECASE,
)
"""Words by which an agent converts numbers: units, spans, shares."""
_LORE = re.compile(
    r"\bdeck\b|cards?\b|\bdice?\b|\bcoin|chess|zodiac|alphabet|adult|senior|child|teen|young|\bpi\b|standard|family"
    r"|size|grade",
    re.IGNORECASE,
)
"""Words from which an agent knows numbers that no text states: games, ages, norms."""
_KNOWN = frozenset(
    "year years date time hour hours month day week minute minutes second seconds latitude longitude lat lon lng long "
    "coord coords coordinate coordinates location position point points altitude elevation timestamp distance".split()
)
_NUMERALS = {
    word: float(n)
    for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
_MONTHS = "january february march april may june july august september october november december".split()
_NUMERALS |= {word: float(n) for n, word in enumerate(_MONTHS, 1)}
_NUMERALS |= {
    "both": 2.0,
    "pair": 2.0,
    "duo": 2.0,
    "trio": 3.0,
    "square": 2.0,
    "squared": 2.0,
    "cube": 3.0,
    "cubed": 3.0,
}
_NUMERALS |= {"decade": 10.0, "triangle": 3.0, "binary": 2.0, "octal": 8.0, "hexadecimal": 16.0}
_TENS = {word: 10.0 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_ONES = {word: float(n) for n, word in enumerate("one two three four five six seven eight nine".split(), 1)}
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_ONES)})\b")
_NEAR = 1e-6


def _scalars(environment: EnvironmentSpec) -> frozenset[str]:
    return frozenset(squash(text) for text in scalars_in(environment.state))


_shared_scalars = IdentityCache(_scalars)


class Unsaid:
    """Tells of a gold value whether it is of a kind that is looked at, and whether nothing in the task leads to it."""

    def __init__(self, task: AgentTask) -> None:
        self._task, self._knowledge = task, knowledge_of(task)
        self._text = "\n".join(text for _, text in task.user_texts())
        told = f"{self._text}\n{task.environment.policy}"
        lower = told.casefold()
        self._words = words(self._text)
        self._numbers = numbers_said(told) | {_NUMERALS[word] for word in words(told) if word in _NUMERALS}
        self._numbers |= {_TENS[tens] + _ONES[ones] for tens, ones in _COMPOUND.findall(lower)}
        self._numbers |= _numbers_of(task.initial_state)
        self._stems = {word[:_STEM] for word in (*self._words, *name_words(self._text))}
        self._own = frozenset(squash(text) for text in scalars_in(task.initial_state))
        self._has_state = task.initial_state is not None or task.environment.state is not None
        self._first = frozenset(_first_calls(task))

    def looks_at(self, pointer: str, call: ToolCall, value: GoldValue) -> bool:
        """Tell whether a value is of a kind that is looked at.

        It is a number between 1 and 100, or a text of at most four words without digits; in one of the first calls,
        so that no result holds it; not a documented choice or default; and scored.
        """
        tool = self._task.tool(call.name, call.requestor)
        if pointer not in self._first or tool is None or tool.language not in ("json", "python") or value.omissible:
            return False
        if self._task.ground_truth.call_matching == "state" and tool.effect == "read":
            return False
        place, given = documented(tool, value.at), [item for _, item in value.accepted]
        if place is None or "enum" in place.schema or place.schema.get("default", _NOTHING) in given:
            return False
        return self._is_number(given, value.name) or (
            place.schema.get("type", "string") == "string" and self._is_word(given)
        )

    def _is_number(self, given: list[Any], name: str) -> bool:
        if (
            not all(map(_is_number, given))
            or not all(_ASSUMED < abs(item) < _LARGE for item in given)
            or _KNOWN & set(name_words(name))
        ):
            return False
        return len(self._numbers) <= _MOST_NUMBERS and self._text.isascii() and not _LORE.search(self._text)

    def _is_word(self, given: list[Any]) -> bool:
        if self._has_state or not self._text.isascii() or not all(isinstance(item, str) and item for item in given):
            return False
        return all(
            item.isascii()
            and len(item.split()) <= _MOST_WORDS
            and not any(char.isdigit() for char in item)
            and not _CODE.fullmatch(item)
            and parse_date(item) is None
            for item in given
        )

    def missing(self, value: GoldValue) -> bool:
        """Tell whether nothing in the task leads to a value that is looked at."""
        given = [item for _, item in value.accepted]
        shared = _shared_scalars(self._task.environment)
        if any(squash(_plain(item)) in shared or squash(_plain(item)) in self._own for item in given):
            return False
        if isinstance(given[0], str):
            return not any(self._knowledge.holds(item) or self._resembles(item) for item in given)
        return not any(self._knowledge.documented(_plain(item)) or self._follows(item) for item in given)

    def _follows(self, number: float) -> bool:
        """Tell whether a number is said, or is a sum, difference, product or quotient of two that are."""
        if _UNITS.search(self._text) and derives(number, self._text):
            return True
        goal, said = abs(number), [*self._numbers, 1.0]
        results = (x for a in said for b in said for x in (a + b, a - b, a * b, a / b if b else a))
        return any(abs(abs(result) - goal) < _NEAR for result in results)

    def _resembles(self, text: str) -> bool:
        parts = {*words(text), *name_words(text)}
        if any(part[:_STEM] in self._stems or self._knowledge.documented(part) for part in parts):
            return True
        return any(fuzz.ratio(squash(text), word) >= _ALIKE for word in self._words)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_NOTHING = object()
unsaid_in = LastCache(Unsaid)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _numbers_of(state: Any) -> set[float]:
    return {number for text in scalars_in(state) for number in numbers_said(text)}


def _first_calls(task: AgentTask) -> list[str]:
    """Return the calls whose values no result of an earlier call can hold: the first one, and equal ones with it."""
    if task.ground_truth.semantics in ("milestones", "none") or task.ground_truth.call_matching == "none":
        return []
    found: list[str] = []
    first: tuple[str, str] | None = None
    for pointer, call in task.gold_calls():
        place = (call.name, pointer.split("/")[3])
        first = first or place
        if place != first or call.requestor != "assistant":
            break
        found.append(pointer)
    return found
