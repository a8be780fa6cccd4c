"""Values that two records of a gold answer share, where the request says one of them once and another in its place."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.record_order import Cell, Record, key
from agenthard.audit.detectors.support.said_places import Said, Scope, said_at
from agenthard.audit.detectors.support.text import squash

_LONGEST = 30
_WORD = r"[A-Za-z][\w'-]*"
_SAME = re.compile(r"\bsame\b", re.IGNORECASE)
_BEFORE = re.compile(rf"(?P<two>{_WORD}[ ]{_WORD}|{_WORD}|[\u4e00-\u9fff]{{2}})(?P<gap>[\s'\"“‘:：]*)$")
_AFTER = re.compile(rf"(?P<gap>['\"”’]?[ -]?)(?P<word>{_WORD}|[\u4e00-\u9fff]{{1,2}}|[,.，。；、?])")


class InPlace(NamedTuple):
    """Something that a request says in the same surroundings as a value that two records share."""

    cell: Cell
    """The value that is there twice."""
    at: str
    """JSON Pointer of the text."""
    text: str
    """What is said in its place."""


def in_place(group: Sequence[Record], scope: Scope, given: str) -> Iterator[InPlace]:
    """Yield the values that two records share and a request says once, with what it says in the same surroundings.

    Args:
        group: the records.
        scope: what the user says for their turn.
        given: all values of the turn's calls, as `squash` writes them.
    """
    cells = defaultdict[str, list[Cell]](list)
    for record in group:
        for at, cell in record.items():
            cells[at].append(cell)
    for own in cells.values():
        counts = Counter(key(cell.value) for cell in own)
        twice = [name for name, count in counts.items() if count == 2]
        if len(own) != len(group) or len(twice) != 1 or len(counts) != len(own) - 1:
            continue
        shared = [cell for cell in own if key(cell.value) == twice[0]]
        places = said_at(shared[0].value, scope)
        if len(places) != 1 or any(cell.value.omissible for cell in own):
            continue
        others = _others(scope, places[0], given)
        if len(others) == 1:
            yield InPlace(shared[-1], scope[places[0].text][0], others[0])


def _others(scope: Scope, place: Said, given: str) -> list[str]:
    """List what a text says between the same words as a value, and no call gives."""
    text = scope[place.text][1]
    before, after = _BEFORE.search(text[: place.start]), _AFTER.match(text[place.end :])
    if before is None or after is None:
        return []
    own = text[place.start : place.end]
    pattern = (
        rf"{re.escape(before['two'])}{re.escape(before['gap'])}(?P<x>[^\s,.;，。；、'\"](?:[^\n,;，。；、]{{0,{_LONGEST}}}?))"
        rf"{re.escape(after['gap'])}{re.escape(after['word'])}"
    )
    found = {match["x"] for match in re.finditer(pattern, text, re.IGNORECASE)}
    return [x for x in found if squash(x) != squash(own) and squash(x) not in given and _is_alike(own, x)]


def _is_alike(one: str, other: str) -> bool:
    """Tell whether two texts may be values of one kind: with digits or without, of like length and script; no dates."""
    if any(mention.kind == "date" for text in (one, other) for mention in mentions(text)) or _SAME.search(other):
        return False
    digits = [any(map(str.isdigit, text)) for text in (one, other)]
    words = [len(text.split()) for text in (one, other)]
    return digits[0] == digits[1] and abs(words[0] - words[1]) <= 1 and one.isascii() == other.isascii()
