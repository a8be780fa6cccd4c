"""The rows that a mapping reads: from files or documents, joined with rows of other files."""

import glob
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.files import open_binary
from agenthard.audit.sources.formats.json_text import load_document, parse_record, require_plain
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.audit.sources.formats.promptfoo import is_promptfoo, read_promptfoo
from agenthard.audit.sources.formats.rows import Row, read_rows, row_format
from agenthard.audit.sources.formats.sqlite import is_query, is_sqlite, read_sqlite, the_rows
from agenthard.audit.sources.mapping.mapping import Join, ValuePath
from agenthard.audit.sources.mapping.paths import as_text, compile_path, structured
from agenthard.taxonomy.files import MAX_BYTES, read_text, size_text
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.yaml_text import read_yaml

ABOUT_FILE = ("_file", "_stem", "_folder", "_row")
"""Columns that are added to every row: path, name without suffix, folder, number."""


@dataclass(frozen=True)
class MappedRow:
    """One row with its place, and what was joined to it."""

    file: str
    """Path relative to the folder of the data."""
    number: int
    """1-based and unique within the file."""
    values: dict[str, Any] = field(hash=False)
    """The row as JSON, with joined rows and what is about the file."""
    line: int | None = None
    """1-based line, in formats that have lines."""
    base: str = ""
    """JSON Pointer of the row inside its document."""
    table: str | None = None
    """Table or query that it is from, in a SQLite file."""
    joined: Mapping[str, tuple["MappedRow", ...]] = field(default_factory=dict, hash=False)
    """Joined rows by column."""
    lists: frozenset[str] = frozenset()
    """Columns of them that hold a list."""

    def origin(self, pointer: str = "") -> Origin:
        """Origin of a value, given by its JSON Pointer inside the row; a joined value has its own file."""
        first, *rest = split(pointer) or [""]
        if first in self.joined:
            number = int(rest.pop(0)) if first in self.lists and rest and rest[0].isdigit() else 0
            return self.joined[first][number].origin(join("", *rest))
        inside = "" if first in ABOUT_FILE else pointer
        return Origin(file=self.file, line=self.line, pointer=self.base + inside)


def look_up(place: ValuePath, values: Mapping[str, Any]) -> Any:
    """Return the value of a path or a constant in a row; the default when there is none.

    Raises:
        PathSyntaxError: when the expression does not fit the row.
    """
    if place.path is None:
        return place.value
    found = compile_path(place.path).find(values)
    return place.default if found is None else found


def data_files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Return the files that the patterns name, sorted, each once.

    Raises:
        SourceError: when a pattern names no file of rows.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        names = sorted(glob.glob(pattern, root_dir=folder, recursive=True))
        files = [folder / name for name in names if (folder / name).is_file() and holds_rows(folder / name)]
        if not files:
            raise SourceError(
                f"{pattern!r} names no file with rows in {folder}: give .jsonl, .json, .csv, .tsv, .parquet, .arrow or "
                ".sqlite"
            )
        found |= dict.fromkeys(files)
    return list(found)


def holds_rows(path: Path) -> bool:
    """Tell whether a mapping can name a file for its rows."""
    return row_format(path) is not None or is_sqlite(path) or is_promptfoo(path)


def read_file(path: Path, folder: Path, rows: str | None, quarantine: Quarantine, kind: str) -> Iterator[MappedRow]:
    """Stream the rows of one file.

    Args:
        path: the file.
        folder: folder of the data.
        rows: JSON Pointer of the list of rows in a JSON document, or table or query of a SQLite file; None: the file
            holds nothing but rows.
        quarantine: collects what is unreadable.
        kind: what the rows hold: task or run.

    Raises:
        SourceError: a SQLite file has no such table, or several and none is named.
    """
    name = path.relative_to(folder).as_posix()
    about = {"_file": name, "_stem": path.name.split(".")[0], "_folder": path.parent.name}
    if is_sqlite(path):
        table = the_rows(path, rows)
        for row in read_sqlite(path, name, table, quarantine, kind):
            yield MappedRow(name, row.number, _with(row, about), None, row.pointer(), table=table)
        return
    if is_promptfoo(path):
        for row in read_promptfoo(path, folder, quarantine, kind):
            yield MappedRow(row.file, row.number, _with(row, {**about, "_file": row.file}), row.line, row.pointer())
        return
    if rows is None:
        for row in read_rows(path, name, quarantine, kind):
            yield MappedRow(name, row.number, _with(row, about), row.line, row.pointer())
        return
    for number, (values, base) in enumerate(_document(path, name, rows, quarantine, kind), start=1):
        if isinstance(values, dict):
            yield MappedRow(name, number, {**values, **about, "_row": number}, None, base)
        else:
            reason = f"expected a JSON object, found {type(values).__name__}"
            quarantine.add(name, reason, pointer=base, kind=kind)


def _with(row: Row, about: Mapping[str, Any]) -> dict[str, Any]:
    return {**row.values, **about, "_row": row.number}


def _document(path: Path, name: str, rows: str, quarantine: Quarantine, kind: str) -> Iterable[tuple[Any, str]]:
    try:
        with open_binary(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        quarantine.add(name, f"cannot read the file: {error}", kind=kind)
        return []
    if len(data) > MAX_BYTES:
        reason = f"a document longer than {size_text(MAX_BYTES)}; write its rows as JSON Lines"
        quarantine.add(name, reason, kind=kind)
        return []
    document = parse_record(data, name, 1, quarantine, kind)
    if document is None:
        return []
    try:
        found = resolve(document, rows)
    except (LookupError, ValueError) as error:
        quarantine.add(name, f"the mapping's rows: {error}", pointer=rows, kind=kind)
        return []
    return [(item, join(rows, i)) for i, item in enumerate(found)] if isinstance(found, list) else [(found, rows)]


def shallow(rows: Iterable[MappedRow], quarantine: Quarantine, kind: str = "task") -> Iterator[MappedRow]:
    """Pass on rows, and quarantine those that are nested too deep to be written again."""
    for row in rows:
        try:
            require_shallow(row.values)
        except MalformedRecordError as error:
            quarantine.add(row.file, str(error), line=row.line, pointer=row.base, kind=kind)
            continue
        yield row


class Joined:
    """The rows of one join by their key, read once."""

    def __init__(self, spec: Join, folder: Path) -> None:
        """Read the files of a join.

        Raises:
            SourceError: when there are none, or the rows are those of a query.
        """
        if spec.rows is not None and is_query(spec.rows):
            raise SourceError(f"join {spec.name}: `rows` is a query; make it a view of the SQLite file, and name that")
        self.spec = spec
        self.unreadable = Quarantine()
        self._rows: dict[str, list[MappedRow]] = {}
        for path in data_files(folder, spec.files):
            for row in shallow(read_file(path, folder, spec.rows, self.unreadable, "task"), self.unreadable):
                key = look_up(spec.key, row.values)
                if key is None or (as_text(key) in self._rows and not spec.many):
                    reason = "the key of the join is missing" if key is None else f"the key {key!r} occurs twice"
                    told = f"{reason}; fix the record{'' if key is None else ', or set many: true'}"
                    self.unreadable.add(row.file, told, line=row.line, pointer=row.base)
                else:
                    self._rows.setdefault(as_text(key), []).append(row)

    def partners(self, values: Mapping[str, Any]) -> tuple[MappedRow, ...]:
        """Return the rows that belong to another, in their order."""
        key = look_up(self.spec.on or self.spec.key, values)
        return () if key is None else tuple(self._rows.get(as_text(key), ()))


def without_key(values: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Return one of several joined rows as an element of their list: without the key, and what is about its file."""
    return {name: value for name, value in values.items() if name not in ABOUT_FILE and name != key}


def with_partners(row: MappedRow, joins: Sequence[Joined], json_columns: Sequence[str]) -> tuple[MappedRow, list[str]]:
    """Join its partners to a row and parse its columns of JSON text.

    Returns:
        The row, and the names of the required joins in which it has no partner.

    Raises:
        PathSyntaxError: when the key of a join does not fit the row.
    """
    values, found, lacking = dict(row.values), {}, []
    for joined in joins:
        spec, partners = joined.spec, joined.partners(values)
        if partners:
            found[spec.name] = partners
        elif spec.required:
            lacking.append(spec.name)
        if spec.many:
            values[spec.name] = [without_key(each.values, spec.key.path) for each in partners]
        else:
            values[spec.name] = partners[0].values if partners else {}
    lists = frozenset(joined.spec.name for joined in joins if joined.spec.many)
    for column in json_columns:
        if column in values:
            values[column] = structured(values[column])
    return replace(row, values=values, joined=found, lists=lists), lacking


def value_files(folder: Path, name: str) -> list[str]:
    """Return the files that a value comes from: one, or all that a pattern with ``*`` names, sorted.

    Raises:
        SourceError: when a pattern names no file.
    """
    if "*" not in name:
        return [name]
    found = sorted(each for each in glob.glob(name, root_dir=folder, recursive=True) if (folder / each).is_file())
    if not found:
        raise SourceError(f"{name!r} names no file in {folder}")
    return found


def read_value_file(folder: Path, name: str) -> Any:
    """Read what holds one value for all tasks.

    JSON and YAML are parsed, tables (CSV, TSV, JSON Lines, Parquet) are lists of rows, anything else is a text. A
    pattern with ``*`` gives an object with the value of each file by the file's name without suffix.

    Raises:
        SourceError: when it cannot be read.
    """
    import yaml

    if "*" in name:
        return {Path(each).name.split(".")[0]: read_value_file(folder, each) for each in value_files(folder, name)}
    path = folder / name
    try:
        if row_format(path) and path.suffix != ".json":
            unreadable = Quarantine()
            rows = [row.values for row in read_rows(path, name, unreadable)]
            if unreadable.items:
                raise ValueError(unreadable.items[0].reason)
            return rows
        if path.suffix == ".json":
            return load_document(path)
        if path.suffix in (".yaml", ".yml"):
            value = read_yaml(path)
            require_plain(value)
            return value
        return read_text(path)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SourceError(f"{path}: cannot read the file that the mapping names: {error}") from error
