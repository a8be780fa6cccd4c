"""What a user says to go from one end to another: places, days, hours, bounds."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values, name_words
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.task import ToolCall

_FIRST = frozenset("from origin departure depart departing start starting begin beginning source pickup lower".split())
_SECOND = frozenset("to destination arrival arrive arriving end ending finish until target dropoff upper".split())
_PLACE = r"(?:[A-Z][\w.'-]*(?:,? (?:[A-Z][\w.'-]*|of|de|la))*|[\u4e00-\u9fff]{2,8}?)"
_POINT = r"-?\d[\w:./-]*(?: ?[ap]\.?m\.?)?"
_FROM = r"\b(?:[Ff]rom|[Bb]etween|[Dd]eparting|[Ll]eaving)"
_PHRASES = (
    re.compile(rf"{_FROM} (?P<a>{_PLACE}) (?:to|and|for|going to|heading to) (?P<b>{_PLACE})(?=[\W_]|$)"),
    re.compile(
        r"从(?P<a>[\u4e00-\u9fff]{2,8}?)(?:市)?(?:到|去|飞往|前往|出发到|出发去|至)"
        r"(?P<b>[\u4e00-\u9fff]{2,6}?)(?=[的，。,.市火飞高]|$)"
    ),
    re.compile(
        rf"{_FROM} (?:\w = ?)?(?P<a>{_POINT}) (?:to|and|until|till) (?:\w = ?)?(?P<b>{_POINT})(?!\w| ?\*? ?(?:pi\b|π))"
    ),
)
_BACK = re.compile(
    r"\b(?:return\w*|round[ -]?trip|back|both ways|vice versa|each other)\b|往返|返程|回程", re.IGNORECASE
)


class Direction(NamedTuple):
    """A phrase of a user that names two ends."""

    at: str
    """JSON Pointer of the text."""
    text: str
    """The phrase."""
    first: str
    second: str


class Ends(NamedTuple):
    """The two values of a gold call for the two ends."""

    first: GoldValue
    second: GoldValue


def directions(texts: Iterable[tuple[str, str]]) -> list[Direction]:
    """List the phrases that name two ends; nothing where a text speaks of a way back.

    >>> [(one.first, one.second) for one in directions([("", "Find trains from Anaheim, CA to Berkeley, CA.")])]
    [('Anaheim, CA', 'Berkeley, CA')]
    """
    found: list[Direction] = []
    for at, text in texts:
        if _BACK.search(text):
            return []
        found += [
            Direction(at, m[0], m["a"].rstrip(".,"), m["b"].rstrip(".,")) for p in _PHRASES for m in p.finditer(text)
        ]
    return [one for one in found if squash(one.first) != squash(one.second)]


class Turned(NamedTuple):
    """An end of a call that is not what the user says."""

    value: GoldValue
    how: str
    """What is wrong, after "gives X as Y"."""
    said: Direction | None
    """What the user says; None where the two ends contradict each other."""


def turned(call: ToolCall, said: Sequence[Direction], before: Sequence[Step]) -> Iterator[Turned]:
    """Yield the ends of a call that are exchanged, equal or not the user's, and ranges that end before they begin.

    Args:
        call: the gold call.
        said: the ends that the user names for the turn.
        before: the replayed calls before it.
    """
    for ends in ends_of(call):
        found = [_not_as_said(ends, one, before, alone=len(said) == 1) for one in said]
        if not any(_fits(ends, one, before) for one in said):
            yield from [each for each in found if each is not None][:1]
    for ends in backward(call):
        yield Turned(ends.first, f"which is after {ends.second.name!r}, {ends.second.accepted[0][1]!r}", None)


def _fits(ends: "Ends", one: Direction, before: Sequence[Step]) -> bool:
    return means(ends.first, one.first, before) and means(ends.second, one.second, before)


def _not_as_said(ends: "Ends", one: Direction, before: Sequence[Step], alone: bool) -> Turned | None:
    first, second = means(ends.first, one.second, before), means(ends.second, one.first, before)
    kept = means(ends.first, one.first, before), means(ends.second, one.second, before)
    if first and second:
        other = f"{ends.second.name!r} as {ends.second.accepted[0][1]!r}"
        return Turned(ends.first, f"and {other}, but the user says it the other way round", one)
    if (first and kept[1]) or (second and kept[0]):
        wrong = ends.first if first else ends.second
        return Turned(wrong, "which is what the user says for the other end", one)
    for value, is_kept in ((ends.second, kept[0]), (ends.first, kept[1])):
        if is_kept and alone and _is_point(value, one):
            return Turned(value, f"but the user says {one.text!r}", one)
    return None


def ends_of(call: ToolCall) -> Iterator[Ends]:
    """Yield the pairs of arguments of a call that are two ends by their names, in one object."""
    values = [value for value in gold_values(call.arguments) if value.accepted]
    for value in values:
        for other in values:
            if value.at.rpartition("/")[0] == other.at.rpartition("/")[0] and _are_ends(value.member, other.member):
                yield Ends(value, other)


def _are_ends(name: str, other: str) -> bool:
    if (name, other) == ("a", "b"):
        return True  # the bounds of an integral
    one, two = name_words(name), name_words(other)
    first, second = [word for word in one if word in _FIRST], [word for word in two if word in _SECOND]
    return len(first) == len(second) == 1 and [w for w in one if w not in _FIRST] == [
        w for w in two if w not in _SECOND
    ]


_LOW = frozenset("min minimum lower start begin earliest checkin since".split())
_HIGH = frozenset("max maximum upper end finish latest checkout until".split())


def backward(call: ToolCall) -> Iterator[Ends]:
    """Yield the ranges of a call whose first end is above its second: days, and numbers of a minimum and a maximum."""
    values = [value for value in gold_values(call.arguments) if len(value.accepted) == 1]
    for value in values:
        for other in values:
            if value.at.rpartition("/")[0] != other.at.rpartition("/")[0] or not _is_range(value.member, other.member):
                continue
            low, high = _ordered(value.accepted[0][1]), _ordered(other.accepted[0][1])
            if low is not None and high is not None and type(low) is type(high) and low > high:  # type: ignore[operator]
                yield Ends(value, other)


def _is_range(name: str, other: str) -> bool:
    one, two = _joined(name), _joined(other)
    first, second = [word for word in one if word in _LOW], [word for word in two if word in _HIGH]
    return len(first) == len(second) == 1 and [w for w in one if w not in _LOW] == [w for w in two if w not in _HIGH]


def _joined(name: str) -> list[str]:
    text = "_".join(name_words(name))
    return text.replace("check_in", "checkin").replace("check_out", "checkout").split("_")


def _ordered(item: object) -> float | str | None:
    """Return a number or a day in a form that can be compared; None for anything else, such as times of day."""
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return float(item)
    return item if isinstance(item, str) and re.fullmatch(r"\d{4}-\d\d-\d\d(?:[T ][\d:]+Z?)?", item) else None


def means(value: GoldValue, said: str, before: Sequence[Step]) -> bool:
    """Tell whether a value is what a user names, by its words, its number, or a call that returned it for these words.

    Args:
        value: the value of a gold call.
        said: one end in the user's words.
        before: the replayed calls before.
    """
    given = [str(item) for _, item in value.accepted]
    if any(_is_same(text, said) for text in given):
        return True
    for step in before:
        asked = " ".join(str(item) for item in step.call.arguments.values())
        if squash(said) in squash(asked) and any(
            re.search(rf"\b{re.escape(text)}\b", step.observation.text) for text in given
        ):
            return True
    return False


def _is_point(value: GoldValue, one: Direction) -> bool:
    """Tell whether a value is a plain number, as both ends of a phrase are."""
    items = [item for _, item in value.accepted]
    plain = all(re.fullmatch(r"-?\d+(?:\.\d+)?", end) for end in (one.first, one.second))
    return plain and not value.omissible and all(isinstance(item, (int, float)) for item in items)


def _is_same(given: str, said: str) -> bool:
    one, two = squash(given), squash(said)
    if not one or not two:
        return False
    if any(char.isdigit() for char in two):
        mine = [m.values for m in mentions(given)]
        return any(m.values & values for m in mentions(said) for values in mine)
    short, long = sorted((one, two), key=len)
    return short == long or (len(short) >= 2 and long.startswith(short))
