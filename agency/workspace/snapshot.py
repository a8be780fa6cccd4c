"""What a folder holds at one moment, and what differs between two moments."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from agenthard.taxonomy.record import Record

Kind = Literal["file", "folder", "link"]


class Entry(NamedTuple):
    """One file, folder or symbolic link."""

    kind: Kind
    """What it is."""
    mode: int
    """Its permissions, without set-user and set-group bits; 0 for a link."""
    content: str
    """SHA-256 of a file's content, the target of a link, empty for a folder."""
    size: int
    """Bytes of a file, else 0."""


@dataclass(frozen=True)
class Snapshot:
    """A folder at one moment. Equal folders have equal snapshots, whenever and wherever they were taken."""

    entries: Mapping[str, Entry]
    """Everything in the folder, hidden files included, by its path with slashes; in order of the paths."""
    left_out: tuple[str, ...] = ()
    """Paths that are neither file nor folder nor link (sockets, pipes, devices), or have no valid name."""

    @cached_property
    def id(self) -> str:
        """SHA-256 of the snapshot."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries.values())

    def to_json(self) -> str:
        """Write the snapshot as JSON, equal bytes for equal snapshots."""
        document = {"entries": self.entries, "left_out": self.left_out}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Snapshot":
        """Read what :meth:`to_json` wrote."""
        document = json.loads(text)
        entries = {path: Entry(*fields) for path, fields in document["entries"].items()}
        return cls(entries, tuple(document["left_out"]))


class Difference(Record):
    """What differs between two snapshots, as paths in order."""

    added: tuple[str, ...] = ()
    """Only in the second."""
    removed: tuple[str, ...] = ()
    """Only in the first."""
    changed: tuple[str, ...] = ()
    """In both, with another kind, content or permission."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.added or self.removed or self.changed)


def difference(before: Snapshot, after: Snapshot) -> Difference:
    """Compare two snapshots."""
    first, second = before.entries, after.entries
    return Difference(
        added=tuple(path for path in second if path not in first),
        removed=tuple(path for path in first if path not in second),
        changed=tuple(path for path, entry in first.items() if path in second and second[path] != entry),
    )
