"""The values of a JSON text with their places in it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


@dataclass(frozen=True)
class JsonNode:
    """A value in a JSON text. Positions count characters."""

    text: str
    """The whole text."""
    key: str
    """Name of a member, 0-based position of an item; empty for the value of the whole text."""
    begin: int
    """Where it begins: at the key of a member, else at the value."""
    start: int
    """Where its value begins."""
    end: int
    """Behind its value."""

    @classmethod
    def of(cls, text: str, start: int = 0) -> "JsonNode":
        """Return the value that begins at a position, after white space.

        Raises:
            ValueError: when what begins there is not valid JSON.
            RecursionError: when it is nested too deeply.
        """
        start = _skip(text, start)
        return cls(text, "", start, start, _end(text, start))

    @property
    def raw(self) -> str:
        """The value as it is written."""
        return self.text[self.start : self.end]

    @cached_property
    def value(self) -> Any:
        """The parsed value."""
        return json.loads(self.raw)

    @cached_property
    def children(self) -> tuple["JsonNode", ...]:
        """Members of an object or items of a list, in order; of other values none."""
        return tuple(self._children())

    def _children(self) -> Iterator["JsonNode"]:
        text, opening = self.text, self.text[self.start]
        if opening not in "{[":
            return
        position, index = _skip(text, self.start + 1), 0
        while text[position] not in "}]":
            begin, key = position, str(index)
            if opening == "{":
                key, position = _DECODER.raw_decode(text, position)
                position = _skip(text, _skip(text, position) + 1)
            end = _end(text, position)
            yield JsonNode(text, key, begin, position, end)
            position = _skip(text, end)
            if text[position] == ",":
                position = _skip(text, position + 1)
            index += 1

    def child(self, key: str) -> "JsonNode | None":
        """Return a member or an item by its key; of equal keys the last, as JSON readers do."""
        return next((child for child in reversed(self.children) if child.key == key), None)


def _end(text: str, start: int) -> int:
    return _DECODER.raw_decode(text, start)[1]


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position
