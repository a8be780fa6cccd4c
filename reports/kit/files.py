"""JSON that every reader can decode, and CSV tables. Equal input gives equal bytes."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from agenthard.audit.statistics.result import Estimate, Result, Undefined
from agenthard.taxonomy.files import replacing, write_text
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.record import Record

Row = dict[str, Any]
_PIECES = 10_000
"""Pieces of JSON that are written at a time."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet runs as a formula."""


def utf8(text: str) -> str:
    r"""Make text encodable: a lone surrogate, which a benchmark's JSON can hold, becomes its escape.

    >>> utf8("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_text(value: Any, **options: Any) -> str:
    """Serialise plain data as strict JSON in UTF-8; NaN and infinities, which JSON does not have, become null.

    Args:
        value: dicts, lists, tuples and scalars.
        options: passed to ``json.dumps``.

    >>> json_text({"a": float("nan"), "b": (1, "é")})
    '{"a": null, "b": [1, "é"]}'
    """
    return utf8(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, **options))


class Streamed(list[Any]):
    """A JSON array whose items are made one by one while `write_json_text` writes them."""

    def __init__(self, items: Callable[[], Iterator[Any]]) -> None:
        """Take a function that returns the items from the first one on."""
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self._items()

    def __bool__(self) -> bool:
        return next(self._items(), self) is not self


def write_json_text(path: Path, value: Any, **options: Any) -> None:
    """Write what `json_text` returns and a line break, piece by piece; a list may be `Streamed`.

    Args:
        path: the file to write.
        value: dicts, lists, tuples and scalars.
        options: passed to ``json.JSONEncoder``.
    """
    pieces = json.JSONEncoder(ensure_ascii=False, allow_nan=False, **options).iterencode(_finite(value))
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        while batch := "".join(islice(pieces, _PIECES)):
            stream.write(utf8(batch))
        stream.write("\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Streamed):
        return Streamed(lambda: map(_finite, value))
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def flat(name: str, result: Result | None) -> Row:
    """Spread a result over columns: value, interval, level, n of N, seed, and the reason where it is undefined."""
    values: tuple[float | None, ...] = (None,) * 7
    if isinstance(result, Estimate):
        values = (result.value, result.low, result.high, result.level, result.n, result.of, result.seed)
    keys = (name, f"{name}_low", f"{name}_high", f"{name}_level", f"{name}_n", f"{name}_of", f"{name}_seed")
    reason = result.reason if isinstance(result, Undefined) else None
    return dict(zip(keys, values, strict=True)) | {f"{name}_undefined": reason}


def pick(record: Record, *names: str) -> Row:
    """Take some fields of a record as columns."""
    return {name: getattr(record, name) for name in names}


def write_csv_tables(tables: Mapping[str, list[Row]], folder: Path) -> list[Path]:
    """Write tables as CSV in UTF-8; see :func:`csv_text`.

    Args:
        tables: name → rows with equal keys.
        folder: where the files go; made when absent.

    Returns:
        The files written, in order of name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, rows in sorted(tables.items()):
        path = folder / f"{name}.csv"
        write_text(path, csv_text(list(rows[0]), rows))
        paths.append(path)
    return paths


def csv_text(columns: Sequence[str], rows: Iterable[Row]) -> str:
    r"""Serialise rows as CSV, header first; a text that a spreadsheet would run as a formula gets an apostrophe.

    Args:
        columns: names of the columns.
        rows: their values, each row in the order of the columns.

    >>> csv_text(["a"], [{"a": "=1+1"}])
    "a\n'=1+1\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return utf8(text.getvalue())


def write_data(record: Record, summary: str, tables: Mapping[str, list[Row]], twin: Path) -> list[Path]:
    """Write the files next to the page of a report: its JSON twin, ``summary.md`` and ``tables/*.csv``.

    Args:
        record: the analysis.
        summary: the Markdown summary.
        tables: name → rows with equal keys.
        twin: file of the JSON twin; the other files go into the same folder, which is made when absent.

    Returns:
        The files written.
    """
    folder = twin.parent
    folder.mkdir(parents=True, exist_ok=True)
    write_text(twin, json_text(record.model_dump(mode="python"), indent=1) + "\n")
    markdown = folder / "summary.md"
    write_text(markdown, printable(summary))
    return [twin, markdown, *write_csv_tables(tables, folder / "tables")]


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
