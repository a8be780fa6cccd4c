"""Readers of JSON Lines and JSON arrays that survive bad records and keep the place and the bytes of each record."""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.files import MAX_RECORD_BYTES, open_binary, read_lines
from agenthard.audit.sources.formats.json_stream import JsonScanner
from agenthard.audit.sources.formats.json_text import TOO_DEEP, parse_record, refuse_half_characters, require_plain
from agenthard.taxonomy.files import MAX_BYTES, size_text
from agenthard.taxonomy.record import Origin

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


@dataclass(frozen=True)
class FileRecord:
    """A record and the file it came from."""

    file: str
    """Path relative to the root."""
    record: RawRecord
    """The record."""

    def origin(self, pointer: str = "") -> Origin:
        """Origin of a part of the record."""
        return Origin(file=self.file, line=self.record.line, pointer=pointer)


def read_jsonl(
    path: Path, name: str, quarantine: Quarantine, kind: str = "task", parse: Callable[[bytes], bool] | None = None
) -> Iterator[RawRecord]:
    """Stream a JSON Lines file, plain or gzip.

    Blank lines are skipped. A line that is too long, not UTF-8 or not JSON goes to ``quarantine`` with its number,
    and reading continues. An empty file is quarantined as a whole.

    Args:
        path: the file.
        name: its name in messages, relative to the root.
        quarantine: collects unreadable lines.
        kind: what the lines hold: task or run.
        parse: tells from the bytes of a line whether it is wanted; the others are skipped. None = all are wanted.
    """
    index = -1
    try:
        with open_binary(path) as stream:
            for number, raw in read_lines(stream):
                if raw is None:
                    reason = f"line is longer than {MAX_RECORD_BYTES >> 20} MiB; split it or shorten the record"
                    quarantine.add(name, reason, line=number, kind=kind)
                elif raw.strip():
                    index += 1
                    if parse is not None and not parse(raw):
                        continue
                    value = parse_record(raw, name, number, quarantine, kind)
                    if value is not None:
                        yield RawRecord(value, number, index, raw)
    except (OSError, EOFError, zlib.error) as error:
        quarantine.add(name, f"cannot read the file to its end: {error}", kind=kind)
        return
    if index < 0:
        quarantine.add(name, "the file holds no records; expected one JSON object per line", kind=kind)


def read_json_array(path: Path, name: str, quarantine: Quarantine, kind: str = "task") -> Iterator[RawRecord]:
    """Read the objects of one JSON array (a ``tasks.json``) element by element.

    After a damaged element the elements before it are kept and the rest is quarantined, because the end of a damaged
    element cannot be found safely. Elements that are not objects are quarantined one by one.

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
            refuse_half_characters(element.text, element.value)
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
    scanner = JsonScanner.of_text(text)
    opening = scanner.peek()
    if not opening:
        quarantine.add(name, "the file is empty; expected a JSON array of objects", kind=kind)
        return
    if opening != "[":
        quarantine.add(name, "expected a JSON array of objects; is this another benchmark's file?", line=1, kind=kind)
        return
    scanner.take("[")
    index, line, counted = 0, 1, 0
    while scanner.peek() not in ("", "]"):
        line += text.count("\n", counted, scanner.at)
        counted = scanner.at
        try:
            value = scanner.value()
        except ValueError as error:
            reason = f"not valid JSON: {error}; this element and all after it were left out"
            quarantine.add(name, reason, line=line, pointer=f"/{index}", kind=kind)
            return
        except RecursionError:
            reason = f"{TOO_DEEP}; correct or remove the record"
            quarantine.add(name, reason, line=line, pointer=f"/{index}", kind=kind)
            scanner.at = _end_of_nested(text, scanner.at)
        else:
            yield _Element(value, line, index, scanner.value_text)
        index += 1
        if scanner.peek() == ",":  # a missing comma is tolerated: no record is lost by it
            scanner.take(",")
    if not scanner.peek():
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


def copy_elements(source: Path, target: Path, keep: set[int]) -> int:
    """Write a JSON array with the elements whose 0-based positions are in ``keep``, each byte-identical.

    Returns how many were written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    records = [r.raw for r in read_json_array(source, source.name, Quarantine()) if r.index in keep]
    indent = b"\n  " if records else b""
    target.write_bytes(b"[" + indent + b",\n  ".join(records) + (b"\n]\n" if records else b"]\n"))
    return len(records)
