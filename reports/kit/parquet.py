"""Parquet tables: columns with their meaning, and files that are replaced as a whole. Equal input gives equal bytes."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agenthard.audit.evidence import canonical_json
from agenthard.reports.kit.arrow import array
from agenthard.reports.kit.files import utf8
from agenthard.taxonomy.files import replacing
from agenthard.taxonomy.record import Record, field_docs

TEXT = pa.string()


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    """Name."""
    type: pa.DataType
    """Arrow type."""
    doc: str
    """What it means."""
    value: Callable[[Any], Any]
    """Takes a row's record to the cell."""


@dataclass(frozen=True)
class Table:
    """One Parquet file."""

    name: str
    """Name of the file, without its ending."""
    doc: str
    """What a row is."""
    columns: tuple[Column, ...]
    """Columns in order."""
    group: int = 10_000
    """Rows per row group."""

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema; every field carries its meaning as metadata."""
        return pa.schema([pa.field(c.name, c.type, metadata={"description": c.doc}) for c in self.columns])

    def batch(self, records: Iterable[Any]) -> pa.RecordBatch:
        """Turn records into a batch of rows."""
        rows = list(records)
        arrays = [array([column.value(row) for row in rows], column.type) for column in self.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def write_parquet(
    path: Path,
    schema: pa.Schema,
    rows: Iterable[Any],
    *,
    group: int = 20_000,
    batch: Callable[[list[Any]], pa.RecordBatch] | None = None,
) -> None:
    """Write rows as a Parquet file, compressed with zstd, and replace the file in one step.

    Args:
        path: the file to write.
        schema: its schema.
        rows: mappings by column, or whatever ``batch`` takes; streamed, one row group is held at a time.
        group: rows per row group.
        batch: turns rows into a batch of the schema; None for mappings.
    """
    for _ in write_by_group(path, schema, rows, group=group, batch=batch):
        pass


def write_by_group(
    path: Path,
    schema: pa.Schema,
    rows: Iterable[Any],
    *,
    group: int,
    batch: Callable[[list[Any]], pa.RecordBatch] | None = None,
) -> Generator[None, None, None]:
    """Write a Parquet file as `write_parquet` does, one row group at a time.

    Yields:
        Nothing, after each row group. The file is there when the iterator ends; one that is closed earlier leaves none.
    """
    rest = iter(rows)
    with replacing(path) as partial, pq.ParquetWriter(partial, schema, compression="zstd") as writer:
        while chunk := list(islice(rest, group)):
            writer.write_batch(pa.RecordBatch.from_pylist(chunk, schema) if batch is None else batch(chunk))
            yield


def columns_of(record: type[Record], /, **types: pa.DataType) -> list[Column]:
    """Take fields of a record as columns; a column is documented by its field."""
    docs = field_docs(record)
    return [Column(name, kind, " ".join(docs.get(name, "").split()), attrgetter(name)) for name, kind in types.items()]


def json_columns(model: type[Record], *names: str) -> list[Column]:
    """Take fields of a record as columns of JSON."""

    def cell(name: str) -> Callable[[Any], str]:
        return lambda record: as_json(getattr(record, name))

    return [Column(n, TEXT, f"{field_docs(model).get(n)} As JSON.", cell(n)) for n in names]


def as_json(value: Any) -> str:
    """Serialise to canonical JSON that any reader can decode: a lone surrogate is written as its escape."""
    return utf8(canonical_json(value))
