"""Two arguments of a call whose values come in another order than their names, or than ranks such as first, second."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values, name_words
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.record_order import key
from agenthard.audit.detectors.support.said_places import Said, Scope, said_at
from agenthard.audit.detectors.support.text import EMPTY_WORDS
from agenthard.taxonomy.task import ToolCall, ToolSpec

_SHORTEST = 3
_STEM = 5
_REACH = 120
"""Characters within which two values belong together."""
_REACH_OF_NAME = 25
"""Characters between a name and its value."""
_BREAK = re.compile(r"[.,;!?\n，。；、]|\b(?:and|or)\b|和|或")
_ORDER = (("first", "second", "third"), ("1", "2", "3", "4"), ("a", "b", "c"), ("one", "two", "three"))
_GENERAL = frozenset(
    "name value number amount type list data info input text param first second of the and for".split()
)
_ANY = frozenset("all any none both true false yes no".split())
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,}")


class Named(NamedTuple):
    """An argument of a call, where the request says its value, and where its name."""

    value: GoldValue
    said: Said
    label: Said | None
    """None for an argument that is named by its rank."""


def misordered(call: ToolCall, tool: ToolSpec, scope: Scope, given: Counter[str]) -> Iterator[tuple[Named, Named]]:
    """Yield pairs of arguments of which the request says the values in contrary order to their names.

    Args:
        call: the gold call.
        tool: its tool.
        scope: what the user says for its turn.
        given: how often the calls of the turn give each value.
    """
    found = []
    for value in gold_values(call.arguments):
        if value.omissible or given[key(value)] != 1 or key(value) in _ANY:
            continue
        places = said_at(value, scope)
        if len(places) == 1:
            found.append((value, places[0]))
    for (one, first), (other, second) in combinations(found, 2):
        if first.text != second.text or abs(first.start - second.start) > _REACH or not _alike(one, other):
            continue
        if _rank(one, other):
            if (first < second) != (_rank(one, other) < 0):
                yield Named(one, first, None), Named(other, second, None)
            continue
        labels = _labels(tool, (one, other), scope, (first, second))
        if labels is not None:
            yield Named(one, first, labels[0]), Named(other, second, labels[1])


def _alike(one: GoldValue, other: GoldValue) -> bool:
    """Tell whether two values are in one object and have the same form: two numbers, two dates, two words."""
    return one.at.rpartition("/")[0] == other.at.rpartition("/")[0] and _form(one) == _form(other)


def _form(value: GoldValue) -> str:
    item = value.accepted[0][1]
    if not isinstance(item, str):
        return "number"
    kinds = {mention.kind for mention in mentions(item)}
    return "".join(sorted(kinds)) or "text"


def _rank(one: GoldValue, other: GoldValue) -> int:
    """Compare two names that differ by their rank alone: negative where the first comes first, 0 for other names."""
    first, second = name_words(one.member), name_words(other.member)
    if len(first) != len(second):
        return 0
    differing = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    if len(differing) != 1:
        return 0
    for ranks in _ORDER:
        if differing[0][0] in ranks and differing[0][1] in ranks and (len(first) > 1 or ranks[0] != "a"):
            return ranks.index(differing[0][0]) - ranks.index(differing[0][1])
    return 0


def _labels(
    tool: ToolSpec, values: tuple[GoldValue, GoldValue], scope: Scope, said: tuple[Said, Said]
) -> tuple[Said, Said] | None:
    """Return where the name of each value is, if each is right next to the other value and not next to its own."""
    text = scope[said[0].text][1]
    words = [_own_words(tool, value) for value in values]
    names = [
        [place for word in own - others for place in _places(word, text, said[0].text)]
        for own, others in (words, reversed(words))
    ]
    for before in (True, False):
        crossed = [[name for name in names[i] if _is_beside(text, name, said[1 - i], before)] for i in (0, 1)]
        own = any(_is_beside(text, name, said[i], side) for i in (0, 1) for name in names[i] for side in (True, False))
        if all(crossed) and not own:
            return crossed[0][0], crossed[1][0]
    return None


def _is_beside(text: str, name: Said, value: Said, before: bool) -> bool:
    """Tell whether a name is right before a value, or right after it."""
    first, second = (name, value) if before else (value, name)
    between = text[first.end : second.start]
    return first.end <= second.start and len(between) <= _REACH_OF_NAME and not _BREAK.search(between)


def _own_words(tool: ToolSpec, value: GoldValue) -> set[str]:
    own = {word[:-1] if word.endswith("s") else word for word in name_words(value.member) if len(word) >= _SHORTEST}
    place = documented(tool, value.at)
    description = place.schema.get("description") if place else None
    chinese = _CHINESE.findall(description.partition("，")[0]) if isinstance(description, str) else []
    return (own - _GENERAL - EMPTY_WORDS) | {word for word in chinese if len(word) <= 6}


def _places(word: str, text: str, index: int) -> Iterator[Said]:
    if word.isascii():
        stem = word if len(word) <= _STEM else word[: max(_STEM, len(word) - 3)]
        pattern = rf"(?<![A-Za-z]){re.escape(stem)}[a-z]{{0,4}}(?![A-Za-z])"
    else:
        pattern = re.escape(word)
    for match in re.finditer(pattern, text, re.IGNORECASE):
        yield Said(index, match.start(), match.end())
