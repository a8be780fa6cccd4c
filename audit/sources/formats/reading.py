"""Streaming readers of JSON Lines and JSON arrays that survive bad records and keep positions.

Both give the raw bytes of each record, so that a split can be written byte-identical. Files are opened in one place,
:func:`open_binary`, which refuses what is no regular file or not UTF-8 and bounds what a packed file unpacks to.
"""

import gzip
import io
import json
import math
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import (
    BOM,
    MAX_BYTES,
    UnreadableFileError,
    open_regular,
    read_text,
    refuse_other_encodings,
    size_text,
)
from agenthard.taxonomy.pointer import split

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""A longer line is quarantined without being held in memory."""
MAX_DEPTH = 100
"""Levels of nesting in a record. A deeper one could be read and then not be written into a split or a report."""
UNPACKED_BYTES, UNPACKED_RATIO = 128 << 20, 200
"""A packed file may unpack to 128 MiB and 200 times its size. Run logs reach 6 to 60 times; a gzip bomb 1,000 times."""

_TOO_DEEP = f"the record is nested more than {MAX_DEPTH} levels deep"
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True)
class RawRecord:
    """One JSON document with its place."""

    value: Any
    """Parsed JSON."""
    line: int
    """1-based line where it starts."""
    index: int
    """0-based position among the records of the file."""
    raw: bytes
    """Its bytes, for JSON Lines without the line break."""


def open_binary(path: Path) -> IO[bytes]:
    """Open a file of UTF-8 text, plain or ``.gz``, at the first byte after its byte order mark, if it has one.

    Raises:
        UnreadableFileError: when it is no regular file, or its first bytes are not UTF-8; while reading, when a packed
            file unpacks to more than any log does.
        OSError, EOFError, zlib.error: when it cannot be opened or unpacked.
    """
    packed = open_regular(path)
    try:
        stream = io.BufferedReader(_Unpacked(path, packed)) if path.suffix == ".gz" else packed
        start = stream.peek(4096)[:4096]  # type: ignore[attr-defined]
        refuse_other_encodings(path, start)
        if start.startswith(BOM):
            stream.read(len(BOM))
    except BaseException:
        packed.close()
        raise
    return stream


class UnwritableError(AgentHardError, ValueError):
    """A parsed document could not be written out as JSON again."""

    code = "AH105"
    remedy = "Report the record: the benchmark cannot be written in its own format without loss."


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, up to a bound that follows from its size."""

    def __init__(self, path: Path, packed: IO[bytes]) -> None:
        self._path, self._packed = path, packed
        self._gzip = gzip.GzipFile(fileobj=packed)
        self._left = UNPACKED_BYTES + UNPACKED_RATIO * os.fstat(packed.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._gzip.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            reason = f"it unpacks to more than {UNPACKED_RATIO} times its size, as no log does; unpack and check it"
            raise UnreadableFileError(self._path, reason)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._packed.close()
        super().close()


def load_document(path: Path) -> Any:
    """Parse a file that holds one JSON document.

    Raises:
        OSError: when it cannot be read, is no regular file, too long or not UTF-8.
        ValueError: when it is not JSON, nested too deep, or holds a number that JSON has not.
    """
    return load_json_text(read_text(path))


def load_json_text(text: str) -> Any:
    """Parse one JSON document.

    Raises:
        ValueError: when it is not JSON, nested too deep, or holds a number that JSON has not.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise UnwritableError(_TOO_DEEP) from error
    require_plain(value)
    return value


def require_plain(value: Any) -> None:
    """Refuse a parsed document that could not be written out as JSON again.

    Python reads ``NaN``, ``Infinity`` and ``1e999`` although JSON has no such numbers: they compare unequal to
    themselves or to everything, so that a check of them would be wrong in silence.

    Raises:
        UnwritableError: when it is nested more than :data:`MAX_DEPTH` levels deep or holds such a number.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                below.extend(item.values())
            elif kind is list:
                below.extend(item)
            elif kind is float and not math.isfinite(item):
                raise UnwritableError(f"the record holds {item}, which is not finite: JSON has no such number")
        if not below:
            return
        level = below
    raise UnwritableError(_TOO_DEEP)


def read_jsonl(path: Path, name: str, quarantine: Quarantine, kind: str = "task") -> Iterator[RawRecord]:
    """Stream a JSON Lines file, plain or gzip.

    Blank lines are skipped. A line that is too long, not UTF-8 or not JSON goes to ``quarantine`` with its number,
    and reading goes on. An empty file is quarantined as a whole.

    Args:
        path: the file.
        name: its name in messages, relative to the root.
        quarantine: collects unreadable lines.
        kind: what the lines hold: task or run.
    """
    index = -1
    try:
        with open_binary(path) as stream:
            for number, raw in _lines(stream):
                if raw is None:
                    reason = f"line is longer than {MAX_RECORD_BYTES >> 20} MiB; split it or shorten the record"
                    quarantine.add(name, reason, line=number, kind=kind)
                elif raw.strip():
                    index += 1
                    value = parse(raw, name, number, quarantine, kind)
                    if value is not None:
                        yield RawRecord(value, number, index, raw)
    except (OSError, EOFError, zlib.error) as error:
        quarantine.add(name, f"cannot read the file to its end: {error}", kind=kind)
        return
    if index < 0:
        quarantine.add(name, "the file holds no records; expected one JSON object per line", kind=kind)


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    number = 0
    while line := stream.readline(MAX_RECORD_BYTES):
        number += 1
        if len(line) == MAX_RECORD_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_RECORD_BYTES)
            yield number, None
        else:
            yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def parse(raw: bytes, name: str, line: int, quarantine: Quarantine, kind: str = "task") -> Any | None:
    """Parse one JSON object; on failure quarantine it and return None.

    An escaped half of a surrogate pair is refused too: it is JSON, but no file could hold it again.
    """
    try:
        text = raw.decode("utf-8")
        value = load_json_text(text)
        _refuse_half_characters(text, value)
    except UnicodeDecodeError as error:
        quarantine.add(name, f"not UTF-8 at byte {error.start} of the line; re-encode the file", line=line, kind=kind)
    except UnwritableError as error:
        quarantine.add(name, f"{error}; correct or remove the record", line=line, kind=kind)
    except ValueError as error:
        quarantine.add(name, f"not valid JSON: {error}; mend or remove the record", line=line, kind=kind)
    else:
        if isinstance(value, dict):
            return value
        reason = f"expected a JSON object, found {type(value).__name__}"
        quarantine.add(name, reason, line=line, kind=kind)
    return None


def _refuse_half_characters(text: str, value: Any) -> None:
    """Raise ValueError when an escape is half of a surrogate pair, whether in a key or in a value."""
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")


def read_json_array(path: Path, name: str, quarantine: Quarantine, kind: str = "task") -> Iterator[RawRecord]:
    """Read the objects of one JSON array (a ``tasks.json``) element by element.

    After a damaged element the elements before it are kept and the rest is quarantined, because nothing after it
    can be located safely. Elements that are no objects are quarantined one by one.

    Args:
        path: the file.
        name: its name in messages, relative to the root.
        quarantine: collects what is unreadable.
        kind: what the elements hold: task or run.
    """
    try:
        with open_binary(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        quarantine.add(name, f"cannot read the file: {error}", kind=kind)
        return
    if len(data) > MAX_BYTES:
        reason = f"an array longer than {size_text(MAX_BYTES)}; write it as JSON Lines, which are read line by line"
        quarantine.add(name, reason, kind=kind)
        return
    text = data.decode("utf-8", errors="surrogateescape")
    for element in _elements(text, name, quarantine, kind):
        try:
            raw = element.text.encode("utf-8")
            _refuse_half_characters(element.text, element.value)
        except ValueError as error:
            reason = f"not UTF-8, or half a character escaped: {error}; re-encode the file"
            quarantine.add(name, reason, line=element.line, pointer=f"/{element.index}", kind=kind)
            continue
        try:
            require_plain(element.value)
        except ValueError as error:
            reason = f"{error}; correct or remove the record"
            quarantine.add(name, reason, line=element.line, pointer=f"/{element.index}", kind=kind)
            continue
        if isinstance(element.value, dict):
            yield RawRecord(element.value, element.line, element.index, raw)
        else:
            reason = f"expected a JSON object, found {type(element.value).__name__}"
            quarantine.add(name, reason, line=element.line, pointer=f"/{element.index}", kind=kind)


@dataclass(frozen=True)
class _Element:
    value: Any
    line: int
    index: int
    text: str


def _elements(text: str, name: str, quarantine: Quarantine, kind: str) -> Iterator[_Element]:
    decoder = json.JSONDecoder()
    position = _skip_space(text, 0)
    if position >= len(text):
        quarantine.add(name, "the file is empty; expected a JSON array of objects", kind=kind)
        return
    if text[position] != "[":
        quarantine.add(name, "expected a JSON array of objects; is this another benchmark's file?", line=1, kind=kind)
        return
    position, index, line, counted = _skip_space(text, position + 1), 0, 1, 0
    while position < len(text) and text[position] != "]":
        line += text.count("\n", counted, position)
        counted = position
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError as error:
            reason = f"not valid JSON: {error}; this element and all after it were left out"
            quarantine.add(name, reason, line=line, pointer=f"/{index}", kind=kind)
            return
        except RecursionError:
            reason = f"{_TOO_DEEP}; correct or remove the record"
            quarantine.add(name, reason, line=line, pointer=f"/{index}", kind=kind)
            end = _end_of_nested(text, position)
        else:
            yield _Element(value, line, index, text[position:end])
        index += 1
        position = _skip_space(text, end)
        if position < len(text) and text[position] == ",":
            position = _skip_space(text, position + 1)
    if position >= len(text):
        reason = "the array is not closed: the file is cut off after its last element"
        quarantine.add(name, reason, line=line, kind=kind)


def _end_of_nested(text: str, position: int) -> int:
    """Find where a value ends that is nested too deep to be parsed; without its last bracket, the end of the text."""
    depth = 0
    for match in _BRACKETS.finditer(text, position):
        depth += (match[0] in "[{") - (match[0] in "]}")
        if depth == 0:
            return match.end()
    return len(text)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def line_of(text: str, pointer: str) -> int:
    r"""Find the 1-based line on which the value at ``pointer`` starts in a JSON document.

    The deepest part of the pointer that exists counts, so a slightly wrong pointer still leads close by.

    >>> line_of('[\n {"a": 1,\n  "b": [2,\n 3]}]', "/0/b/1")
    4
    """
    decoder = json.JSONDecoder()
    position = _skip_space(text, 0)
    for token in split(pointer):
        child = _child(decoder, text, position, token)
        if child is None:
            break
        position = child
    return text.count("\n", 0, position) + 1


def _child(decoder: json.JSONDecoder, text: str, position: int, token: str) -> int | None:
    opening = text[position : position + 1]
    if opening not in ("{", "["):
        return None
    position, index = _skip_space(text, position + 1), 0
    while position < len(text) and text[position] not in "}]":
        key = str(index)
        if opening == "{":
            key, position = decoder.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        if key == token:
            return position
        position = _skip_space(text, decoder.raw_decode(text, position)[1])
        if text[position : position + 1] == ",":
            position = _skip_space(text, position + 1)
        index += 1
    return None


def count_lines(path: Path) -> int | None:
    """Count the lines of a file that are not blank; None when it cannot be read."""
    try:
        with open_binary(path) as stream:
            return sum(raw is None or bool(raw.strip()) for _, raw in _lines(stream))
    except (OSError, EOFError, zlib.error):
        return None


def copy_lines(source: Path, target: Path, keep: set[int]) -> int:
    """Copy the lines whose 1-based numbers are in ``keep``, byte for byte. Returns how many were copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    copied = 0
    with source.open("rb") as reader, target.open("wb") as writer:
        for number, line in enumerate(reader, start=1):
            if number in keep:
                writer.write(line if line.endswith(b"\n") else line + b"\n")
                copied += 1
    return copied


def copy_elements(source: Path, target: Path, keep: set[int]) -> int:
    """Write a JSON array with the elements whose 0-based positions are in ``keep``, each byte-identical.

    Returns how many were written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    records = [r.raw for r in read_json_array(source, source.name, Quarantine()) if r.index in keep]
    indent = b"\n  " if records else b""
    target.write_bytes(b"[" + indent + b",\n  ".join(records) + (b"\n]\n" if records else b"]\n"))
    return len(records)
