"""The folder of a schedule: its audits in order, their results, the published split, what waits for approval."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from agenthard.flows.errors import CommandError, FolderInUseError
from agenthard.flows.run_folder import write_json
from agenthard.flows.scheduling.difference import Difference
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.system import lock_file

Split = TypeVar("Split", bound=Record)


class AuditRecord(Record):
    """One audit of a schedule, or why there was none."""

    number: int
    """Number, from 1."""
    at: datetime
    """When it began."""
    run: str | None
    """Run folder, relative to the folder of the schedule; None when nothing had changed, or it failed."""
    benchmark: str
    """Release label and content hash."""
    key: str = ""
    """Hash of everything that the results of the checks depend on."""
    decided_with: str = ""
    """Hash of what decides: the policy, and the judges."""
    difference: Difference | None = None
    """What is different since the audit before; None when nothing had changed, or it failed."""
    failure: str = ""
    """Why there was no audit."""
    not_sent: tuple[str, ...] = ()
    """Notifications that could not be sent."""


class PublishedSplit(Record):
    """The split that others use."""

    split_id: str
    """Its id."""
    version: str
    """Its version (`agenthard publish`)."""
    run: str
    """Audit that it is from, relative to the folder of the schedule."""
    folder: str
    """Where it is, relative to the folder of the schedule."""
    by: str
    """Who approved it; "no approval asked" without a gate."""
    reason: str
    """Why."""
    at: datetime
    """When."""


class PendingSplit(Record):
    """A split that waits for a person."""

    split_id: str
    """Its id."""
    run: str
    """Audit that it is from, relative to the folder of the schedule."""
    added: tuple[str, ...]
    """Tasks that the published split does not have."""
    removed: tuple[str, ...]
    """Tasks that only the published split has."""


class SeriesFolder:
    """Paths and files of a schedule."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.results = root / "results.db"
        self.benchmarks = root / "benchmarks"
        self.runs = root / "runs"
        self._history = root / "history.json"
        self._published = root / "published.json"
        self._pending = root / "pending.json"

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other processes from auditing or publishing in this folder.

        Raises:
            FolderInUseError: another one does.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("a+") as lock:
            try:
                lock_file(lock)
            except BlockingIOError:
                raise FolderInUseError(
                    f"{self.root}: another agenthard process audits this schedule; wait until it has ended"
                ) from None
            yield

    @property
    def history(self) -> list[AuditRecord]:
        """All audits, the earliest first.

        Raises:
            CommandError: the file is damaged.
        """
        if not self._history.is_file():
            return []
        try:
            return [AuditRecord.model_validate(each) for each in json.loads(self._history.read_bytes())]
        except ValueError as error:
            raise CommandError(f"{self._history}: damaged: {error}") from error

    @property
    def last_audit(self) -> AuditRecord | None:
        """The last audit that was made."""
        return next((audit for audit in reversed(self.history) if audit.run), None)

    def record(self, audit: AuditRecord) -> None:
        """Add an audit, or write it again: the last record counts for its number."""
        kept = [each for each in self.history if each.number != audit.number]
        write_json(self._history, [each.model_dump(mode="json") for each in [*kept, audit]])

    @property
    def published(self) -> PublishedSplit | None:
        """The split that others use."""
        return _read(self._published, PublishedSplit)

    @property
    def pending(self) -> PendingSplit | None:
        """The split that waits for a person."""
        return _read(self._pending, PendingSplit)

    def await_approval(self, split: PendingSplit | None) -> None:
        """Note which split waits for a person; None = none."""
        if split is None:
            self._pending.unlink(missing_ok=True)
        else:
            write_text(self._pending, split.model_dump_json(indent=2) + "\n")

    def publish(self, split: PublishedSplit) -> None:
        """Note which split others use; nothing waits afterwards."""
        write_text(self._published, split.model_dump_json(indent=2) + "\n")
        self.await_approval(None)

    def kept_ids(self, run: str) -> list[str]:
        """Return the ids of the cleaned split of an audit."""
        manifest = self.root / run / "split" / "cleaned" / "manifest.json"
        ids: list[str] = json.loads(manifest.read_bytes())["kept_ids"]
        return ids

    def remove_old(self, keep: int) -> list[str]:
        """Remove the oldest audits and copies of benchmarks; those that a split is from, or waits for, stay.

        Returns:
            The removed run folders.
        """
        used = {split.run for split in (self.published, self.pending) if split}
        audits = [each.run for each in self.history if each.run and (self.root / each.run).is_dir()]
        old = [run for run in audits[:-keep] if run not in used]
        for run in old:
            shutil.rmtree(self.root / run)
        recorded = {Path(each.run).name for each in self.history if each.run}
        for folder in self.runs.glob("*"):  # what a killed audit left, of a version that has changed since
            if folder.name.removesuffix("-checks") not in recorded:
                shutil.rmtree(folder)
        self._remove_unused_benchmarks()
        return old

    def _remove_unused_benchmarks(self) -> None:
        settings = self.runs.glob("*/work/settings.json")
        used = {Path(json.loads(path.read_bytes())["path"]).resolve() for path in settings}
        for copy in self.benchmarks.glob("*-*"):
            if not any(path.is_relative_to(copy.resolve()) for path in used):
                shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


def _read(path: Path, record: type[Split]) -> Split | None:
    if not path.is_file():
        return None
    try:
        return record.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise CommandError(f"{path}: damaged: {error}") from error
