"""Reads a file in the layout of the paper one instance at a time, so that memory does not grow with the file."""

import gzip
import zlib
from collections.abc import Iterator, Set
from pathlib import Path
from typing import IO, Any

from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.instance import Instance
from agenthard.ace.reference_format import Header, parse_entry, parse_header
from agenthard.audit.sources.formats.files import open_binary
from agenthard.audit.sources.formats.json_stream import stream_object

_HEADER = {
    "domain",
    "num_instances",
    "rows",
    "cols",
    "hidden_slots",
    "branch_budget",
    "candidates_per_slot",
    "instances",
}
_BROKEN = (ValueError, RecursionError, gzip.BadGzipFile, EOFError, zlib.error)


def scan(path: Path) -> Iterator[Instance | Unreadable]:
    """Reads a file; its name may end in ``.gz``.

    Args:
        path: The file.

    Yields:
        The instances in order, in the place of one that departs from the layout the reason, and at the end why the
        rest cannot be read, or that the file holds another number of instances than it says.

    Raises:
        MalformedInstanceError: Something around the instances is wrong, or nothing of the file is in the layout.
        OSError: It cannot be read.
    """
    return (each for _, each in scan_some(path, None))


def scan_some(path: Path, ids: Set[str] | None) -> Iterator[tuple[int, Instance | Unreadable]]:
    """Reads some instances of a file; the entries of the others are not checked.

    Args:
        path: The file.
        ids: Ids of the instances; None = all of them.

    Yields:
        As ``scan``, each with its position.

    Raises:
        MalformedInstanceError: As for ``scan``.
        OSError: It cannot be read.
    """
    header, announced = read_header(path)
    index = 0
    try:
        with open_binary(path) as stream:
            for _, place, entry in stream_object(stream, "instances"):
                if place is not None:
                    if ids is None or (isinstance(entry, dict) and str(entry.get("instance_id")) in ids):
                        yield place, parse_entry(header, place, entry)
                    index += 1
    except _BROKEN as error:
        yield index, Unreadable(index, None, f"not JSON from here on, so what follows cannot be read: {error}")
        return
    if index != announced:
        yield index, Unreadable(index, None, f"the file says that it holds {announced} instances; it holds {index}")


def read_header(path: Path) -> tuple[Header, int]:
    """Reads everything around the instances.

    Args:
        path: The file.

    Returns:
        The header, and the number of instances that it announces.

    Raises:
        MalformedInstanceError: It is missing, or wrong.
        OSError: The file cannot be read.
    """
    try:
        with open_binary(path) as stream:
            data = _around(stream)
    except _BROKEN as error:
        raise MalformedInstanceError(f"{path.name}: not JSON: {error}") from error
    if not isinstance(data.get("instances"), list):
        raise MalformedInstanceError(f"{path.name}: not a file of ACE-Bench instances: no list under 'instances'")
    announced = data.get("num_instances")
    try:
        return parse_header(data, announced if isinstance(announced, int) else 0), int(announced or 0)
    except MalformedInstanceError as error:
        raise MalformedInstanceError(f"{path.name}: {error}") from error


def _around(stream: IO[bytes]) -> dict[str, Any]:
    """The entries next to the instances. The file is read beyond the header only where entries come after the list."""
    found: dict[str, Any] = {}
    for key, index, value in stream_object(stream, "instances"):
        if index is None:
            found[key] = value
        if found.keys() >= _HEADER:
            break
    return found
