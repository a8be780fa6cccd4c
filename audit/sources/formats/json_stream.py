"""Streams one large JSON document value by value, so that a file of runs is never held in memory."""

import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from agenthard.audit.sources.formats.files import MAX_RECORD_BYTES, open_binary
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import join

_BLOCK = 1 << 20
"""Characters that are read at a time."""


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
    """0-based position in the array; None for a value that is not an array."""
    value: Any
    """Parsed JSON."""

    @property
    def pointer(self) -> str:
        """JSON Pointer of the value in the document."""
        parts: list[str | int] = [self.key] if self.key else []
        return join("", *parts, *([] if self.index is None else [self.index]))


def stream_members(path: Path) -> Iterator[Member]:
    """Yield the members of a JSON document (plain or gzip) in file order, holding one at a time.

    An escaped half of a surrogate pair, which a model output that was cut off leaves, becomes a question mark.

    Raises:
        JsonStreamError: where the document stops being JSON, after the members before that were yielded.
    """
    try:
        with open_binary(path) as binary, io.TextIOWrapper(binary, encoding="utf-8") as text:
            scanner = JsonScanner(text)
            opening = scanner.peek()
            if opening == "[":
                yield from (_member(scanner, "", index, value) for index, value in scanner.elements())
            elif opening == "{":
                yield from _members(scanner)
            else:
                raise ValueError("expected a JSON array or object" if opening else "the file is cut off")
    except (ValueError, RecursionError, OSError, EOFError, zlib.error) as error:
        raise JsonStreamError(str(error)) from error


def _members(scanner: "JsonScanner") -> Iterator[Member]:
    for key in scanner.keys():
        if scanner.peek() == "[":
            yield from (_member(scanner, str(key), index, value) for index, value in scanner.elements())
        else:
            yield _member(scanner, str(key), None, scanner.value())


def _member(scanner: "JsonScanner", key: str, index: int | None, value: Any) -> Member:
    text = scanner.value_text
    if "\\ud" in text or "\\uD" in text:
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace"))
    return Member(key, index, value)


def stream_object(stream: IO[bytes], listed: str) -> Iterator[tuple[str, int | None, Any]]:
    """Stream an object of which one member is a long array.

    Args:
        stream: JSON in UTF-8.
        listed: key of the array.

    Yields:
        Key, None and value of each member in order. The array is first given as an empty list; then each of its
        elements follows with the key, its 0-based position and its value.

    Raises:
        ValueError: where the text stops being JSON.
        RecursionError: when a value is nested too deeply.
        OSError: when it cannot be read.
    """
    scanner = JsonScanner(io.TextIOWrapper(stream, encoding="utf-8"))
    for key in scanner.keys():
        if not isinstance(key, str):
            raise ValueError("a key is not text")
        if key == listed and scanner.peek() == "[":
            yield key, None, []
            yield from ((key, index, value) for index, value in scanner.elements())
        else:
            yield key, None, scanner.value()
    if scanner.peek():
        raise ValueError("something follows the end of the object")


class JsonScanner:
    """Reads the values of a JSON text one after another, holding one block of the text and a position in it."""

    def __init__(self, stream: TextIO) -> None:
        self.text = ""
        """The block."""
        self.at = 0
        """Position in the block."""
        self._stream = stream
        self._whole = False
        self._ended = False
        self._start = 0
        self._decoder = json.JSONDecoder()

    @classmethod
    def of_text(cls, text: str) -> "JsonScanner":
        """Scan a text that is in memory as a whole: positions are then those in the text."""
        scanner = cls(io.StringIO())
        scanner.text, scanner._whole, scanner._ended = text, True, True
        return scanner

    @property
    def value_text(self) -> str:
        """The text of the value that was read last."""
        return self.text[self._start : self.at]

    def peek(self) -> str:
        """Skip white space and return the next character; empty at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self.text) or self._ended:
                return self.text[self.at : self.at + 1]
            self._grow()

    def take(self, expected: str) -> None:
        """Skip a character that has to come next.

        Raises:
            ValueError: when another one comes, or none.
        """
        found = self.peek()
        if found != expected:
            raise ValueError(f"expected {expected!r}, found {found!r}" if found else "the file is cut off")
        self.at += 1

    def value(self) -> Any:
        """Read the next value.

        Raises:
            ValueError: when it is not valid JSON, is cut off, or is longer than :data:`MAX_RECORD_BYTES`; for a text
                in memory a ``json.JSONDecodeError`` with the position.
            RecursionError: when it is nested too deeply.
        """
        if not self.peek() and not self._whole:
            raise ValueError("the file is cut off")
        while True:
            try:
                value, end = self._decoder.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if self._whole:
                    raise
                if self._ended or len(self.text) - self.at > MAX_RECORD_BYTES:
                    raise ValueError(error.msg) from error
            else:
                # A number at the end of the block may continue in the next one.
                if end < len(self.text) or self._ended:
                    self._start, self.at = self.at, end
                    return value
            self._grow()

    def elements(self) -> Iterator[tuple[int, Any]]:
        """Read an array: yield the position and the value of each element.

        Raises:
            ValueError: when it is not an array of valid JSON.
        """
        self.take("[")
        index = 0
        while self.peek() != "]":
            if index:
                self.take(",")
            yield index, self.value()
            index += 1
        self.take("]")

    def keys(self) -> Iterator[Any]:
        """Read an object: yield each key; the caller reads the value before it asks for the next key.

        Raises:
            ValueError: when it is not an object of valid JSON.
        """
        self.take("{")
        first = True
        while self.peek() != "}":
            if not first:
                self.take(",")
            first = False
            key = self.value()
            self.take(":")
            yield key
        self.take("}")

    def _grow(self) -> None:
        """Drop what was read, and read at least as much as is waiting, so that a long value takes linear time."""
        waiting = self.text[self.at :]
        block = self._stream.read(max(_BLOCK, len(waiting)))
        self.text, self.at, self._ended = waiting + block, 0, not block
