"""Writes some of the rows of a data set, in the format of each file."""

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.columnar import ARROW, PARQUET, is_arrow_file
from agenthard.audit.sources.formats.rows import JSON, SEPARATED, SeparatedLines, is_array, read_rows, row_format


def write_rows(folder: Path, keep: Iterable[tuple[str, int]], out: Path) -> list[Path]:
    """Write the kept rows, each file under its own name; a file without a kept row is not written.

    Rows of files that have lines are byte-identical, and so is the header of a CSV file. Rows of Parquet and Arrow
    keep every value, with the schema and its metadata.

    Args:
        folder: what the names of files are relative to.
        keep: file and number (:class:`agenthard.audit.sources.formats.rows.Row`) of each row.
        out: folder to write into.

    Returns:
        The files written.
    """
    numbers: dict[str, set[int]] = {}
    for file, number in keep:
        numbers.setdefault(file, set()).add(number)
    written = []
    for file, kept in sorted(numbers.items()):
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        form = row_format(folder / file)
        if form in (PARQUET, ARROW):
            _write_table(folder / file, form, kept, target)
        else:
            _write_bytes(target, _text(folder / file, form, kept))
        written.append(target)
    return written


def _text(path: Path, form: str | None, kept: set[int]) -> bytes:
    rows = [row.raw for row in read_rows(path, path.name, Quarantine()) if row.number in kept]
    if form == JSON and is_array(path):
        return b"[\n  " + b",\n  ".join(rows) + b"\n]\n"
    if form == SEPARATED:
        rows.insert(0, next(raw for _, _, raw in SeparatedLines(path).rows()))
    return b"".join(row + b"\n" for row in rows)


def _write_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def _write_table(path: Path, form: str, kept: set[int], target: Path) -> None:
    import pyarrow.ipc
    import pyarrow.parquet

    if form == PARQUET:
        table = pyarrow.parquet.read_table(path, partitioning=None)
        pyarrow.parquet.write_table(_taken(table, kept), target)
        return
    with path.open("rb") as stream:
        stored = is_arrow_file(path)
        table = (pyarrow.ipc.open_file if stored else pyarrow.ipc.open_stream)(stream).read_all()
    with target.open("wb") as stream:
        make = pyarrow.ipc.new_file if stored else pyarrow.ipc.new_stream
        with make(stream, table.schema) as writer:
            writer.write_table(_taken(table, kept))


def _taken(table: Any, kept: set[int]) -> Any:
    return table.take([number - 1 for number in sorted(kept)])
