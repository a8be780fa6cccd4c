"""Rows of a SQLite file: of a table, a view, or a query. Nothing but reading the file is allowed."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.files import MAX_RECORD_BYTES
from agenthard.audit.sources.formats.json_text import require_plain
from agenthard.audit.sources.formats.rows import Row
from agenthard.taxonomy.files import open_regular

SUFFIXES = (".sqlite", ".sqlite3", ".db")
KEPT = "kept_rows"
"""Table of a split that holds the kept rows of a query."""
_BEGIN = b"SQLite format 3\x00"
_STEPS, _MOST_STEPS = 1_000_000, 5_000
"""A query may take so many times a million steps of SQLite's machine, which is a minute or so."""
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def is_sqlite(path: Path) -> bool:
    """Tell whether a file is a SQLite database, by its suffix and its first bytes."""
    if path.suffix not in SUFFIXES or not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_BEGIN)) == _BEGIN


def is_query(rows: str) -> bool:
    """Tell a query from the name of a table.

    >>> is_query("select * from tasks"), is_query("selected"), is_query("")
    (True, False, False)
    """
    words = rows.split()
    return len(words) > 1 and words[0].upper() in ("SELECT", "WITH")


def table_names(path: Path) -> list[str]:
    """Return the names of tables and views, sorted.

    Raises:
        SourceError: the file cannot be read.
    """
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    try:
        with closing(_open(path)) as database:
            return [name for (name,) in database.execute(query)]
    except sqlite3.Error as error:
        raise SourceError(f"{path}: cannot read the SQLite file: {error}") from error


def the_rows(path: Path, rows: str | None) -> str:
    """Return the table or query to read; without one, the only table.

    Raises:
        SourceError: the file has several tables, or not this one.
    """
    names = table_names(path)
    if rows is not None and (is_query(rows) or rows in names):
        return rows
    if rows is None and len(names) == 1:
        return names[0]
    listed = ", ".join(names[:20]) or "none"
    wrong = "say which one holds the rows" if rows is None else f"no table has the name {rows!r}"
    raise SourceError(f"{path}: {wrong}: set `rows` to a table or a SELECT; the tables are: {listed}")


def read_sqlite(path: Path, name: str, rows: str, quarantine: Quarantine, kind: str = "task") -> Iterator[Row]:
    """Stream the rows of a table or a query, in the order in which SQLite returns them.

    Args:
        path: the file.
        name: its name in messages.
        rows: a table, a view, or a SELECT.
        quarantine: collects what is unreadable: a row with text that is not UTF-8, or the rest after an error.
        kind: what the rows hold: task or run.
    """
    number = 0
    try:
        with closing(_open(path)) as database:
            cursor = database.execute(rows if is_query(rows) else f"SELECT * FROM {_quoted(rows)}")
            columns = [column[0] for column in cursor.description]
            if len(set(columns)) < len(columns):
                quarantine.add(name, "the query returns one column name twice; name them with AS", kind=kind)
                return
            for values in cursor:
                number += 1
                try:
                    found = {column: _as_json(value) for column, value in zip(columns, values, strict=True)}
                    require_plain(found)
                except ValueError as error:
                    reason = f"the row cannot be used: {error}"
                    quarantine.add(name, reason, pointer=f"/{number - 1}", kind=kind)
                    continue
                yield Row(name, number, found, element=True)
    except sqlite3.Error as error:
        reason = f"cannot read {rows!r}: {error}; {number} rows before were read"
        quarantine.add(name, reason, pointer=f"/{number}", kind=kind)


def write_sqlite(path: Path, keep: Iterable[tuple[str, int]], target: Path) -> Path:
    """Write a SQLite file with the kept rows: each table under its name, those of a query as ``kept_rows``.

    Args:
        path: the file that they are from.
        keep: table or query, and number of the row.
        target: the file to write; it is replaced.
    """
    numbers: dict[str, set[int]] = {}
    for rows, number in keep:
        numbers.setdefault(rows, set()).add(number)
    target.unlink(missing_ok=True)
    with closing(_open(path)) as source, closing(sqlite3.connect(target)) as written:
        for rows, kept in sorted(numbers.items()):
            table = KEPT if is_query(rows) else rows
            cursor = source.execute(rows if is_query(rows) else f"SELECT * FROM {_quoted(rows)}")
            columns = ", ".join(_quoted(column[0]) for column in cursor.description)
            places = ", ".join("?" for _ in cursor.description)
            written.execute(f"CREATE TABLE {_quoted(table)} ({columns})")
            taken = (values for number, values in enumerate(cursor, start=1) if number in kept)
            written.executemany(f"INSERT INTO {_quoted(table)} VALUES ({places})", taken)
        written.commit()
    return target


def _open(path: Path) -> sqlite3.Connection:
    """Open a file of someone else: nothing but reading this file is allowed, and no query runs for ever.

    Raises:
        sqlite3.Error: it cannot be opened, or has changes in a log next to it.
    """
    open_regular(path).close()
    log = path.with_name(f"{path.name}-wal")
    if log.is_file() and log.stat().st_size:
        raise sqlite3.OperationalError(f"changes are still in {log.name}; run `PRAGMA wal_checkpoint(TRUNCATE)` first")
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    database.execute("PRAGMA trusted_schema = OFF")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_RECORD_BYTES)
    steps = iter(range(_MOST_STEPS))
    database.set_progress_handler(lambda: int(next(steps, None) is None), _STEPS)
    database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
    return database


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError("a text is not UTF-8; re-encode it")
    return value
