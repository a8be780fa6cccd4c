"""What candidates say of themselves, column by column: numbers, words, and what can be counted in text and in ids."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.evidence import canonical_json
from agenthard.audit.probes.candidates import Item, as_number

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 2000
"""Characters of a text that are looked at."""


@dataclass(frozen=True)
class Column:
    """One attribute of all candidates and of all shown items."""

    name: str
    """What a reader calls it: the attribute, and its kind where it belongs to one."""
    key: str
    """The attribute it was taken from."""
    source: Literal["attribute", "text"]
    """attribute: the value itself; text: something counted in a text."""
    numeric: bool
    """True for numbers; otherwise ``values`` are codes of words and only their equality means something."""
    values: Floats
    """Number or code per candidate; NaN where there is none."""
    shown: Floats
    """Number or code per shown item; NaN where there is none."""
    common: Floats
    """Per candidate: how many items of its task, itself included, have the same value."""
    ruled: NDArray[np.bool_]
    """Per candidate: True where a stated rule of its choice limits this attribute."""
    labels: tuple[str, ...] = ()
    """Words by code."""

    def take(self, rows: Ints) -> "Column":
        """Return the column for some of the candidates; counts keep referring to the whole task."""
        return replace(self, values=self.values[rows], common=self.common[rows], ruled=self.ruled[rows])

    def hide_ruled(self) -> "Column":
        """Return the column without the values that a stated rule limits: there it may tell the truth."""
        return replace(self, values=np.where(self.ruled, np.nan, self.values)) if self.ruled.any() else self


@dataclass(frozen=True)
class Cast:
    """All items of all scenes, as the columns need them."""

    items: Sequence[Item]
    """Candidates, then shown items."""
    kinds: Sequence[str]
    """Kind of each item."""
    scenes: Ints
    """Scene of each item."""
    candidates: int
    """How many of them are candidates."""


def columns(cast: Cast, ruled: Callable[[str], NDArray[np.bool_]]) -> list[Column]:
    """Lay out every attribute of the items.

    An attribute belongs to one kind of scene. Numbers give a column of numbers. Words give a column of words. Text
    (strings that hold digits or, mostly, more than two words) gives its words without digits as a column of words,
    and its length, its number, its alphabetical place and the commonness of its rarest word as columns of numbers;
    these join all kinds that have a text of that name. Anything else counts as a word: its JSON.

    Args:
        cast: the items.
        ruled: tells, for an attribute, which candidates belong to a choice that has a rule about it.

    Returns:
        Columns in a fixed order.
    """
    several = len(set(cast.kinds)) > 1
    by_shape: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for index, (item, kind) in enumerate(zip(cast.items, cast.kinds, strict=True)):
        by_shape[kind, tuple(item)].append(index)
    by_field: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (kind, keys), indices in by_shape.items():
        for key in keys:
            if key != "id":
                by_field[key, kind] += indices
    found: list[Column] = []
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    for (key, kind), found_in in sorted(by_field.items()):
        rows = sorted(found_in)
        values = [cast.items[row][key] for row in rows]
        if _is_text(values):
            texts[key].update({row: value[:_LONGEST] for row, value in zip(rows, values, strict=True)})
            continue
        name = f"{key} ({kind})" if several and kind else key
        # A column of words ends at the first.
        numbers = list(takewhile(lambda number: number == number, map(as_number, values)))
        numeric = len(numbers) == len(values)
        cells: Iterable[Any] = numbers if numeric else map(_word, values)
        found.append(_column(cast, name, key, "attribute", dict(zip(rows, cells, strict=True)), numeric, ruled(key)))
    free = np.zeros(cast.candidates, dtype=bool)
    for key, cells in sorted(texts.items()):
        for name, measured, numeric in _measures(key, cells):
            found.append(_column(cast, name, key, "text", measured, numeric, free))
    return found


def _is_text(values: Sequence[object]) -> bool:
    if not all(isinstance(value, str) for value in values):
        return False
    texts = [str(value)[:_LONGEST] for value in values]
    return any(map(_DIGITS.search, texts)) or sum(len(text.split()) > 2 for text in texts) * 2 > len(texts)


def _word(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)[:_LONGEST]


def _measures(key: str, cells: dict[int, str]) -> list[tuple[str, dict[int, Any], bool]]:
    words = {row: [word.casefold() for word in _WORD.findall(text)] for row, text in cells.items()}
    count = Counter(word for found in words.values() for word in set(found))
    place = {text: rank for rank, text in enumerate(sorted(set(cells.values())))}
    return [
        (f"words of {key}", {row: " ".join(found) for row, found in words.items()}, False),
        (f"number in {key}", {row: first_number(text) for row, text in cells.items()}, True),
        (f"length of {key}", {row: len(text) for row, text in cells.items()}, True),
        (f"alphabetical place of {key}", {row: place[text] for row, text in cells.items()}, True),
        (
            f"commonness of the rarest word of {key}",
            {row: min((count[word] for word in found), default=np.nan) for row, found in words.items()},
            True,
        ),
    ]


def first_number(text: str) -> float:
    """Return the first whole number written in a text, NaN when there is none.

    >>> first_number("Statistics 106")
    106.0
    """
    match = _DIGITS.search(text)
    return float(match.group()[:15]) if match else np.nan


def _column(
    cast: Cast,
    name: str,
    key: str,
    source: Literal["attribute", "text"],
    cells: dict[int, Any],
    numeric: bool,
    ruled: NDArray[np.bool_],
) -> Column:
    values = np.full(len(cast.items), np.nan)
    labels: tuple[str, ...] = ()
    if numeric:
        values[list(cells)] = list(cells.values())
    else:
        labels = tuple(sorted(set(cells.values())))
        code = {label: number for number, label in enumerate(labels)}
        values[list(cells)] = [code[label] for label in cells.values()]
    n = cast.candidates
    common = count_equal(cast.scenes, values)[:n]
    return Column(name, key, source, numeric, values[:n], values[n:], common, ruled, labels)


def count_equal(groups: Ints, values: Floats) -> Floats:
    """Per row, how many rows of its group have its value (itself included); NaN where the value is NaN."""
    counts = np.full(len(values), np.nan)
    known = np.flatnonzero(~np.isnan(values))
    if len(known):
        _, code = np.unique(values[known], return_inverse=True)
        keys = groups[known] * (int(code.max()) + 1) + code
        _, inverse, number = np.unique(keys, return_inverse=True, return_counts=True)
        counts[known] = number[inverse]
    return counts
