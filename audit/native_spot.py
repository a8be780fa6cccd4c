"""Finds a quote of our record in the JSON of a benchmark's file, which may name and nest its parts otherwise."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Any, NamedTuple

from agenthard.audit.judge.verify.quotes import locate
from agenthard.audit.sources.formats.json_nodes import JsonNode
from agenthard.taxonomy.pointer import join, split

WITH_KEY = 300
"""A value of an object is shown with its key when both together have at most so many characters."""
LONGEST = 2000
"""Of a longer value that only contains what is quoted, its beginning is shown."""
TELLING = 12
"""Characters that a part of a text needs to be searched in values below the place that is known."""
_SEARCHED = 5000
"""Values below a place that are compared with a quote."""
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
"""What makes one character of a JSON string."""


class Spot(NamedTuple):
    """A part of a text."""

    pointer: str
    """JSON Pointer of the value that it is, or is in."""
    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    words: str
    """What it says: the text itself, or the characters of a JSON string."""


NodePath = list[tuple[JsonNode, str]]
"""Nodes from the document down, each with its pointer."""


def find_below(
    document: JsonNode, base: Sequence[str], rest: Sequence[str], quote: str, *, whole_task: bool
) -> Spot | None:
    """Find a quote in a document.

    Args:
        document: the document.
        base: the value in it that an origin names.
        rest: tokens of the pointer into our record, from there on.
        quote: the quote.
        whole_task: whether the origin is that of the whole task, so that the first of these tokens is a part of it.
    """
    path: NodePath = [(document, "")]
    if not all(descend(path, token) for token in base):
        return None
    deepest_base = len(path)
    for token in rest:
        descend(path, token)  # a token that the file does not have is one of our record, such as $any_of
    node, pointer = path[-1]
    exact = _exact(node, pointer, quote)
    if exact is not None:
        return exact
    for child, place in _all_below(node, pointer):
        exact = _exact(child, place, quote, below=True)
        if exact is not None:
            return exact
    for parent, place in reversed(path[deepest_base - 1 :]):
        exact = _key(parent, place, quote) or _part(parent, place, quote)
        if exact is not None:
            return exact
    if whole_task and len(path) == deepest_base:
        return None  # a part of our record that the task has not in its file
    return _shown(node, pointer, LONGEST)


def find_in_log(node: JsonNode, base: str, tokens: Sequence[str], quote: str) -> Spot | None:
    """Find a quote of a run in its log.

    Args:
        node: the run in the log.
        base: its JSON Pointer.
        tokens: tokens of the pointer into our record of the run.
        quote: the quote.

    Returns:
        The text; of several the one whose first position, that of the message, is nearest to that of the record. None
        when no text of the log has the quote.
    """
    below = [(node, base), *_all_below(node, base)]
    tail = list(dropwhile(lambda token: not token.isdecimal(), tokens))[1:]  # below the message
    for length in range(len(tail), 0, -1):
        part = _nearest_part(below, base, tokens, tail[:length], quote)
        if part is not None:
            return part
    found = (_exact(child, place, quote, below=True) for child, place in below)
    spots = [spot for spot in found if spot is not None]
    return (
        min(spots, key=lambda spot: (_apart(split(spot.pointer[len(base) :]), tokens), spot.start)) if spots else None
    )


def _nearest_part(
    below: Sequence[tuple[JsonNode, str]], base: str, tokens: Sequence[str], tail: Sequence[str], quote: str
) -> Spot | None:
    """Find a quote in the part of the nearest message that has the same name as in the record: its content, a call."""
    ending = join("", *tail)
    parts = [(child, place) for child, place in below if place.endswith(ending)]
    for child, place in sorted(parts, key=lambda part: (_apart(split(part[1][len(base) :]), tokens), part[0].start)):
        exact = _exact(child, place, quote)
        if exact is not None:
            return exact
        if _carries(child, quote):
            return _shown(child, place, LONGEST)
    return None


def _carries(node: JsonNode, quote: str) -> bool:
    """Tell whether an object has the words of a quote: the name and all arguments of a call, or the quote itself."""
    if not isinstance(node.value, dict):
        return False
    try:
        value = json.loads(quote)
    except (ValueError, RecursionError):
        value = quote
    call = isinstance(value, dict) and "name" in value
    words = [value["name"], *_scalars(value.get("arguments"))] if call else [quote]
    raw = node.raw.replace("\\", "")
    return all(word in raw for word in words)


def _scalars(value: Any) -> list[str]:
    """Return the names and the texts and numbers in a value, as a file may write them."""
    if isinstance(value, dict):
        return [word for key, item in value.items() for word in (key, *_scalars(item))]
    if isinstance(value, list):
        return [word for item in value for word in _scalars(item)]
    return [value if isinstance(value, str) else json.dumps(value)]


def _apart(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how far apart the first positions in two pointers are; infinite where one has none."""
    first, second = (next((int(token) for token in tokens if token.isdecimal()), None) for tokens in (one, other))
    return float("inf") if first is None or second is None else abs(first - second)


def descend(path: NodePath, token: str) -> bool:
    """Add the member or item of the last node that has this key to the path; tell whether there is one."""
    node, pointer = path[-1]
    child = node.child(token)
    if child is not None:
        path.append((child, join(pointer, token)))
    return child is not None


def _all_below(node: JsonNode, pointer: str) -> Iterator[tuple[JsonNode, str]]:
    level, seen = [(node, pointer)], 0
    while level and seen < _SEARCHED:
        parent, place = level.pop(0)
        for child in parent.children:
            seen += 1
            found = child, join(place, child.key)
            yield found
            level.append(found)


def _exact(node: JsonNode, pointer: str, quote: str, *, below: bool = False) -> Spot | None:
    """Return the part of a value that is the quote: words of a string, or an equal value."""
    value = node.value
    if isinstance(value, str):
        at = value.find(quote)
        if quote == value and node.begin < node.start and node.end - node.begin <= WITH_KEY:
            return _shown(node, pointer)
        if at >= 0 and (not below or quote == value or len(quote) >= TELLING):
            start, end = _inside(node, at, at + len(quote))
            return Spot(pointer, start, end, quote)
    if _equal(value, quote):
        return _shown(node, pointer)
    return _key(node, pointer, quote)


def _equal(value: Any, quote: str) -> bool:
    try:
        parsed = json.loads(quote)
    except (ValueError, RecursionError):
        return False
    return type(parsed) is type(value) and parsed == value


def _key(node: JsonNode, pointer: str, quote: str) -> Spot | None:
    """Return a member whose name is the quote."""
    child = node.child(quote) if node.raw.startswith("{") else None
    return None if child is None else _shown(child, join(pointer, quote))


def _part(node: JsonNode, pointer: str, quote: str) -> Spot | None:
    """Return the words of a value's text that are the quote, however the file spaces and escapes them."""
    words = locate(quote, node.raw)
    if words is None:
        return None
    start = node.text.index(words, node.start)
    return Spot(pointer, start, start + len(words), words)


def _inside(node: JsonNode, start: int, end: int) -> tuple[int, int]:
    """Return where a part of a string's value is in the text."""
    inner = node.text[node.start + 1 : node.end - 1]
    if "\\" not in inner:
        return node.start + 1 + start, node.start + 1 + end
    places = [unit.start() for unit in _UNIT.finditer(inner)]
    places.append(len(inner))
    return node.start + 1 + places[start], node.start + 1 + places[end]


def _shown(node: JsonNode, pointer: str, longest: int | None = None) -> Spot:
    """Show a value as it is written: a short one with its key, of a very long one that is not the quote a part."""
    if node.end - node.begin <= WITH_KEY:
        return Spot(pointer, node.begin, node.end, node.text[node.begin : node.end])
    end = node.end if longest is None else min(node.end, node.start + longest)
    return Spot(pointer, node.start, end, node.text[node.start : end])
