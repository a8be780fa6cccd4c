"""Any file of ACE-Bench instances: one in the layout of the paper, or a folder in our own format."""

from collections.abc import Iterator
from pathlib import Path

from ace import reference_format, storage
from ace.instance import Instance
from ace.unreadable import Unreadable


def load(path: Path) -> Iterator[Instance | Unreadable]:
    """Reads instances, whichever of the two formats they are in.

    Args:
        path: A file in the layout of the paper (``.json`` or ``.json.gz``), or the folder of a suite.

    Yields:
        The instances, and those that could not be read with the reason.

    Raises:
        Malformed: The path holds neither.
        OSError: It cannot be read.
    """
    if path.is_dir():
        yield from storage.scan(path)
        return
    file = reference_format.read(path)
    yield from file.instances
    yield from file.unreadable
