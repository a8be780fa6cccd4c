"""ACE-Bench instances wherever they are: files in the layout of the paper, suites in our own format, or folders."""

import re
import zlib
from collections.abc import Iterator, Set
from pathlib import Path

from agenthard.ace import reference_stream, storage
from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.instance import Instance, Puzzle
from agenthard.ace.storage import SUITES
from agenthard.audit.sources.formats.files import open_binary

_START_BYTES = 4096
_DOMAIN = re.compile(rb'"domain"\s*:\s*"([^"\\]*)"')


def find(path: Path) -> list[Path]:
    """Finds what holds instances.

    Args:
        path: A file, the folder of a suite, or a folder with such files and folders at any depth.

    Returns:
        Files in the layout of the paper and folders of suites, sorted; what lies inside a suite's folder is part of
        the suite. A file is given back as it is, whatever it holds; one of a suite's own files as its folder.

    Raises:
        FileNotFoundError: There is nothing at this path.
    """
    if path.is_file():
        own = path.name == storage.HEAD or path.stem in ("puzzles", "answers")
        return [path.parent] if own and is_suite(path.parent) else [path]
    if not path.exists():
        raise FileNotFoundError(2, "there is nothing at this path", str(path))
    suites = {head.parent for head in path.rglob(storage.HEAD) if is_suite(head.parent)}
    files = {file for pattern in ("*.json", "*.json.gz") for file in path.rglob(pattern) if domain_in(file) is not None}
    return sorted(each for each in suites | files if suites.isdisjoint(each.parents))


def load(path: Path) -> Iterator[Instance | Unreadable]:
    """Reads instances one at a time, whichever format they are in.

    Args:
        path: What ``find`` finds, or a folder of it.

    Yields:
        The instances, and in the place of those that cannot be read the reason. ``Unreadable.index`` counts within
        each file or suite.

    Raises:
        MalformedInstanceError: It holds neither format, or one of its files does not; what comes before was yielded.
        OSError: It cannot be read.
    """
    places = find(path)
    if not places:
        raise MalformedInstanceError(f"{path}: no ACE-Bench file and no suite here")
    for place in places:
        yield from (each for _, each in load_some(place, None))


def load_some(place: Path, ids: Set[str] | None) -> Iterator[tuple[int, Instance | Unreadable]]:
    """Reads some instances of one file or suite; the others are passed over as cheaply as possible.

    Args:
        place: One of what ``find`` finds.
        ids: Ids of the instances, as the file says them; None = all of them.

    Yields:
        As ``load``, each with its position. With ids, reasons are yielded only as far as they are met.

    Raises:
        MalformedInstanceError: As for ``load``.
        OSError: As for ``load``.
    """
    return SUITES.scan_some(place, ids) if place.is_dir() else reference_stream.scan_some(place, ids)


def load_puzzles(path: Path) -> Iterator[Puzzle | Unreadable]:
    """Reads the public parts only; the answers of a suite need not be there.

    Args:
        path: As for ``load``.

    Yields:
        The puzzles, and in the place of those that cannot be read the reason.

    Raises:
        MalformedInstanceError: As for ``load``.
        OSError: As for ``load``.
    """
    for place in find(path):
        if place.is_dir():
            yield from SUITES.scan_public(place)
            continue
        for each in reference_stream.scan(place):
            yield each if isinstance(each, Unreadable) else each.puzzle


def is_suite(folder: Path) -> bool:
    """Tells whether a folder holds a suite in our own format, judging by the start of ``suite.json``.

    Args:
        folder: The folder.

    Returns:
        True when it does; whether it can be read is another matter.
    """
    return f'"{SUITES.layout.format}"'.encode() in _start(folder / storage.HEAD)


def domain_in(path: Path) -> str | None:
    """Tells whether a file starts as the layout of the paper does.

    Args:
        path: The file; its name may end in ``.gz``.

    Returns:
        The name of the domain that it states; None when it is not such a file.
    """
    start = _start(path)
    found = _DOMAIN.search(start)
    return found.group(1).decode("utf-8", "replace") if found and b'"num_instances"' in start else None


def _start(path: Path) -> bytes:
    try:
        with open_binary(path) as stream:
            return stream.read(_START_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""
