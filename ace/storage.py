"""Our own format: a folder in which the public part of a suite is separate from the private one.

``puzzles`` holds what an agent may see, ``answers`` the solutions with their certificates and provenance, each one
instance after the other in the same order, as JSON lines or as Parquet; ``suite.json`` says how the suite was made. A
suite is written as it is generated, and an interrupted one in JSON lines can be read as far as it goes and taken up
again.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from agenthard.ace import parquet
from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.instance import Instance, Puzzle
from agenthard.ace.records import answer_line, puzzle_line, read_instance, read_puzzle
from agenthard.ace.suite_files import HEAD, PARTS, Kind, parts, read_head, records, write_head, write_part
from agenthard.audit.sources.formats.id_filter import may_have_id

__all__ = [
    "HEAD",
    "Kind",
    "parts",
    "read",
    "read_puzzles",
    "resumable",
    "scan",
    "scan_puzzles",
    "scan_some",
    "write",
    "write_part",
]

_T = TypeVar("_T")


def write(
    folder: Path,
    instances: Iterable[Instance],
    parameters: Mapping[str, Any] | None = None,
    kind: Kind = "jsonl",
    resume: bool = False,
    count: int | None = None,
) -> int:
    """Writes a suite, one instance at a time.

    Args:
        folder: Where to; it is made if need be.
        instances: The instances.
        parameters: What the suite was asked to be, as JSON data; kept in ``suite.json``.
        kind: JSON lines or Parquet.
        resume: Append to the instances that are there (see ``resumable``) instead of starting again.
        count: How many instances the whole suite has, those that are there included; kept in ``suite.json``, so that
            readers can tell when a suite was interrupted. None when it is not known beforehand.

    Returns:
        How many instances were written by this call.

    Raises:
        ValueError: A Parquet suite cannot be resumed.
        OSError: The folder cannot be written.
    """
    if resume and kind == "parquet":
        raise ValueError("a Parquet suite cannot be resumed; write JSON lines, or start again")
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "parquet":
        written = parquet.write(*parts(folder, kind), instances)
        write_head(folder, kind, count, parameters)
        return written
    write_head(folder, kind, count, parameters)
    return _write_lines(*parts(folder, kind), instances, "ab" if resume else "wb")


def read(folder: Path) -> Iterator[Instance]:
    """Reads a suite, one instance at a time.

    Args:
        folder: The folder.

    Yields:
        The instances in order.

    Raises:
        MalformedInstanceError: no suite, or a record is broken, or writing was interrupted; text says which
            and how.
    """
    yield from _strictly(folder, scan(folder))


def scan(folder: Path) -> Iterator[Instance | Unreadable]:
    """Reads a suite like ``read``, and continues after a broken record.

    Args:
        folder: The folder.

    Yields:
        The instances in order, in the place of a broken one what is wrong with it, and at the end of an interrupted
        suite how far it got.

    Raises:
        MalformedInstanceError: The folder holds no suite.
    """
    return (each for _, each in scan_some(folder, None))


def scan_some(folder: Path, ids: Set[str] | None) -> Iterator[tuple[int, Instance | Unreadable]]:
    """Reads some instances of a suite; the records of the others are not parsed.

    Args:
        folder: The folder.
        ids: Ids of the instances; None = all of them.

    Yields:
        As ``scan``, each with its position.

    Raises:
        MalformedInstanceError: The folder holds no suite.
    """
    count, whole = read_head(folder)["instances"], 0
    wanted = None if ids is None else may_have_id(ids)
    for number, lines in enumerate(zip_longest(*(records(folder, part) for part in PARTS))):
        if wanted and not wanted(lines[0] or b""):
            continue
        each = _instance(number, *lines)
        torn = not all(line and line.endswith(b"\n") for line in lines)
        if isinstance(each, Unreadable) and torn and count is not None and number < count:
            break
        yield number, each
        whole = number + 1
    if count is not None and whole < count:
        reason = (
            f"the suite was interrupted here, after {whole} of {count} instances; "
            "the same `agenthard ace generate` command continues from there"
        )
        yield whole, Unreadable(whole, None, reason, "puzzles")


def read_puzzles(folder: Path) -> Iterator[Puzzle]:
    """Reads the public part of a suite; the private part need not be there.

    Args:
        folder: The folder.

    Yields:
        The puzzles in order.

    Raises:
        MalformedInstanceError: The folder holds no suite, or a record is broken; the message says which and how.
    """
    yield from _strictly(folder, scan_puzzles(folder))


def scan_puzzles(folder: Path) -> Iterator[Puzzle | Unreadable]:
    """Reads the public part like ``read_puzzles``, and continues after a broken record.

    Args:
        folder: The folder.

    Yields:
        The puzzles in order, and in the place of a broken one what is wrong with it.

    Raises:
        MalformedInstanceError: The folder holds no suite.
    """
    for number, line in enumerate(records(folder, "puzzles")):
        try:
            yield read_puzzle(line)
        except MalformedInstanceError as error:
            yield Unreadable(number, None, str(error), "puzzles")


def resumable(folder: Path, parameters: Mapping[str, Any]) -> int:
    """Returns how many instances of a suite are there already, and cuts off what an interruption left half written.

    Args:
        folder: The folder; it need not exist.
        parameters: What the suite is asked to be, as JSON data.

    Returns:
        The number of whole instances: from where to generate on.

    Raises:
        ValueError: The folder holds a suite with other parameters, a part of a suite, or one in Parquet.
        MalformedInstanceError: The folder holds something else.
    """
    if not (folder / HEAD).exists():
        return 0
    head = read_head(folder)
    if head["kind"] != "jsonl":
        raise ValueError(f"{folder} holds a Parquet suite, which cannot be resumed; start again in another folder")
    if "split" in head:
        raise ValueError(f"{folder} holds a part of a suite, which cannot be resumed; start again in another folder")
    if head.get("parameters") != json.loads(json.dumps(parameters)):
        raise ValueError(f"{folder} holds a suite with other parameters; start again in another folder")
    paths = parts(folder, "jsonl")
    if not all(path.exists() for path in paths):
        return 0
    whole = min(_whole_lines(path) for path in paths)
    for path in paths:
        _truncate(path, whole)
    return whole


def _instance(number: int, public: bytes | None, private: bytes | None) -> Instance | Unreadable:
    if public is None or private is None:
        there = "answer" if public is None else "puzzle"
        return Unreadable(number, None, f"only its {there} is there", "puzzles" if public is None else "answers")
    try:
        puzzle = read_puzzle(public)
    except MalformedInstanceError as error:
        return Unreadable(number, None, str(error), "puzzles")
    try:
        return read_instance(puzzle, private)
    except MalformedInstanceError as error:
        return Unreadable(number, puzzle.id, str(error), "answers")


def _strictly(folder: Path, found: Iterable[_T | Unreadable]) -> Iterator[_T]:
    for each in found:
        if isinstance(each, Unreadable):
            raise MalformedInstanceError(f"{folder.name}, instance {each.index}: {each.reason}")
        yield each


def _write_lines(public: Path, private: Path, instances: Iterable[Instance], mode: str) -> int:
    count = 0
    with public.open(mode) as puzzles, private.open(mode) as answers:
        for instance in instances:
            puzzles.write(puzzle_line(instance.puzzle) + b"\n")
            answers.write(answer_line(instance) + b"\n")
            puzzles.flush()
            answers.flush()
            count += 1
    return count


def _whole_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(line.endswith(b"\n") for line in lines)


def _truncate(path: Path, lines: int) -> None:
    with path.open("r+b") as file:
        for _ in range(lines):
            file.readline()
        file.truncate(file.tell())
        os.fsync(file.fileno())
