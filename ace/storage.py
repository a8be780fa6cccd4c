"""Our own format: a folder in which the public part of a suite stands apart from the private one.

``puzzles`` holds what an agent may see, ``answers`` the solutions with their certificates and provenance, each one
instance after the other in the same order, as JSON lines or as Parquet; ``suite.json`` says how the suite was made. A
suite is written as it is generated, and an interrupted one in JSON lines can be taken up again.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

from ace.instance import Instance, Puzzle
from ace.records import answer_line, puzzle_line, read_instance, read_puzzle
from ace.unreadable import Malformed, Unreadable

FORMAT = "agenthard-ace"
SCHEMA_VERSION = 1
"""Version of the layout; raised when a reader of the old one would misread the new one."""

Kind = Literal["jsonl", "parquet"]
"""How the two parts are stored."""

_ROW_GROUP = 64


def write(
    folder: Path,
    instances: Iterable[Instance],
    parameters: Mapping[str, Any] | None = None,
    kind: Kind = "jsonl",
    resume: bool = False,
) -> int:
    """Writes a suite, one instance at a time.

    Args:
        folder: Where to; it is made if need be.
        instances: The instances.
        parameters: What the suite was asked to be, as JSON data; kept in ``suite.json``.
        kind: JSON lines or Parquet.
        resume: Append to the instances that are there (see ``resumable``) instead of starting anew.

    Returns:
        How many instances were written by this call.

    Raises:
        ValueError: A Parquet suite cannot be resumed.
        OSError: The folder cannot be written.
    """
    if resume and kind == "parquet":
        raise ValueError("a Parquet suite cannot be taken up again; write JSON lines, or start anew")
    folder.mkdir(parents=True, exist_ok=True)
    head = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "kind": kind, "parameters": parameters}
    (folder / "suite.json").write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
    return _write_parquet(folder, instances) if kind == "parquet" else _write_lines(folder, instances, resume)


def read(folder: Path) -> Iterator[Instance]:
    """Reads a suite, one instance at a time.

    Args:
        folder: The folder.

    Yields:
        The instances in order.

    Raises:
        Malformed: The folder holds no suite, or a record is broken; the message says which and how.
    """
    for each in scan(folder):
        if isinstance(each, Unreadable):
            raise Malformed(f"{folder.name}, instance {each.index}: {each.reason}")
        yield each


def scan(folder: Path) -> Iterator[Instance | Unreadable]:
    """Reads a suite like ``read``, and goes on after a broken record.

    Args:
        folder: The folder.

    Yields:
        The instances in order, and in the place of a broken one what is wrong with it.

    Raises:
        Malformed: The folder holds no suite.
    """
    parts = (_records(folder, "puzzles"), _records(folder, "answers"))
    for number, (public, private) in enumerate(zip_longest(*parts)):
        id = None
        try:
            if public is None or private is None:
                raise Malformed(f"only its {'answer' if public is None else 'puzzle'} is there")
            puzzle = read_puzzle(public)
            id = puzzle.id
            yield read_instance(puzzle, private)
        except Malformed as error:
            yield Unreadable(number, id, str(error))


def read_puzzles(folder: Path) -> Iterator[Puzzle]:
    """Reads the public part of a suite; the private part need not be there.

    Args:
        folder: The folder.

    Yields:
        The puzzles in order.

    Raises:
        Malformed: The folder holds no suite, or a record is broken; the message says which and how.
    """
    for number, public in enumerate(_records(folder, "puzzles")):
        try:
            yield read_puzzle(public)
        except Malformed as error:
            raise Malformed(f"{folder.name}, instance {number}: {error}") from error


def resumable(folder: Path, parameters: Mapping[str, Any]) -> int:
    """Returns how many instances of a suite are there already, and cuts off what an interruption left half written.

    Args:
        folder: The folder; it need not exist.
        parameters: What the suite is asked to be, as JSON data.

    Returns:
        The number of whole instances: from where to generate on.

    Raises:
        ValueError: The folder holds a suite with other parameters, or one in Parquet.
        Malformed: The folder holds something else.
    """
    if not (folder / "suite.json").exists():
        return 0
    head = _head(folder)
    if head["kind"] != "jsonl":
        raise ValueError(f"{folder.name} holds a Parquet suite, which cannot be taken up again; start anew elsewhere")
    if head["parameters"] != json.loads(json.dumps(parameters)):
        raise ValueError(f"{folder.name} holds a suite with other parameters; start anew elsewhere")
    paths = [folder / f"{part}.jsonl" for part in ("puzzles", "answers")]
    if not all(path.exists() for path in paths):
        return 0
    whole = min(_whole_lines(path) for path in paths)
    for path in paths:
        _truncate(path, whole)
    return whole


def _write_lines(folder: Path, instances: Iterable[Instance], resume: bool) -> int:
    count = 0
    mode = "ab" if resume else "wb"
    with (folder / "puzzles.jsonl").open(mode) as public, (folder / "answers.jsonl").open(mode) as private:
        for instance in instances:
            public.write(puzzle_line(instance.puzzle) + b"\n")
            private.write(answer_line(instance) + b"\n")
            public.flush()
            private.flush()
            count += 1
    return count


def _write_parquet(folder: Path, instances: Iterable[Instance]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, number = pa.string(), pa.int64()
    public = pa.schema([("id", text), ("domain", text), ("rows", number), ("cols", number), ("slots", number)])
    private = pa.schema([("id", text), ("decoys", number), ("seed", number), ("solutions", number)])
    public, private = public.append(pa.field("record", text)), private.append(pa.field("record", text))
    count = 0
    rest = iter(instances)
    with (
        pq.ParquetWriter(folder / "puzzles.parquet", public) as puzzles,
        pq.ParquetWriter(folder / "answers.parquet", private) as answers,
    ):
        for group in iter(lambda: list(islice(rest, _ROW_GROUP)), []):
            puzzles.write_table(pa.Table.from_pylist([_public_row(each) for each in group], public))
            answers.write_table(pa.Table.from_pylist([_private_row(each) for each in group], private))
            count += len(group)
    return count


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


def _head(folder: Path) -> dict[str, Any]:
    try:
        head = json.loads((folder / "suite.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Malformed(f"{folder.name} holds no suite: suite.json cannot be read ({error})") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT or head.get("kind") not in ("jsonl", "parquet"):
        raise Malformed(f"{folder.name} holds no suite of the format {FORMAT}")
    if head.get("schema_version") != SCHEMA_VERSION:
        raise Malformed(f"{folder.name} has schema version {head.get('schema_version')}, this reads {SCHEMA_VERSION}")
    return head


def _records(folder: Path, part: str) -> Iterator[bytes]:
    kind = _head(folder)["kind"]
    path = folder / f"{part}.{kind}"
    if not path.exists():
        raise Malformed(f"{folder.name} has no {path.name}")
    if kind == "jsonl":
        with path.open("rb") as lines:
            yield from lines
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROW_GROUP, columns=["record"]):
            yield from (record.encode() for record in batch.column("record").to_pylist())


def _whole_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(line.endswith(b"\n") for line in lines)


def _truncate(path: Path, lines: int) -> None:
    with path.open("r+b") as file:
        for _ in range(lines):
            file.readline()
        file.truncate(file.tell())
        os.fsync(file.fileno())
