"""The two parts of a suite as Parquet: one row per instance, its whole record next to columns to select by."""

from collections.abc import Iterable, Iterator, Set
from itertools import islice
from pathlib import Path
from typing import Any

from agenthard.ace.errors import MalformedInstanceError
from agenthard.ace.instance import Instance
from agenthard.ace.records import answer_line, puzzle_line

_ROW_GROUP = 64


def write(puzzles: Path, answers: Path, instances: Iterable[Instance]) -> int:
    """Writes both parts, a few instances at a time.

    Args:
        puzzles: File of the public part.
        answers: File of the private part.
        instances: The instances.

    Returns:
        How many there were.

    Raises:
        OSError: A file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, number = pa.string(), pa.int64()
    public = pa.schema([("id", text), ("domain", text), ("rows", number), ("cols", number), ("slots", number)])
    private = pa.schema([("id", text), ("decoys", number), ("seed", number), ("solutions", number)])
    public, private = public.append(pa.field("record", text)), private.append(pa.field("record", text))
    count = 0
    rest = iter(instances)
    with pq.ParquetWriter(puzzles, public) as shown, pq.ParquetWriter(answers, private) as hidden:
        for group in iter(lambda: list(islice(rest, _ROW_GROUP)), []):
            shown.write_table(pa.Table.from_pylist([_public_row(each) for each in group], public))
            hidden.write_table(pa.Table.from_pylist([_private_row(each) for each in group], private))
            count += len(group)
    return count


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


def _public_row(instance: Instance) -> dict[str, Any]:
    puzzle = instance.puzzle
    return {
        "id": puzzle.id,
        "domain": puzzle.domain,
        "rows": puzzle.rows,
        "cols": puzzle.cols,
        "slots": len(puzzle.slots),
        "record": puzzle_line(puzzle).decode(),
    }


def _private_row(instance: Instance) -> dict[str, Any]:
    return {
        "id": instance.id,
        "decoys": instance.answer.decoy_budget,
        "seed": instance.provenance.seed if instance.provenance else None,
        "solutions": instance.certificate.solutions if instance.certificate else None,
        "record": answer_line(instance).decode(),
    }
