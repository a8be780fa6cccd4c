"""Reading runs of any kind for a benchmark: its own run files, native JSON Lines, or a score table.

A score table holds runs without conversations, as CSV or Parquet. Two layouts are read: *wide*, one row per model with
a column per task (the first column names the model), and *long*, one row per score with the columns ``model``,
``task_id`` and ``score`` (and optionally ``trial``). An empty cell or NaN is a missing score and yields no run.
"""

import csv
import io
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, Source, SourceError
from agenthard.audit.sources.formats.files import open_binary
from agenthard.audit.sources.formats.native_files import read_native_runs
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.trajectory import Trajectory


def read_runs(source: Source, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
    """Stream the runs at ``path``.

    If the user mapped run files (``maps_runs``), the source reads everything. Otherwise a CSV or Parquet file is a
    score table, a JSON Lines file whose first record has the fields of a Trajectory is native, and the source reads
    the rest.

    Raises:
        SourceError: when there is nothing at the path, or nothing the source can read.
    """
    if not path.exists():
        raise SourceError(f"{path}: no runs at this path")
    if source.maps_runs:
        return source.runs(path, quarantine)
    if path.is_file() and is_matrix(path):
        return read_matrix(path, quarantine)
    if path.is_file() and _is_native(path):
        return read_native_runs(path, quarantine)
    return source.runs(path, quarantine)


def _is_native(path: Path) -> bool:
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        return False
    try:
        with open_binary(path) as stream:
            first = json.loads(stream.readline(1 << 24))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error):
        return False
    return isinstance(first, dict) and {"task_id", "model", "passed"} <= set(first)


SUFFIXES = (".csv", ".csv.gz", ".parquet")
_MISSING = {"", "na", "nan", "null", "none"}


def is_matrix(path: Path) -> bool:
    """Tell by its name whether a file is a score table."""
    return path.name.endswith(SUFFIXES)


def read_matrix(path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
    """Stream the scores of a table as runs without messages.

    A score must lie in [0, 1]; 1 is a pass and anything less is a fail. Cells that hold something else are
    quarantined one by one.

    Raises:
        SourceError: when the table has no header of either layout.
    """
    rows = _rows(path)
    header = [str(name) for name in next(rows, [])]
    if {"model", "task_id", "score"} <= set(header):
        yield from _long(header, rows, path.name, quarantine)
    elif len(header) >= 2 and len(set(header)) == len(header):
        yield from _wide(header, rows, path.name, quarantine)
    else:
        twice = sorted({name for name in header if header.count(name) > 1})
        problem = (
            f"these columns occur twice: {', '.join(twice[:5])}" if twice else "the header has fewer than two columns"
        )
        raise SourceError(
            f"{path.name}: not a score table: {problem}. Give one row per model with a column per task, "
            "or the columns model, task_id, score"
        )


def _rows(path: Path) -> Iterator[list[Any]]:
    if path.name.endswith(".parquet"):
        import pyarrow.parquet

        table = pyarrow.parquet.ParquetFile(path)
        yield list(table.schema_arrow.names)
        for batch in table.iter_batches():
            yield from (list(row.values()) for row in batch.to_pylist())
        return
    opened = open_binary(path)
    csv.field_size_limit(1 << 24)
    with opened as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as text:
        try:
            yield from csv.reader(text)
        except (UnicodeDecodeError, EOFError, csv.Error, OSError) as error:
            raise SourceError(f"{path.name}: cannot read the table to its end: {error}") from error


def _long(header: list[str], rows: Iterator[list[Any]], name: str, quarantine: Quarantine) -> Iterator[Trajectory]:
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            reason = f"the row has {len(row)} cells, the header {len(header)}"
            quarantine.add(name, reason, line=line, kind="run")
            continue
        cells = dict(zip(header, row, strict=True))
        run = _run(str(cells["model"]), str(cells["task_id"]), cells["score"], name, line, quarantine)
        if run is not None:
            trial = str(cells.get("trial") or 0)
            yield run.model_copy(update={"trial": int(trial) if trial.isdigit() else 0, "id": f"{name}:{line}"})


def _wide(header: list[str], rows: Iterator[list[Any]], name: str, quarantine: Quarantine) -> Iterator[Trajectory]:
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            reason = f"the row has {len(row)} cells, the header {len(header)}"
            quarantine.add(name, reason, line=line, kind="run")
            continue
        for task_id, cell in zip(header[1:], row[1:], strict=True):
            run = _run(str(row[0]), task_id, cell, name, line, quarantine)
            if run is not None:
                yield run


def _run(model: str, task_id: str, cell: Any, name: str, line: int, quarantine: Quarantine) -> Trajectory | None:
    if cell is None or str(cell).strip().lower() in _MISSING:
        return None
    try:
        score = float(cell)
    except (TypeError, ValueError):
        score = math.nan
    if not 0 <= score <= 1:
        reason = f"score {str(cell)[:40]!r} is not a number between 0 and 1"
        quarantine.add(name, reason, line=line, pointer=f"/{task_id}", kind="run", task_id=task_id)
        return None
    return Trajectory(
        id=f"{name}:{line}:{task_id}",
        task_id=task_id,
        model=model,
        score=score,
        passed=score == 1,
        origin=Origin(file=name, line=line, pointer=f"/{task_id}"),
    )
