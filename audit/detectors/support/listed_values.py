"""Lists in the words of a user, and lists of a ground truth that are not quite the same."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.accepted import ANY_OF, alternatives, is_any_of
from agenthard.taxonomy.pointer import join

_NUMBER = r"-?\d+(?:\.\d+)?"
_NUMBERS = re.compile(
    rf"(?<![A-Za-z0-9_.,-]){_NUMBER}(?:(?:, ?(?:and )?|，|、| and |和){_NUMBER}){{2,60}}"
    r"(?![\w%]|\.\d|, ?\d)"
)
_FEWEST = 3
_ITEM = r"[^,，、.。;；:：\n()]{1,40}?"
_STOP = r"(?=[,，、.。;；!?！？\n()]| and | or |和|以及|$)"
_JOIN = r"(?:, and |, or |, |，|、| and | or |和|以及)"


class Listed(NamedTuple):
    """What a user lists."""

    at: str
    """JSON Pointer of the text."""
    text: str
    """The list, or the member of it that nothing uses."""


class GoldList(NamedTuple):
    """A list that a gold call gives."""

    at: str
    """Pointer relative to the arguments."""
    items: tuple[Any, ...]


def gold_lists(arguments: dict[str, Any]) -> Iterator[GoldList]:
    """Yield the lists of scalars in arguments, at any depth; nothing where several are accepted."""
    yield from _lists(arguments, "")


def _lists(value: Any, at: str) -> Iterator[GoldList]:
    if is_any_of(value):
        choices = list(alternatives(value))
        if len(choices) == 1:
            yield from _lists(choices[0][1], at + choices[0][0])
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _lists(member, join(at, name))
    elif isinstance(value, (list, tuple)):
        items = [
            choice[0][1] if is_any_of(item) and len(choice := list(alternatives(item))) == 1 else item for item in value
        ]
        if items and all(isinstance(item, (str, int, float)) and not isinstance(item, bool) for item in items):
            yield GoldList(at, tuple(items))
        for i, item in enumerate(value):
            if isinstance(item, (dict, list, tuple)) and ANY_OF not in item:
                yield from _lists(item, join(at, i))


def other_numbers(scope: Sequence[tuple[str, str]], own: GoldList, given: Iterable[GoldList]) -> Listed | None:
    """Return the list of numbers that the user states and a gold list has with one number more, less, or another.

    Args:
        scope: what the user says for the turn.
        own: the list.
        given: all lists of the turn's calls.
    """
    if len(own.items) < _FEWEST or not all(isinstance(item, (int, float)) for item in own.items):
        return None
    mine = [float(item) for item in own.items]
    said = [
        (at, match[0], [float(text) for text in re.findall(_NUMBER, match[0])])
        for at, text in scope
        for match in _NUMBERS.finditer(text)
    ]
    used = [
        sorted(float(item) for item in other.items)
        for other in given
        if all(isinstance(i, (int, float)) for i in other.items)
    ]
    if any(sorted(numbers) == sorted(mine) for _, _, numbers in said):
        return None
    near = [
        Listed(at, text)
        for at, text, numbers in said
        if Levenshtein.distance(numbers, mine, score_cutoff=1) == 1 and sorted(numbers) not in used
    ]
    return near[0] if len({one.text for one in near}) == 1 else None


def is_in(own: GoldList, text: str) -> bool:
    """Tell whether a text has the members of a list one after the other."""
    items = ",".join(f"{item:g}" if isinstance(item, float) else str(item) for item in own.items)
    return items in re.sub(r"[^\d.,-]", "", text)


def replaced_member(spoken: Spoken, own: GoldList, turn: int) -> tuple[int, Listed] | None:
    """Return the one member of a list of words that no text has, and the one that the user lists with the others."""
    texts = [item for item in own.items if isinstance(item, str) and item]
    if len(texts) != len(own.items) or len(texts) < 2:
        return None
    seen = [squash(text) for text in spoken.texts(turn)]
    unsaid = [i for i, text in enumerate(texts) if not any(squash(text)[:6] in other for other in seen)]
    if len(unsaid) != 1 or spoken.knowledge.documented(texts[unsaid[0]]) and not spoken.is_scripted:
        return None
    said = [text for i, text in enumerate(texts) if i != unsaid[0]]
    longest = 2 * max(map(len, texts))
    found: set[Listed] = set()
    for at, text in spoken.scope(turn):
        for member in said:
            own_text = re.escape(member)
            for pattern in (
                rf"{own_text}{_JOIN}(?P<x>{_ITEM}){_STOP}",
                rf"(?:{_JOIN}|[:：] ?)(?P<x>{_ITEM}){_JOIN}{own_text}",
            ):
                for match in re.finditer(pattern, text):
                    other = match["x"].strip(" '\"“”‘’`")
                    if texts[unsaid[0]][-1] == other[:1]:
                        continue  # a name of which the user says the end alone
                    if squash(other) and squash(other) not in spoken.given_text and len(other) <= longest:
                        found.add(Listed(at, other))
    return (unsaid[0], found.pop()) if len(found) == 1 else None
