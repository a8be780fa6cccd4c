"""Finds what looks like tasks in a benchmark's folder and was not read.

A source knows the files of the releases it was written for. A newer release has others, and a reader that skips them
reports a complete audit of an incomplete benchmark. So every file that the source does not know
(:meth:`~agenthard.audit.sources.base.Source.known_files`, and the files that tasks name as their origin) is searched:
a list of objects, or a folder of files with one object each, counts as tasks when its objects have the keys of the
tasks that were read. Copies of records that were read do not count.

The search is bounded by numbers of files and bytes, never by time, so that equal folders give equal answers. Where a
limit ends it, an entry says so. Links that lead out of the folder are named and not followed.
"""

import hashlib
import json
import os
import stat
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.sources.base import NotRead, Quarantine, Quarantined, Source
from agenthard.audit.sources.formats.files import MAX_RECORD_BYTES, open_binary
from agenthard.audit.sources.formats.json_stream import JsonStreamError, stream_members
from agenthard.audit.sources.formats.rows import JSON, is_array, read_rows, row_format
from agenthard.audit.sources.formats.stored_tasks import index_of
from agenthard.taxonomy.files import MAX_BYTES, open_regular, size_text
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.yaml_text import read_yaml

MAX_DEPTH = 10
"""Levels of folders that are searched."""
MAX_FILES = 20_000
"""Files that are searched."""
MAX_TOTAL_BYTES = 2 << 30
"""Bytes that are read in total."""
SAMPLE = 20
"""Records of a file that its keys are learned from."""
ALIKE = 0.6
"""Share of the usual keys of tasks that an object has to count as one. Records of one benchmark differ in
optional keys (τ²-bench: 4 of 6 are in every domain); answers and results share the id and little else."""
NOT_OURS = frozenset({"node_modules", "__pycache__", "site-packages"})
"""Folders of installed packages."""


def find_not_read(
    source: Source, tasks: Sequence[AgentTask], quarantined: Iterable[Quarantined]
) -> tuple[NotRead, ...]:
    """Find what looks like tasks of the benchmark and was not read, in the order of paths.

    Args:
        source: the source; it was opened with the domains of the user.
        tasks: what it read.
        quarantined: what it could not read; these files are accounted for there.
    """
    told = list(source.not_read())
    folder = source.folder
    if folder is None:
        return tuple(told)
    index = index_of(tasks)
    named = index.files | {item.file for item in quarantined} | {item.file for item in told}
    known = {folder / name for name in named if name != "."} | set(source.known_files())
    read = {folder / name for name in index.own_files}
    search = _Search(folder, known)
    found = search.run(_Likeness(sorted(path for path in read if path.is_file())))
    if source.domains:
        found = [item.model_copy(update={"left_out": True}) for item in found]
    return (*told, *found)


class _Likeness:
    """Tells whether a record resembles those that were read, and whether it is one of them."""

    def __init__(self, read: Sequence[Path]) -> None:
        self._read = read
        shapes: dict[frozenset[str], None] = {}
        for path in read[:200]:
            keys = [frozenset(record) for _, record in _first(records_of(path), SAMPLE)]
            counts = Counter(key for each in keys for key in each)
            usual = frozenset(key for key, count in counts.items() if 2 * count >= len(keys))
            if len(usual) >= 2:
                shapes[usual] = None
        self._shapes = tuple(shapes)
        self._hashes: set[str] | None = None

    def like(self, record: dict[str, object]) -> bool:
        """Whether the record has most of the keys that the records of some file usually have."""
        keys = set(record)
        return any(len(keys & shape) >= max(2, ALIKE * len(shape)) for shape in self._shapes)

    def is_copy(self, record: dict[str, object]) -> bool:
        """Whether an equal record was read, or was counted before."""
        if self._hashes is None:
            self._hashes = {value_hash(item) for path in self._read for _, item in records_of(path)}
        digest = value_hash(record)
        if digest in self._hashes:
            return True
        self._hashes.add(digest)
        return False


@dataclass
class _Search:
    """One walk over a folder."""

    folder: Path
    known: set[Path]
    found: list[NotRead] = field(default_factory=list)
    files: int = 0
    read_bytes: int = 0
    single: Counter[str] = field(default_factory=Counter)

    def run(self, likeness: _Likeness) -> list[NotRead]:
        for path in self._walk(self.folder, MAX_DEPTH):
            size = path.stat().st_size
            if size > MAX_BYTES:
                reason = f"longer than {size_text(MAX_BYTES)}, so it was not looked into for tasks; move it elsewhere"
                self.found.append(NotRead(file=self._name(path), reason=reason))
                continue
            if self.files >= MAX_FILES or self.read_bytes + size > MAX_TOTAL_BYTES:
                reason = f"the search for tasks ended here, after {self.files:,} files; give a smaller folder"
                self.found.append(NotRead(file=self._name(path), reason=reason))
                break
            self.files += 1
            self.read_bytes += size
            self._look(path, likeness)
        for name, count in self.single.items():
            reason = "files with one object each that has the keys of tasks; this source reads no such folder"
            self.found.append(NotRead(file=name, tasks=count, reason=reason))
        return sorted(self.found, key=lambda item: item.file)

    def _look(self, path: Path, likeness: _Likeness) -> None:
        count, unlike, alone = 0, 0, False
        for is_whole, record in records_of(path):
            if not likeness.like(record):
                unlike += 1
                if not count and unlike > SAMPLE:
                    return
            elif not likeness.is_copy(record):
                count, alone = count + 1, alone or is_whole
        if alone:
            self.single[self._name(path.parent)] += 1
        elif count:
            reason = "records with the keys of tasks, in a file that this source does not read; read it by itself"
            self.found.append(NotRead(file=self._name(path), tasks=count, reason=reason))

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yield the files of a format of rows whose purpose is not known, in the order of names."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            self.found.append(NotRead(file=self._name(folder), reason=f"the folder cannot be listed: {error.strerror}"))
            return
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith(".") or entry.name in NOT_OURS:
                continue
            if entry.is_symlink():
                self._link(path)
            elif path in self.known:
                continue
            elif entry.is_dir(follow_symlinks=False):
                if depth == 0:
                    reason = f"more than {MAX_DEPTH} folders down; its content was not looked into"
                    self.found.append(NotRead(file=self._name(path), reason=reason))
                elif not _is_foreign(path):
                    yield from self._walk(path, depth - 1)
            elif not entry.is_file(follow_symlinks=False):
                kind = "a named pipe" if stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode) else "no regular file"
                reason = f"it is {kind}, which is never opened; replace it by the file itself"
                self.found.append(NotRead(file=self._name(path), reason=reason))
            elif record_format(path):
                yield path

    def _link(self, path: Path) -> None:
        """Note a link that leads out of the folder. One that stays inside leads to files that are searched anyway."""
        target = path.resolve()
        if target.is_relative_to(self.folder.resolve()):
            return
        where = f"it is a link that leads out of the folder, to {target}"
        if path in self.known and path.exists():
            self.found.append(NotRead(file=self._name(path), tasks=0, reason=f"{where}; it was read from there"))
        elif path.is_dir() or not path.exists() or record_format(path):
            reason = f"{where}, and is not followed; copy what it leads to into the folder"
            self.found.append(NotRead(file=self._name(path), reason=reason))

    def _name(self, path: Path) -> str:
        name = path.relative_to(self.folder).as_posix()
        return os.fsencode(name).decode("utf-8", "backslashreplace")


def _first(records: Iterator[tuple[bool, dict[str, object]]], count: int) -> Iterator[tuple[bool, dict[str, object]]]:
    for _, record in zip(range(count), records, strict=False):
        yield record


def _is_foreign(folder: Path) -> bool:
    """Whether a folder is a virtual environment, or holds what AgentHard itself wrote: a run, or a split of one."""
    if (folder / "pyvenv.cfg").is_file() or (folder / "work" / "key").is_file():
        return True
    try:
        with open_regular(folder / "manifest.json") as stream:
            return b'"agenthard"' in stream.read(1 << 16)
    except OSError:
        return False


YAML_SUFFIXES = (".yaml", ".yml")
RUN_KEYS = frozenset({"simulations", "trajectories", "results", "samples", "runs", "messages"})
"""Members of a document that make it a log of runs, which may embed the tasks that were run."""


def record_format(path: Path) -> bool:
    """Tell by its name whether a file can hold records."""
    return path.suffix in YAML_SUFFIXES or row_format(path) is not None


def records_of(path: Path) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Stream the objects of a file, each with whether it is the whole document.

    Rows (JSON Lines, arrays, CSV, TSV, Parquet, Arrow), a JSON or YAML document that is one object, and the lists in
    such an object are read. An unreadable file yields nothing.
    """
    if path.suffix in YAML_SUFFIXES:
        yield from _in_document(_yaml(path))
    elif row_format(path) == JSON and not is_array(path) and not _has_lines(path):
        yield from _in_document(_members(path))
    else:
        for row in read_rows(path, path.name, Quarantine()):
            yield False, row.values


def value_hash(value: Any) -> str:
    """Hash a record by its values, independent of the order of keys and of white space."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _in_document(document: Any) -> Iterator[tuple[bool, dict[str, Any]]]:
    if isinstance(document, list):
        yield from ((False, item) for item in document if isinstance(item, dict))
    elif isinstance(document, dict):
        yield True, document
        if not RUN_KEYS & set(document):
            for member in document.values():
                if isinstance(member, list):
                    yield from ((False, item) for item in member if isinstance(item, dict))


def _yaml(path: Path) -> Any:
    try:
        return read_yaml(path)
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _members(path: Path) -> Any:
    found: dict[str, Any] = {}
    try:
        for member in stream_members(path):
            if member.index is None:
                found[member.key] = member.value
            else:
                found.setdefault(member.key, []).append(member.value)
    except JsonStreamError:
        return None
    return found


def _has_lines(path: Path) -> bool:
    """Tell whether a ``.json`` file holds one object per line: its first line is one, and another line follows."""
    try:
        with open_binary(path) as stream:
            first, second = stream.readline(MAX_RECORD_BYTES), stream.readline(1 << 16)
        return bool(second.strip()) and isinstance(json.loads(first), dict)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return False
