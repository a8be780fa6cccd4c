"""The space of a grader: a fresh copy of a snapshot, next to gold files that no agent can look into."""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthard.agency.workspace.snapshot import Snapshot
from agenthard.agency.workspace.store import SnapshotStore


@dataclass(frozen=True)
class EvalSpace:
    """Where one grade is made. It is removed afterwards."""

    snapshot: str
    """Id of the snapshot that the grade is about."""
    work: Path
    """Fresh copy of the snapshot; a grader may change it."""
    gold: Path
    """Folder of the gold files, read-only; empty where a task has none."""
    hidden: tuple[Path, ...] = ()
    """Other folders that no program of the graded work may look into."""
    looks: dict[Callable[..., Any], object] = field(default_factory=dict)
    """What one look at the graded files gave to several criteria."""


@contextmanager
def open_eval_space(
    store: SnapshotStore, snapshot: Snapshot, gold: Path | None, parent: Path, hidden: Sequence[Path] = ()
) -> Iterator[EvalSpace]:
    """Make an eval-space in a folder that is closed to other users, and remove it at the end.

    Args:
        store: store of the snapshot.
        snapshot: what is graded.
        gold: folder of the gold files; None for a task without.
        parent: folder in which the space is made; jobs of agents have it among their hidden folders.
        hidden: other folders that no program of the graded work may look into, such as the suite with its solutions.

    Raises:
        SnapshotError: the snapshot cannot be restored.
    """
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = Path(tempfile.mkdtemp(prefix="eval-", dir=parent))  # mode 0700
    try:
        work, own = folder / "work", folder / "gold"
        store.restore(snapshot, work)
        if gold is None:
            own.mkdir()
        else:
            shutil.copytree(gold, own, symlinks=True)
        for path in sorted(own.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o555 if path.is_dir() else 0o444)
        yield EvalSpace(snapshot.id, work, own, tuple(hidden))
    finally:
        for path in (folder, *sorted(folder.rglob("*"))):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(folder)


def outermost(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that exist and are in none of the others: what is hidden cannot be hidden again."""
    found: list[Path] = []
    for folder in sorted({path.resolve() for path in folders if path.is_dir()}):
        if not any(folder.is_relative_to(above) for above in found):
            found.append(folder)
    return found
