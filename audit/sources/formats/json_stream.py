"""Streams one large JSON document member by member, so that a file of runs is never held in memory."""

import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from agenthard.audit.sources.formats.reading import MAX_RECORD_BYTES, open_binary
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import join

_BLOCK = 1 << 20


class JsonStreamError(AgentHardError, ValueError):
    """The document is damaged from some place on; what was read before that place is good."""

    code = "AH103"
    remedy = "Download or export the file again; records before the damaged place were read."


@dataclass(frozen=True)
class Member:
    """One value of a top-level array or object. An array inside an object is given element by element."""

    key: str
    """Name in the top-level object; empty when the document is an array."""
    index: int | None
    """0-based position in the array; None for a value that is no array."""
    value: Any
    """Parsed JSON."""

    @property
    def pointer(self) -> str:
        """JSON Pointer of the value in the document."""
        parts: list[str | int] = [self.key] if self.key else []
        return join("", *parts, *([] if self.index is None else [self.index]))


def stream_members(path: Path) -> Iterator[Member]:
    """Yield the members of a JSON document (plain or gzip) in file order, holding one at a time.

    Raises:
        JsonStreamError: where the document stops being JSON, after the members before that were yielded.
    """
    try:
        with open_binary(path) as binary, io.TextIOWrapper(binary, encoding="utf-8") as text:
            yield from _Scanner(text).members()
    except (ValueError, RecursionError, OSError, EOFError, zlib.error) as error:
        raise JsonStreamError(str(error)) from error


class _Scanner:
    """Keeps one block of text and a position in it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.text = ""
        self.at = 0
        self.ended = False
        self.decoder = json.JSONDecoder()

    def members(self) -> Iterator[Member]:
        opening = self.peek()
        if opening == "[":
            yield from self.array("")
        elif opening == "{":
            yield from self.object()
        else:
            raise ValueError("expected a JSON array or object")

    def array(self, key: str) -> Iterator[Member]:
        self.take("[")
        index = 0
        while self.peek() != "]":
            if index:
                self.take(",")
            yield Member(key, index, self.value())
            index += 1
        self.take("]")

    def object(self) -> Iterator[Member]:
        self.take("{")
        first = True
        while self.peek() != "}":
            if not first:
                self.take(",")
            first = False
            key = self.value()
            self.take(":")
            if self.peek() == "[":
                yield from self.array(str(key))
            else:
                yield Member(str(key), None, self.value())

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if self.ended or len(self.text) - self.at > MAX_RECORD_BYTES:
                    raise ValueError(error.msg) from error
            else:
                if end < len(self.text) or self.ended:
                    start, self.at = self.at, end
                    escaped = "\\ud" in self.text[start:end] or "\\uD" in self.text[start:end]
                    return _without_half_characters(value) if escaped else value
            self.grow()

    def peek(self) -> str:
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                raise ValueError("the file is cut off")
            self.grow()

    def take(self, expected: str) -> None:
        found = self.peek()
        if found != expected:
            raise ValueError(f"expected {expected!r}, found {found!r}")
        self.at += 1

    def grow(self) -> None:
        """Drop what was consumed and read as much again as is waiting, so that long values cost linear time."""
        waiting = self.text[self.at :]
        block = self.stream.read(max(_BLOCK, len(waiting)))
        self.text, self.at, self.ended = waiting + block, 0, not block


def _without_half_characters(value: Any) -> Any:
    """Replace the escaped half of a surrogate pair, which a cut-off model output leaves, by a question mark."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace"))
