"""Reads and writes the JSON layout of the paper's released files, byte for byte.

A file holds the instances of one domain, for every number of hidden slots and every decoy budget. Much of the layout
follows from the rest (counts, ranks, labels); the reader checks that it does, so that what was read can be written
back unchanged. An instance that does not fit is set aside with its reason, and the others are read.
"""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.instance import Instance
from agenthard.ace.reference_entry import as_count, as_text, decode, difference, encode

__all__ = [
    "Header",
    "MalformedInstanceError",
    "ReferenceFile",
    "Unreadable",
    "decode",
    "encode",
    "loads",
    "parse_entry",
    "parse_header",
    "read",
    "write",
]


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says about all of its instances."""

    domain: str
    """Name of the domain."""
    rows: int
    """Rows of every grid."""
    cols: int
    """Columns of every grid."""
    hidden_slots: tuple[int, ...]
    """Numbers of hidden slots asked for: the paper's H."""
    decoy_budgets: tuple[int, ...]
    """Decoy budgets asked for: the paper's B."""
    candidates: int
    """Candidates per slot as asked for: the paper's K; an instance may have more."""

    def filename(self, seed: int | None = None) -> str:
        """Returns the name the paper's code gives such a file.

        Args:
            seed: Seed to name, if any.

        Returns:
            The file name, without a folder.
        """
        hidden, budgets = ("-".join(map(str, numbers)) for numbers in (self.hidden_slots, self.decoy_budgets))
        end = "" if seed is None else f"_seed{seed}"
        return (
            f"{self.domain}_dataset_r{self.rows}_c{self.cols}_h{hidden}_cand{self.candidates}_budget{budgets}{end}.json"
        )


@dataclass(frozen=True, slots=True)
class ReferenceFile:
    """A file in the layout of the paper."""

    header: Header
    """What it says about all instances."""
    instances: tuple[Instance, ...]
    """The instances that could be read, in order."""
    unreadable: tuple[Unreadable, ...] = ()
    """The instances that could not."""


def read(path: Path) -> ReferenceFile:
    """Reads a file; its name may end in ``.gz``.

    Args:
        path: The file.

    Returns:
        Its header, its instances, and those set aside.

    Raises:
        MalformedInstanceError: The file is not JSON, or its header is wrong.
        OSError: It cannot be read.
    """
    data = path.read_bytes()
    try:
        return loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (MalformedInstanceError, gzip.BadGzipFile, EOFError) as error:
        raise MalformedInstanceError(f"{path.name}: {error}") from error


def loads(text: bytes) -> ReferenceFile:
    """Reads the content of a file.

    Args:
        text: JSON in UTF-8.

    Returns:
        Its header, its instances, and those set aside.

    Raises:
        MalformedInstanceError: The text is not JSON, or its header is wrong.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedInstanceError(f"not JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("instances"), list):
        raise MalformedInstanceError("not a file of ACE-Bench instances: no list under 'instances'")
    header = parse_header(data, len(data["instances"]))
    found = [parse_entry(header, index, entry) for index, entry in enumerate(data["instances"])]
    return ReferenceFile(
        header,
        tuple(each for each in found if isinstance(each, Instance)),
        tuple(each for each in found if isinstance(each, Unreadable)),
    )


def write(path: Path, header: Header, instances: Iterable[Instance], count: int) -> None:
    """Writes a file, one instance at a time.

    Args:
        path: Where to; an existing file is replaced.
        header: What the file says about all instances.
        instances: The instances, hidden slots in the outer loop and decoy budgets in the inner one.
        count: How many there are; the layout names the number before the list.

    Raises:
        ValueError: There are more or fewer instances than announced; the file is then incomplete.
    """
    written = 0
    with path.open("w", encoding="ascii", newline="\n") as out:
        head = json.dumps(_header_entry(header, count), indent=2)
        out.write(head.removesuffix("\n}") + ',\n  "instances": [')
        for instance in instances:
            out.write(("," if written else "") + "\n    ")
            out.write(json.dumps(encode(instance), indent=2).replace("\n", "\n    "))
            written += 1
        out.write("\n  ]\n}" if written else "]\n}")
    if written != count:
        raise ValueError(f"{path.name} announces {count} instances and holds {written}: it is incomplete")


def parse_header(data: dict[str, Any], count: int) -> Header:
    """Makes a header of everything around the instances of a file.

    Args:
        data: The file, with or without the instances.
        count: How many instances there are.

    Returns:
        The header.

    Raises:
        MalformedInstanceError: A part is missing, of the wrong type, or not part of the layout.
    """
    try:
        header = Header(
            domain=as_text(data["domain"]),
            rows=as_count(data["rows"]),
            cols=as_count(data["cols"]),
            hidden_slots=tuple(map(as_count, data["hidden_slots"])),
            decoy_budgets=tuple(map(as_count, data["branch_budget"])),
            candidates=as_count(data["candidates_per_slot"]),
        )
    except KeyError as error:
        raise MalformedInstanceError(f"the header has no key {error}") from error
    except TypeError as error:
        raise MalformedInstanceError(f"the header has a part of the wrong type: {error}") from error
    said = {key: value for key, value in data.items() if key != "instances"}
    if departure := difference(said, _header_entry(header, count)):
        raise MalformedInstanceError(f"the header is wrong: {departure}")
    return header


def parse_entry(header: Header, index: int, entry: object) -> Instance | Unreadable:
    """Makes an instance of one entry of a file.

    Args:
        header: What the file says about all of its instances.
        index: Position of the entry in the file's list.
        entry: The entry, as JSON data.

    Returns:
        The instance, or why it cannot be read.
    """
    try:
        instance = decode(entry)
        _check_against(header, instance)
        return instance
    except (MalformedInstanceError, RecursionError) as error:
        id = entry.get("instance_id") if isinstance(entry, dict) else None
        return Unreadable(index, id if isinstance(id, str) else None, str(error))


def _header_entry(header: Header, count: int) -> dict[str, Any]:
    return {
        "domain": header.domain,
        "num_instances": count,
        "rows": header.rows,
        "cols": header.cols,
        "hidden_slots": list(header.hidden_slots),
        "branch_budget": list(header.decoy_budgets),
        "candidates_per_slot": header.candidates,
    }


def _check_against(header: Header, instance: Instance) -> None:
    puzzle = instance.puzzle
    for name, said, is_ in (
        ("domain", header.domain, puzzle.domain),
        ("rows", header.rows, puzzle.rows),
        ("cols", header.cols, puzzle.cols),
    ):
        if said != is_:
            raise MalformedInstanceError(f"the file is about {name} {said!r}, the instance about {is_!r}")
