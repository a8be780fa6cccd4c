"""The columns of a set of rows, also those inside objects and inside texts that hold JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenthard.audit.sources.mapping.data import ABOUT_FILE
from agenthard.audit.sources.mapping.infer.looks import is_messages, is_prose, is_tools
from agenthard.audit.sources.mapping.texts import structured

MAX_DEPTH = 3
"""Objects below this depth are not looked into."""
_STABLE = 0.5
"""A key that fewer of the objects have is data, not a column."""
_MOSTLY = 0.8
"""Share of the values that must be texts for numbered columns to be put together."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NUMBERED = re.compile(r"([A-Za-z_]*?[A-Za-z])_?(\d+)")


@dataclass(frozen=True)
class Column:
    """One column with its values."""

    path: str
    """Path as a mapping writes it."""
    keys: tuple[str, ...]
    """Keys that lead to it."""
    values: tuple[Any, ...]
    """Its values row by row, None where it is absent."""

    @property
    def present(self) -> list[Any]:
        """The values that are something."""
        return [value for value in self.values if value not in (None, "", [], {})]

    @property
    def share(self) -> float:
        """Share of the rows that have something there."""
        return len(self.present) / len(self.values) if self.values else 0.0

    def overlaps(self, other: "Column") -> bool:
        """Tell whether one column lies inside the other."""
        length = min(len(self.keys), len(other.keys))
        return self.keys[:length] == other.keys[:length]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Column], list[str]]:
    """List the columns of some rows.

    Returns:
        The columns, outer ones before those inside them; and the names of top-level columns that hold objects as text.
    """
    found: list[Column] = []
    texts: list[str] = []
    _collect(list(rows), (), found, texts)
    return [*found, *_numbered(found)], texts


def _collect(objects: Sequence[Any], above: tuple[str, ...], found: list[Column], texts: list[str]) -> None:
    names: dict[str, int] = {}
    for item in objects:
        for key in item if isinstance(item, Mapping) else ():
            names[key] = names.get(key, 0) + 1
    there = sum(isinstance(item, Mapping) for item in objects)
    for name, count in names.items():
        if name in ABOUT_FILE or (above and count < _STABLE * there):
            continue
        keys = (*above, name)
        values = tuple(item.get(name) if isinstance(item, Mapping) else None for item in objects)
        column = Column(".".join(map(_step, keys)), keys, values)
        found.append(column)
        inner = [structured(value) for value in values]
        shown = [value for value in column.present if not isinstance(structured(value), Mapping)]
        if len(keys) > MAX_DEPTH or shown or not column.present or _whole(column.present):
            continue
        if not above and any(isinstance(value, str) for value in column.present):
            texts.append(name)
        elif any(isinstance(value, str) for value in column.present):
            continue
        _collect(inner, keys, found, texts)


def _whole(values: Sequence[Any]) -> bool:
    """Tell whether objects are one thing each, not rows within rows."""
    return all(is_messages(value) or is_tools(value) for value in values)


def _step(key: str) -> str:
    return key if _IDENTIFIER.fullmatch(key) else json.dumps(key)


def _numbered(columns: Sequence[Column]) -> list[Column]:
    """Put numbered columns of text together (step1, step2, ...), as one column of lists."""
    series: dict[str, list[tuple[int, Column]]] = {}
    for column in columns:
        found = _NUMBERED.fullmatch(column.keys[0]) if len(column.keys) == 1 else None
        prose = sum(map(is_prose, column.present))
        if found and prose and prose >= _MOSTLY * len(column.present):
            series.setdefault(found[1], []).append((int(found[2]), column))
    together = []
    for stem, members in sorted(series.items()):
        if len(members) < 2:
            continue
        ordered = [column for _, column in sorted(members, key=lambda item: item[0])]
        values = tuple(
            [value for value in row if value] or None for row in zip(*(c.values for c in ordered), strict=True)
        )
        path = f"[{', '.join(column.path for column in ordered)}]"
        together.append(Column(path, (f"{stem}#",), values))
    return together
