"""The hashes of all files of a run folder, written when a command has finished its work there.

There are two lists: ``checksums.json`` covers what a reader gets, ``work/checksums.json`` what a later command
continues from. Equal runs have equal lists of the first kind; ``work/`` holds times and paths. A folder inside with a
list of its own, such as the audit in the folder of ``agenthard run``, is left to that list.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record

FILE = "checksums.json"
WORK = "work"
STATUS = "status.json"
"""File in ``work/`` that says what a command is doing, or why it ended early (`agenthard.flows.job_status`)."""
SQLITE = b"SQLite format 3\0"
"""First bytes of a SQLite file."""
_LIVE_NAMES = frozenset(
    {
        *("review.db", "review-access.jsonl"),
        *("embeddings.sqlite", "episodes.sqlite", "ledger.sqlite", "replies.sqlite"),
    }
)
_LIVE_ENDINGS = ("-wal", "-shm", "-journal", ".partial")


class FileSum(Record):
    """The content of one file."""

    sha256: str
    """Its hash."""
    bytes: int
    """Its length; of a SQLite file that of its tables as text."""


class Checksums(Record):
    """The list of a folder."""

    schema_version: Literal["1"] = "1"
    """Version of the layout of this file."""
    files: dict[str, FileSum]
    """Files by path, relative to the folder of the list, with forward slashes."""
    sha256: str
    """Hash of the list itself, so that a change of a hash in it is not taken for a change of the file."""


class UnreadableChecksumsError(ValueError):
    """A list exists and cannot be read: it is damaged itself."""


def write_checksums(root: Path) -> None:
    """Write both lists of a run folder; the work comes first, so that a kill in between leaves the old public list."""
    for folder in (root / WORK, root):
        if folder.is_dir():
            files = {name: checksum(folder / name) for name in listed_files(root, folder)}
            write_text(folder / FILE, _text(Checksums(files=files, sha256=_digest(files))))


def read_checksums(folder: Path) -> Checksums | None:
    """Read the list of a folder.

    Returns:
        None when there is none.

    Raises:
        UnreadableChecksumsError: It is damaged.
    """
    try:
        content = (folder / FILE).read_bytes()
        found = Checksums.model_validate_json(content)
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise UnreadableChecksumsError(f"not a list of hashes: {error.errors()[0]['msg']}") from error
    if found.sha256 != _digest(found.files) or content != _text(found).encode("utf-8"):
        raise UnreadableChecksumsError("it is not as it was written")
    return found


def _digest(files: Mapping[str, FileSum]) -> str:
    plain = {name: each.model_dump(mode="json") for name, each in files.items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _text(listed: Checksums) -> str:
    return json.dumps(listed.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"


def checksum(path: Path) -> FileSum:
    """Hash a file; of a SQLite file what its tables hold, since opening one changes counters in its first bytes.

    Raises:
        sqlite3.Error: A SQLite file is damaged so that it cannot be read.
    """
    with path.open("rb") as stream:
        if stream.read(len(SQLITE)) == SQLITE:
            return _tables_sum(path)
        stream.seek(0)
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return FileSum(sha256=digest, bytes=stream.tell())


def _tables_sum(path: Path) -> FileSum:
    digest, length = hashlib.sha256(), 0
    with closing(open_store(path)) as connection:
        for statement in connection.iterdump():
            text = statement.encode("utf-8", "surrogatepass")
            digest.update(text)
            length += len(text)
    return FileSum(sha256=digest.hexdigest(), bytes=length)


def open_store(path: Path) -> sqlite3.Connection:
    """Open a SQLite file for reading, without leaving files next to it where no process has it open."""
    alone = not path.with_name(f"{path.name}-wal").exists()
    mode = "immutable=1" if alone else "mode=ro"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=30)


def listed_files(root: Path, folder: Path) -> list[str]:
    """Return the files that the list of a folder covers, sorted.

    Args:
        root: Run folder.
        folder: The run folder itself, or its ``work/``.
    """
    here = sorted(_below(folder, root / WORK if folder == root else None))
    return [path.relative_to(folder).as_posix() for path in here if not is_live(root, path) and path.name != FILE]


def live_files(root: Path) -> list[Path]:
    """Return the files of a run folder that change between commands, and that no list covers."""
    return sorted(path for path in _below(root, None) if is_live(root, path))


def nested_runs(root: Path) -> list[Path]:
    """Return the folders inside a run folder that have a list of their own, sorted."""
    found = []
    for folder, names, files in os.walk(root):
        if Path(folder) not in (root, root / WORK) and FILE in files:
            found.append(Path(folder))
            names.clear()
    return sorted(path for path in found if path.name != WORK)


def is_live(root: Path, path: Path) -> bool:
    """Tell whether a file changes between commands: stores that several processes share, locks, unfinished files."""
    inside = path.relative_to(root)
    if path.name.endswith(_LIVE_ENDINGS) or any(part.endswith(".partial") for part in inside.parts):
        return True
    if inside.parts[0] == WORK and (inside.name in ("lock", STATUS) or "workers" in inside.parts):
        return True
    return path.name in _LIVE_NAMES


def _below(folder: Path, without: Path | None) -> Iterator[Path]:
    """Yield all files below a folder, links too, without those of folders that have a list of their own."""
    for path, names, files in os.walk(folder):
        here = Path(path)
        names[:] = [name for name in names if here / name != without and not (here / name / FILE).is_file()]
        if here == folder and without is None and (folder / WORK).is_dir() and WORK not in names:
            names.append(WORK)
        yield from (here / name for name in files)
        yield from (here / name for name in names if (here / name).is_symlink())
