"""The two parts of a suite as Parquet: one row per instance, its whole record next to columns to select by."""

from collections.abc import Iterable, Iterator, Set
from itertools import islice
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.suite.layout import Layout, Part, Whole
from agenthard.audit.sources.formats.suite.malformed_suite import MalformedInstanceError

_ROW_GROUP = 64


def write(layout: Layout[Any, Whole], public: Path, private: Path, instances: Iterable[Whole]) -> int:
    """Writes both parts, a few instances at a time.

    Args:
        layout: The layout of the benchmark's suites.
        public: File of the public part.
        private: File of the private part.
        instances: The instances.

    Returns:
        How many there were.

    Raises:
        OSError: A file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = [_schema(part) for part in layout.parts]
    count = 0
    rest = iter(instances)
    with pq.ParquetWriter(public, schemas[0]) as shown, pq.ParquetWriter(private, schemas[1]) as hidden:
        for group in iter(lambda: list(islice(rest, _ROW_GROUP)), []):
            for part, schema, writer in zip(layout.parts, schemas, (shown, hidden), strict=True):
                rows = [{**part.row(each), "record": part.line(each).decode()} for each in group]
                writer.write_table(pa.Table.from_pylist(rows, schema))
            count += len(group)
    return count


def _schema(part: Part[Any]) -> Any:
    import pyarrow as pa

    types = {"text": pa.string(), "number": pa.int64()}
    return pa.schema([*((name, types[kind]) for name, kind in part.columns.items()), ("record", pa.string())])


def records(path: Path) -> Iterator[bytes]:
    """Reads the records of one part, a few at a time.

    Args:
        path: The file.

    Yields:
        What a line of JSON lines holds, its line break included.

    Raises:
        MalformedInstanceError: It is not such a file, or it is damaged.
        OSError: It cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if "record" not in file.schema_arrow.names or file.schema_arrow.field("record").type != pa.string():
                raise MalformedInstanceError(f"{path.name} has no text column 'record'")
            for batch in file.iter_batches(batch_size=_ROW_GROUP, columns=["record"]):
                yield from ((record or "").encode() + b"\n" for record in batch.column("record").to_pylist())
    except pa.ArrowException as error:
        raise MalformedInstanceError(f"{path.name} cannot be read to its end as Parquet: {error}") from error


def copy_rows(source: Path, target: Path, keep: Set[int]) -> int:
    """Writes some rows of one part, every value as it was.

    Args:
        source: The file.
        target: The file to write.
        keep: Positions of the rows to keep, from 0.

    Returns:
        How many rows the first file has.

    Raises:
        OSError: A file cannot be read or written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    start = 0
    with pq.ParquetFile(source) as file, pq.ParquetWriter(target, file.schema_arrow) as out:
        for batch in file.iter_batches(batch_size=_ROW_GROUP):
            rows = [row for row in range(batch.num_rows) if start + row in keep]
            if rows:
                out.write_table(pa.Table.from_batches([batch.take(rows)]))
            start += batch.num_rows
    return start
