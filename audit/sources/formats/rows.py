"""Rows of any tabular file: JSON Lines, JSON arrays, CSV, TSV, Parquet and Arrow, one file or a folder of shards.

Rows are streamed with their place. Unreadable rows are quarantined, and reading continues.
"""

import csv
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.columnar import ARROW, PARQUET, as_json, read_batches
from agenthard.audit.sources.formats.files import MAX_RECORD_BYTES, open_binary
from agenthard.audit.sources.formats.json_records import read_json_array, read_jsonl
from agenthard.audit.sources.formats.json_stream import stream_members
from agenthard.audit.sources.formats.json_text import parse_record, require_plain
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin

JSON_LINES, JSON, SEPARATED = "json-lines", "json", "separated"
FORMATS = {
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".json": JSON,
    ".csv": SEPARATED,
    ".tsv": SEPARATED,
    ".parquet": PARQUET,
    ".arrow": ARROW,
}
"""Formats by suffix; all but Parquet and Arrow may be followed by ``.gz``."""
ABOUT = frozenset({"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"})
"""Files that describe a data set and hold no rows."""
MAX_DEPTH = 4
"""Levels of folders that are searched."""


@dataclass(frozen=True)
class Row:
    """One row with its place."""

    file: str
    """Path of the file relative to the folder that was given, or the name of the file that was given."""
    number: int
    """1-based and unique within the file: the line of JSON Lines, else the position among the rows."""
    values: dict[str, Any] = field(hash=False)
    """The row as JSON, by column."""
    line: int | None = None
    """1-based line where it starts, in formats that have lines."""
    raw: bytes = field(default=b"", repr=False)
    """Its bytes, without the line break, in formats that have lines."""
    element: bool = False
    """Whether the row is an element of an array, or of a table without lines, so that pointers start at its index."""

    def origin(self, pointer: str = "") -> Origin:
        """Origin of a part of the row, given by its JSON Pointer inside the row."""
        return Origin(file=self.file, line=self.line, pointer=self.pointer(pointer))

    def pointer(self, inside: str = "") -> str:
        """JSON Pointer into the document that holds the row, from one inside the row."""
        return f"/{self.number - 1}{inside}" if self.element else inside


def row_format(path: Path) -> str | None:
    """Name the format of a file by its suffix; None when it holds no rows."""
    if path.name in ABOUT or path.name.startswith("."):
        return None
    packed = path.suffix == ".gz"
    found = FORMATS.get(Path(path.stem).suffix if packed else path.suffix)
    return None if packed and found in (PARQUET, ARROW) else found


def row_files(path: Path) -> Iterator[Path]:
    """Yield the files of rows at ``path``, which is a file or a folder, in sorted order.

    Hidden files and folders, files that describe a data set, and folders more than :data:`MAX_DEPTH` below are left
    out.
    """
    if path.is_file():
        if row_format(path):
            yield path
        return
    yield from _below(path, MAX_DEPTH)


def _below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 0:
                yield from _below(Path(entry.path), depth - 1)
        elif entry.is_file() and row_format(Path(entry.path)):
            yield Path(entry.path)


def folder_of(path: Path) -> Path:
    """Return the folder to which the names of files are relative."""
    return path.parent if path.is_file() else path


def iterate(path: Path, quarantine: Quarantine, kind: str = "task") -> Iterator[Row]:
    """Stream the rows of a file, or of all files of rows under a folder.

    Args:
        path: the file or folder.
        quarantine: collects what is unreadable.
        kind: what the rows hold: task or run.
    """
    for file in row_files(path):
        yield from read_rows(file, file.relative_to(folder_of(path)).as_posix(), quarantine, kind)


def read_rows(path: Path, name: str, quarantine: Quarantine, kind: str = "task") -> Iterator[Row]:
    """Stream the rows of one file.

    Values of Parquet and Arrow become JSON: dates and times ISO texts, decimals texts, bytes a text with their number.
    Nulls in their structs are left out, because there every struct has the fields of all rows.

    Args:
        path: the file; its suffix tells the format.
        name: its name in messages.
        quarantine: collects what is unreadable.
        kind: what the rows hold: task or run.
    """
    form = row_format(path)
    if form in (PARQUET, ARROW):
        yield from _columnar(path, name, form, quarantine, kind)
    elif form == SEPARATED:
        yield from _separated(path, name, quarantine, kind)
    elif form == JSON and is_array(path):
        for record in read_json_array(path, name, quarantine, kind):
            yield Row(name, record.index + 1, record.value, record.line, record.raw, element=True)
    else:
        for record in read_jsonl(path, name, quarantine, kind):
            yield Row(name, record.line, record.value, record.line, record.raw)


def peek(path: Path, number: int) -> list[dict[str, Any]]:
    """Return the first rows of a file as JSON, to recognise their layout; no row is quarantined.

    Args:
        path: the file.
        number: how many rows or lines are read; unreadable ones are left out.
    """
    form = row_format(path)
    if form not in (JSON, JSON_LINES):
        return [row.values for row in islice(read_rows(path, path.name, Quarantine()), number)]
    try:
        if form == JSON and is_array(path):
            values = [member.value for member in islice(stream_members(path), number)]
        else:
            with open_binary(path) as stream:
                lines = [stream.readline(MAX_RECORD_BYTES) for _ in range(number)]
            values = [parse_record(line, path.name, 1, Quarantine()) for line in lines if line.strip()]
    except (OSError, EOFError, zlib.error, ValueError):
        return []
    return [value for value in values if isinstance(value, dict)]


def is_array(path: Path) -> bool:
    """Tell whether a JSON file holds one array (and not one object per line)."""
    try:
        with open_binary(path) as stream:
            return stream.read(1 << 12).lstrip()[:1] == b"["
    except (OSError, EOFError, zlib.error):
        return False


def _separated(path: Path, name: str, quarantine: Quarantine, kind: str) -> Iterator[Row]:
    lines = SeparatedLines(path)
    header: list[str] | None = None
    try:
        for number, (line, cells, raw) in enumerate(lines.rows()):
            if header is None:
                header = cells
                if "" in header or len(set(header)) != len(header) or not _is_text("".join(header)):
                    reason = "the header is not UTF-8, has an empty name, or has one name twice; name each column once"
                    quarantine.add(name, reason, line=line, kind=kind)
                    return
            elif not _is_text("".join(cells)):
                quarantine.add(name, "not UTF-8; re-encode the file", line=line, kind=kind)
            elif len(cells) != len(header):
                reason = f"the row has {len(cells)} cells, the header {len(header)}; fix the row"
                quarantine.add(name, reason, line=line, kind=kind)
            else:
                yield Row(name, number, dict(zip(header, cells, strict=True)), line, raw)
    except (csv.Error, OSError, EOFError, zlib.error) as error:
        reason = f"cannot read the table to its end: {error}; the rows before were read"
        quarantine.add(name, reason, line=lines.read, kind=kind)
    if header is None:
        quarantine.add(name, "the file is empty; expected a header and rows", kind=kind)


class SeparatedLines:
    """Cells of a CSV or TSV file together with the bytes they came from."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: list[bytes] = []
        self.read = 0
        """How many lines were read so far."""

    def rows(self) -> Iterator[tuple[int, list[str], bytes]]:
        """Yield the line where a row starts, its cells and its bytes without the line break; blank lines are skipped.

        Raises:
            csv.Error: when a quoted cell is not closed, or too long.
        """
        csv.field_size_limit(MAX_RECORD_BYTES)
        tab = ".tsv" in self._path.suffixes
        for cells in csv.reader(self._texts(), delimiter="\t" if tab else ",", strict=True):
            raw, start = b"".join(self._held), self.read - len(self._held) + 1
            self._held.clear()
            if cells:
                yield start, cells, raw.removesuffix(b"\n").removesuffix(b"\r")

    def _texts(self) -> Iterator[str]:
        with open_binary(self._path) as stream:
            while line := stream.readline(MAX_RECORD_BYTES):
                self.read += 1
                if len(line) == MAX_RECORD_BYTES:
                    raise csv.Error(f"line {self.read} is longer than {MAX_RECORD_BYTES >> 20} MiB")
                self._held.append(line)
                yield line.decode("utf-8", errors="surrogateescape")


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _columnar(path: Path, name: str, form: str, quarantine: Quarantine, kind: str) -> Iterator[Row]:
    import pyarrow

    number = 0
    try:
        for batch in read_batches(path, form):
            for values in batch.to_pylist():
                number += 1
                row = as_json(values)
                try:
                    require_plain(row)
                except ValueError as error:
                    reason = f"the row cannot be used: {error}"
                    quarantine.add(name, reason, pointer=join("", number - 1), kind=kind)
                    continue
                yield Row(name, number, row, element=True)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = f"cannot read the table to its end: {str(error)[:200]}; {number} rows before were read"
        quarantine.add(name, reason, pointer=join("", number), kind=kind)
