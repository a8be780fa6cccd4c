"""The folder that an agent works on, next to the snapshot of what it holds."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agenthard.agency.workspace.confined import write_file
from agenthard.agency.workspace.runner import Command, CommandRunner, LocalJobs
from agenthard.agency.workspace.snapshot import Difference, Entry, Snapshot, difference
from agenthard.agency.workspace.store import SnapshotStore
from agenthard.containment import CommandResult, JobLimits


class Workspace:
    """A folder that is written only when something has to run in it.

    Reading asks the snapshot, so a play that is told again touches no file until its journal ends.
    """

    def __init__(
        self,
        folder: Path,
        store: SnapshotStore,
        *,
        limits: JobLimits | None = None,
        runner: CommandRunner | None = None,
    ) -> None:
        """Prepare; nothing is written.

        Args:
            folder: the folder; it belongs to this object alone.
            store: store of the snapshots.
            limits: what each command may use.
            runner: what runs the commands; None for jobs on this machine.
        """
        self.limits = limits or JobLimits()
        self._folder, self._store = folder, store
        self._runner = runner or LocalJobs()
        self._written = False
        self.snapshot = Snapshot({})
        """What the folder holds."""

    def go_to(self, snapshot: Snapshot) -> None:
        """Make the folder hold a snapshot; it is written when something runs next."""
        self.snapshot, self._written = snapshot, False

    def load(self, snapshot_id: str) -> Snapshot:
        """Return a snapshot by its id.

        Raises:
            SnapshotError: it is unknown or damaged.
        """
        return self.snapshot if snapshot_id == self.snapshot.id else self._store.load(snapshot_id)

    def entry(self, path: str) -> Entry | None:
        """Return what is at a path."""
        return self.snapshot.entries.get(path)

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            SnapshotError: no such file.
        """
        return self._store.read(self.snapshot, path)

    def write(self, path: str, content: bytes) -> Difference:
        """Write a file, without following any link; folders on the way are made.

        Raises:
            OSError: it cannot be written: a link or a file is in the way.
        """
        return self._changed(lambda: write_file(self._open(), path, content))

    def run(
        self,
        command: Sequence[str],
        seconds: float | None = None,
        environment: Mapping[str, str] | None = None,
        readable: Sequence[Path] = (),
    ) -> tuple[CommandResult, Difference]:
        """Run a command in the folder.

        Args:
            command: program and arguments.
            seconds: longest time, where that is less than the limit of every command.
            environment: variables for it.
            readable: folders outside that it must be able to read.

        Raises:
            JobError: it cannot be contained here.
            SnapshotError: what it left cannot be read.
        """
        limits = self.limits
        if seconds is not None and seconds < limits.wall_seconds:
            limits = limits.model_copy(update={"wall_seconds": max(seconds, 0.001)})
        done: list[CommandResult] = []

        def work() -> None:
            done.append(self._runner.run(Command(command, self._open(), limits, environment or {}, readable)))

        changed = self._changed(work)
        return done[0], changed

    def _open(self) -> Path:
        if not self._written:
            self._store.restore(self.snapshot, self._folder)
            self._written = True
        return self._folder

    def _changed(self, work: Callable[[], None]) -> Difference:
        before = self.snapshot
        work()
        self.snapshot = self._store.take(self._folder)
        return difference(before, self.snapshot)
