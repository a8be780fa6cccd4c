"""Where the texts of a request say a value: the word itself, a number in figures or words, a date in another form."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.text import EMPTY_WORDS

_NUMERALS = {
    word: float(number)
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
} | {
    "一": 1.0,
    "两": 2.0,
    "二": 2.0,
    "三": 3.0,
    "四": 4.0,
    "五": 5.0,
    "六": 6.0,
    "七": 7.0,
    "八": 8.0,
    "九": 9.0,
    "十": 10.0,
}
_NUMERAL = re.compile(
    r"(?<![\w-])(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?![\w-])"
    r"|(?<![\u4e00-\u9fff])[一两二三四五六七八九十](?=[个名位次天周月年小])",
    re.IGNORECASE,
)
_STEM = 5
"""Characters from which on words with the same beginning count as forms of one word."""

Scope = tuple[tuple[str, str], ...]
"""JSON Pointers and texts."""


class Said(NamedTuple):
    """One place in the texts of a request."""

    text: int
    """Number of the text."""
    start: int
    end: int


def said_at(value: GoldValue, scope: Scope) -> list[Said]:
    """List the places where the texts say a value in one of its accepted forms, in order.

    Words that are said as a whole come first: other forms of a word are looked for where no text has the word itself.
    """
    items = tuple(item for _, item in value.accepted if item not in (None, "") and not isinstance(item, bool))
    return _said(items, scope)


@lru_cache(maxsize=1024)
def _said(items: tuple[Any, ...], scope: Scope) -> list[Said]:
    for search in (_whole, _other_forms):
        found = {place for item in items for place in search(item, scope)}
        widest = [
            one
            for one in found
            if not any(
                other != one and other.text == one.text and other.start <= one.start and one.end <= other.end
                for other in found
            )
        ]
        if widest:
            return sorted(widest)
    return []


def _whole(item: Any, scope: Scope) -> list[Said]:
    if isinstance(item, (int, float)):
        return [place for i, (_, text) in enumerate(scope) for place in _numbers(float(item), text, i)]
    words = r"[ _-]?".join(map(re.escape, re.split(r"[ _-]", item.strip())))
    if not words:
        return []
    bounds = (r"(?<![A-Za-z0-9_.])", r"(?![A-Za-z0-9_]|\.\w)") if item.isascii() else ("", "")
    pattern = re.compile(f"{bounds[0]}{words}{bounds[1]}", re.IGNORECASE)
    found = [Said(i, m.start(), m.end()) for i, (_, text) in enumerate(scope) for m in pattern.finditer(text)]
    return found or _moments(item, scope)


def _numbers(number: float, text: str, index: int) -> list[Said]:
    found = [
        Said(index, m.start, m.start + len(m.text)) for m in mentions(text) if m.kind == "number" and number in m.values
    ]
    if number <= max(_NUMERALS.values()) and number.is_integer():
        words = _NUMERAL.finditer(text)
        found += [Said(index, m.start(), m.end()) for m in words if _NUMERALS[m[0].lower()] == number]
    return found


def _moments(item: str, scope: Scope) -> list[Said]:
    """List where texts say the one date or time that a value is."""
    own = mentions(item)
    if len(own) != 1 or own[0].kind not in ("date", "time"):
        return []
    days = {str(value)[-6:] for value in own[0].values}
    return [
        Said(i, m.start, m.start + len(m.text))
        for i, (_, text) in enumerate(scope)
        for m in mentions(text)
        if m.kind == own[0].kind and not days.isdisjoint(str(value)[-6:] for value in m.values)
    ]


def _other_forms(item: Any, scope: Scope) -> list[Said]:
    """List where texts say the words of a value in other forms: monitoring, monitor."""
    if not isinstance(item, str) or not item.isascii():
        return []
    words = [word for word in re.split(r"[\W_]+", item) if word]
    if not words or words[0].lower() in EMPTY_WORDS or max(map(len, words)) < _STEM or any(map(str.isdigit, item)):
        return []
    parts = (rf"{re.escape(word[: max(_STEM, len(word) - 3)])}\w{{0,4}}" for word in words)
    pattern = re.compile(r"(?<![\w-])" + r"[\W_]{1,3}".join(parts) + r"(?![\w-])", re.IGNORECASE)
    return [Said(i, m.start(), m.end()) for i, (_, text) in enumerate(scope) for m in pattern.finditer(text)]


def same_clause(scope: Sequence[tuple[str, str]], one: Said, other: Said) -> bool:
    """Tell whether no sentence ends between two places."""
    if one.text != other.text:
        return False
    first, second = sorted((one, other), key=lambda place: place.start)
    return re.search(r"[.!?;\n]\s|[。！？；]", scope[one.text][1][first.end : second.start]) is None
