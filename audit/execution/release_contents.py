"""The content hashes of a release, kept in its environment: to read and hash all its tasks takes most of a second."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from agenthard.audit.sources.fetch import Fetched
from agenthard.taxonomy.files import write_text

ContentHashes = Callable[[Path], Iterator[str]]
"""Gives the content hashes of all tasks in a folder of data."""
_CODE = Path(__file__).parents[1]
FILE = "content-hashes.json"
"""Name of the file, in the folder of the environment."""


def contents(content_hashes: ContentHashes, release: Fetched) -> frozenset[str]:
    """Return the content hashes of all tasks of a release.

    Kept ones are used while the data and our code that hashes have the same files, of equal sizes and times.

    Args:
        content_hashes: reads those of a folder.
        release: the installed release.
    """
    return _contents(content_hashes, release.path / FILE, release.data, release.data.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _contents(content_hashes: ContentHashes, kept: Path, data: Path, changed: int) -> frozenset[str]:
    key = _key(data)
    with suppress(OSError, ValueError, LookupError, TypeError):  # absent, or not written by us
        known = json.loads(kept.read_bytes())
        if known["key"] == key:
            return frozenset(map(str, known["hashes"]))
    found = frozenset(content_hashes(data))
    with suppress(OSError):  # an environment that cannot be written works as well
        write_text(kept, json.dumps({"key": key, "hashes": sorted(found)}) + "\n")
    return found


def _key(data: Path) -> str:
    """Hash names, sizes and times of the data and of our code."""
    total = hashlib.sha256()
    for folder, pattern in ((data, "*"), (_CODE, "*.py")):
        for path in sorted(folder.rglob(pattern)):
            status = path.stat()
            total.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogatepass"))
    return total.hexdigest()
