"""A JSON object read piece by piece: its entries, and those of one long list one at a time."""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

_CHUNK_BYTES = 1 << 18
_LONGEST = 1 << 26
"""Characters that one entry may have; a longer one is taken for damage."""


def entries(stream: IO[bytes], listed: str) -> Iterator[tuple[str, int | None, Any]]:
    """Reads an object without holding the list in it.

    Args:
        stream: JSON in UTF-8.
        listed: Key of the list.

    Yields:
        Key, None and value of each entry, in order; the list is said to be empty, and each of its elements follows
        with the key, the position and the value.

    Raises:
        ValueError: From here on it is not valid JSON, or an entry is longer than 64 million characters.
        RecursionError: An entry is nested too deeply.
        OSError: It cannot be read.
    """
    text = _Text(stream)
    text.expect("{")
    while text.peek() != "}":
        key = text.value()
        if not isinstance(key, str):
            raise ValueError("a key is no text")
        text.expect(":")
        if key == listed and text.peek() == "[":
            yield key, None, []
            yield from ((key, index, value) for index, value in enumerate(_elements(text)))
        else:
            yield key, None, text.value()
        if text.peek() != "}":
            text.expect(",")
    text.expect("}")
    if text.peek():
        raise ValueError("something follows the end of the object")


def _elements(text: "_Text") -> Iterator[Any]:
    text.expect("[")
    while text.peek() != "]":
        yield text.value()
        if text.peek() != "]":
            text.expect(",")
    text.expect("]")


class _Text:
    """The text of a file, of which the part that is being read is in memory."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not a space; empty at the end."""
        while True:
            rest = len(self._text)
            while self._at < rest and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < rest or self._ended:
                return self._text[self._at : self._at + 1]
            self._read()

    def expect(self, character: str) -> None:
        """Go past a character that has to come next."""
        found = self.peek()
        if found != character:
            raise ValueError(f"{character!r} is missing" if found else "the file breaks off")
        self._at += 1

    def value(self) -> Any:
        """The next value; more is read until it is whole."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise ValueError(error.msg) from error
            else:
                if end < len(self._text) or self._ended:  # a number that ends with the text may go on
                    self._at = end
                    return value
            if len(self._text) - self._at > _LONGEST:
                raise ValueError("an entry has no end")
            self._read()

    def _read(self) -> None:
        """Double what is in memory of the current value, so that trying again costs no more than it did."""
        wanted = max(_CHUNK_BYTES, len(self._text) - self._at)
        data = self._stream.read(wanted)
        self._ended = len(data) == 0
        self._text = self._text[self._at :] + self._decoder.decode(data, final=self._ended)
        self._at = 0
