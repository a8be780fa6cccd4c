"""Tables in a state, which are many records, each under an id; and lists of ids."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.taxonomy.pointer import join

_SEPARATOR = re.compile(r"\s*[,;|\n]\s*")
FEWEST_OTHERS = 2
"""Records that a table has at least beside one that is named."""

Rows = dict[str, tuple[str, dict[str, Any]]]
"""The records of a table by id, each with its JSON Pointer."""


def rows(pointer: str, value: Any) -> Rows:
    """Return the records of a table, which is an object of records by id or a list of records with an ``id``.

    Args:
        pointer: where the value stands.
        value: any JSON value; one that is no table has no records.
    """
    if isinstance(value, dict) and len(value) > FEWEST_OTHERS and all(isinstance(row, dict) for row in value.values()):
        return {str(id): (join(pointer, id), row) for id, row in value.items()}
    if isinstance(value, list) and all(isinstance(row, dict) and "id" in row for row in value):
        return {str(row["id"]): (join(pointer, i), row) for i, row in enumerate(value)}
    return {}


def readings(value: Any) -> Iterator[frozenset[str]]:
    """Yield the sets of ids that a value can be read as a list of.

    That is a list of single values, or of objects with a single value each; the keys of an object whose values say
    nothing by themselves (truth values, equal or empty ones), and its values; a text with separators; a single value.
    A value with deeper levels or with records of several fields is no list of ids.

    >>> [sorted(ids) for ids in readings([{"id": "B-7"}, {"id": "B-9"}])], list(readings({"B-7": {"title": "Emma"}}))
    ([['B-7', 'B-9']], [])
    """
    if isinstance(value, dict):
        plain = list(value.values())
        silent = all(not item or item is True for item in plain)
        if plain and (silent or (all(item == plain[0] for item in plain) and not isinstance(plain[0], (dict, list)))):
            yield frozenset(map(str, value))
        parts: list[Any] = plain
    elif isinstance(value, list):
        parts = [next(iter(part.values())) if isinstance(part, dict) and len(part) == 1 else part for part in value]
    elif isinstance(value, str):
        parts = [part for part in _SEPARATOR.split(value.strip()) if part]
    else:
        parts = [value]
    if parts and all(isinstance(part, (str, int, float)) and not isinstance(part, bool) for part in parts):
        yield frozenset(map(str, parts))
