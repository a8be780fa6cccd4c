"""A store of snapshots: each distinct file once, whatever the number of snapshots that hold it."""

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agenthard.agency.workspace.snapshot import Entry, Snapshot
from agenthard.taxonomy.errors import AgentHardError

PERMISSIONS = 0o777
SETTLED_NANOSECONDS = 50_000_000
"""A file that changed this shortly before a look may change again without its times telling, so it is read again."""
CHUNK = 1 << 20


class SnapshotError(AgentHardError):
    """A snapshot is unknown, damaged, or cannot be restored."""

    code = "AH641"
    remedy = "Take the snapshot again, or restore the store's folder from a copy: its files are named by their content."


class _Seen(NamedTuple):
    """What told that a file had some content."""

    size: int
    modified: int
    changed: int
    inode: int
    device: int


class SnapshotStore:
    """Keeps files by content below one folder. One process writes at a time; another may read."""

    def __init__(self, folder: Path) -> None:
        """Open a store; the folder is made when the first snapshot is taken, and closed to other users."""
        self._folder = folder
        self._known: dict[str, tuple[_Seen, str]] = {}
        """The last look at each file, by its path: an unchanged one is not read again."""
        self._stored: set[str] = set()

    def take(self, folder: Path) -> Snapshot:
        """Take a snapshot of a folder, and keep what is new in it.

        Args:
            folder: the folder. Nothing may change it meanwhile.

        Raises:
            SnapshotError: a file cannot be read, or changes while it is read.
        """
        self._open()
        entries: dict[str, Entry] = {}
        left_out: list[str] = []
        for path, found in _walk(os.fspath(folder)):
            try:
                path.encode()
            except UnicodeEncodeError:
                left_out.append(path.encode("utf-8", "backslashreplace").decode())
                continue
            entry = self._entry(found, os.path.join(os.fspath(folder), path))
            if entry is None:
                left_out.append(path)
            else:
                entries[path] = entry
        snapshot = Snapshot(dict(sorted(entries.items())), tuple(sorted(left_out)))
        self._write(f"{snapshot.id}.json", snapshot.to_json().encode())
        return snapshot

    def load(self, snapshot_id: str) -> Snapshot:
        """Return a snapshot by its id.

        Raises:
            SnapshotError: it is unknown or damaged.
        """
        try:
            found = Snapshot.from_json(self._place(f"{snapshot_id}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SnapshotError(f"snapshot {snapshot_id[:12]} cannot be read in {self._folder.name}: {error}") from None
        if found.id != snapshot_id:
            raise SnapshotError(f"snapshot {snapshot_id[:12]} is damaged: its content has another hash")
        return found

    def restore(self, snapshot: Snapshot, folder: Path) -> None:
        """Make a folder what it was: writes what differs, and removes what the snapshot does not hold.

        Args:
            snapshot: what to restore.
            folder: an empty, missing or used folder. Nothing may change it meanwhile.

        Raises:
            SnapshotError: the store lacks a file, or the folder cannot be written.
        """
        root = os.fspath(folder)
        try:
            os.makedirs(root, 0o700, exist_ok=True)
            kept = self._clear(root, snapshot)
            for path, entry in snapshot.entries.items():
                if path not in kept:
                    self._make(os.path.join(root, path), entry)
            for path, entry in reversed(list(snapshot.entries.items())):
                if entry.kind == "folder":  # last, for what is below it had to be written
                    os.chmod(os.path.join(root, path), entry.mode)
        except OSError as error:
            raise SnapshotError(f"snapshot {snapshot.id[:12]} cannot be restored: {error.strerror}") from None

    def read(self, snapshot: Snapshot, path: str) -> bytes:
        """Return the content of a file of a snapshot.

        Raises:
            SnapshotError: the snapshot has no such file, or the store lacks or has damaged it.
        """
        entry = snapshot.entries.get(path)
        if entry is None or entry.kind != "file":
            raise SnapshotError(f"snapshot {snapshot.id[:12]} has no file {path!r}")
        try:
            content = self._place(entry.content).read_bytes()
        except OSError as error:
            raise SnapshotError(f"the content of {path!r} cannot be read: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != entry.content:
            raise SnapshotError(f"the stored content of {path!r} is damaged")
        return content

    def _entry(self, found: os.stat_result, full: str) -> Entry | None:
        mode = found.st_mode & PERMISSIONS
        if stat.S_ISDIR(found.st_mode):
            return Entry("folder", mode, "", 0)
        if stat.S_ISLNK(found.st_mode):
            return _link(full)
        if not stat.S_ISREG(found.st_mode):
            return None
        return Entry("file", mode, self._content(full, found), found.st_size)

    def _content(self, full: str, found: os.stat_result) -> str:
        seen = _Seen(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
        known = self._known.get(full)
        if known is not None and known[0] == seen:
            return known[1]
        now = time.time_ns()
        try:
            digest = self._keep(full)
            after = os.lstat(full)
        except OSError as error:
            raise SnapshotError(f"{os.path.basename(full)!r} cannot be read: {error.strerror}") from None
        if (after.st_size, after.st_mtime_ns) != (seen.size, seen.modified):
            raise SnapshotError(f"{os.path.basename(full)!r} changes while it is read; end what writes it")
        if now - max(seen.changed, seen.modified) > SETTLED_NANOSECONDS:
            self._known[full] = seen, digest
        return digest

    def _keep(self, full: str) -> str:
        """Keep the content of a file, and return its hash."""
        with _open_any(full) as source:
            content = source.read(CHUNK)
            digest = hashlib.sha256(content)
            if len(content) < CHUNK:
                name = digest.hexdigest()
                self._write(name, content)
                return name
            while chunk := source.read(CHUNK):
                digest.update(chunk)
            name = digest.hexdigest()
            if name not in self._stored and not self._place(name).exists():
                source.seek(0)
                part = self._place(name).with_suffix(".part")
                part.parent.mkdir(exist_ok=True)
                with part.open("wb") as target:
                    shutil.copyfileobj(source, target, CHUNK)
                part.replace(self._place(name))
            self._stored.add(name)
            return name

    def _write(self, name: str, content: bytes) -> None:
        if name in self._stored:
            return
        place = self._place(name)
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            part = place.with_suffix(".part")
            part.write_bytes(content)
            part.replace(place)
        self._stored.add(name)

    def _open(self) -> None:
        if not self._folder.exists():
            self._folder.mkdir(parents=True, mode=0o700)

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _clear(self, root: str, snapshot: Snapshot) -> set[str]:
        """Remove what a snapshot does not hold, and return the paths that are as it has them."""
        kept: set[str] = set()
        foreign: list[tuple[str, bool]] = []
        for path, found in _walk(root):
            wanted, full = snapshot.entries.get(path), os.path.join(root, path)
            is_folder = stat.S_ISDIR(found.st_mode)
            if wanted is not None and wanted.kind == "folder" and is_folder:
                kept.add(path)
            elif wanted is not None and self._is(wanted, full, found):
                kept.add(path)
            else:
                foreign.append((full, is_folder))
        for full, is_folder in reversed(foreign):  # what is in a folder was found after it
            with suppress(FileNotFoundError):
                if is_folder:
                    shutil.rmtree(full)
                else:
                    os.unlink(full)
        return kept

    def _is(self, wanted: Entry, full: str, found: os.stat_result) -> bool:
        if wanted.kind == "link":
            return stat.S_ISLNK(found.st_mode) and os.readlink(full) == wanted.content
        if wanted.kind != "file" or not stat.S_ISREG(found.st_mode) or found.st_size != wanted.size:
            return False
        return self._content(full, found) == wanted.content and found.st_mode & PERMISSIONS == wanted.mode

    def _make(self, full: str, entry: Entry) -> None:
        if entry.kind == "folder":
            os.mkdir(full, 0o700)
        elif entry.kind == "link":
            os.symlink(entry.content, full)
        else:
            place = f"{self._folder}/{entry.content[:2]}/{entry.content}"
            source = os.open(place, os.O_RDONLY)
            try:
                target = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
                try:
                    _copy(source, target, entry.size)
                    os.fchmod(target, entry.mode)  # the mask of this process may hide bits from open
                finally:
                    os.close(target)
            finally:
                os.close(source)


def _copy(source: int, target: int, size: int) -> None:
    left = size
    while left > 0 and (data := os.read(source, min(left, CHUNK))):
        left -= len(data)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(target, rest) :]
    if left:
        raise OSError(0, "a stored content is too short")


def _walk(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield what is below a folder with its path, folders before what is in them; links are not followed."""
    waiting = [""]
    while waiting:
        above = waiting.pop()
        place = os.path.join(root, above) if above else root
        try:
            found = list(os.scandir(place))
        except PermissionError:
            os.chmod(place, 0o700)  # the owner has closed it to himself
            found = list(os.scandir(place))
        for item in found:
            path = f"{above}/{item.name}" if above else item.name
            state = item.stat(follow_symlinks=False)
            yield path, state
            if stat.S_ISDIR(state.st_mode):
                waiting.append(path)


def _link(full: str) -> Entry | None:
    target = os.readlink(full)
    try:
        target.encode()
    except UnicodeEncodeError:
        return None
    return Entry("link", 0, target, 0)


def _open_any(full: str) -> BinaryIO:
    """Open a file for reading, also one that its owner has closed to himself."""
    try:
        return open(full, "rb")
    except PermissionError:
        mode = os.lstat(full).st_mode & PERMISSIONS
        os.chmod(full, mode | 0o400)
        try:
            return open(full, "rb")
        finally:
            os.chmod(full, mode)
