"""The run folder: where an audit keeps its work, its tables, its split and its report.

Layout: ``manifest.json``, ``tables/``, ``findings.json``, ``results.sarif``, ``report.html`` with ``instances/``,
``summary.md``, ``quarantine.jsonl``, ``split/``, ``checksums.json`` (the hashes of all of these), and ``work/`` (what a
rerun continues from; safe to delete once the audit is done).
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.audit.shard_file import read_shard_file
from agenthard.audit.shards import ShardResult
from agenthard.flows.checksums import STATUS, write_checksums
from agenthard.flows.errors import FolderInUseError, RunFolderError
from agenthard.flows.job_status import reported
from agenthard.flows.logs import bound
from agenthard.flows.run_spool import read_spool, spool_name
from agenthard.taxonomy.files import naming, write_atomically, write_text
from agenthard.taxonomy.system import lock_file, process_exists
from agenthard.taxonomy.trajectory import Trajectory

AUDIT_FOLDER = "audit.json"
"""File in ``work/`` of a judged run that names the run folder of the audit, relative to its own."""


def write_json(path: Path, value: Any) -> None:
    """Write JSON with sorted keys, atomically."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.tables = root / "tables"
        self.split = root / "split"
        self._marker = self.work / "key"
        self._lock = self.work / "lock"
        self.spool = self.work / "runs"
        self.checks_key = self.work / "checks_key"
        self.tasks_table = self.work / "tasks.parquet"
        """The table of tasks until the other tables are written; there only when it is complete."""

    @contextmanager
    def hold(self, marker: Path | None = None, what: str = "audit") -> Iterator[None]:
        """Lock the folder for a process that writes into it; the system releases the lock when the process ends.

        Args:
            marker: File that shows that the folder belongs to the command; default: the key of an audit.
            what: What the command keeps in its folder.

        Raises:
            RunFolderError: Another process holds it, or it has other content.
        """
        if not (marker or self._marker).is_file() and self._has_files():
            raise RunFolderError(f"{self.root}: not empty and holds no {what}; give another folder with --out")
        self.work.mkdir(parents=True, exist_ok=True)
        with self._lock.open("a+", encoding="ascii") as lock:
            self._acquire(lock)
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            try:
                with naming(self.root), bound(run=str(self.root)), reported(self.work, what):
                    yield
                    if (marker or self._marker).is_file():
                        write_checksums(self.root)
            finally:
                # So that equal runs leave equal files. A full disk does not keep a file from shrinking.
                lock.truncate(0)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process out of the folder while files in it are removed.

        Raises:
            RunFolderError: Another process works in it.
        """
        try:
            lock = self._lock.open("r+", encoding="ascii")
        except FileNotFoundError:
            yield
            return
        with lock:
            self._acquire(lock)
            yield

    @contextmanager
    def read(self) -> Iterator[None]:
        """Keep writers out of the folder while a process reads from it; several may read at the same time.

        Raises:
            RunFolderError: Another process writes into it.
        """
        try:
            lock = self._lock.open("r", encoding="ascii")
        except FileNotFoundError:  # no audit has run here, or `work/` was deleted: there is nothing to wait for
            yield
            return
        with lock:
            self._acquire(lock, shared=True)
            yield

    def _acquire(self, lock: IO[str], *, shared: bool = False) -> None:
        try:
            lock_file(lock, shared=shared)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read(20).strip()
            # A process that was killed leaves its number behind; the one that holds the lock now only reads.
            who = f"(pid {holder})" if holder.isdigit() and process_exists(int(holder)) else "(it reads from it)"
            raise FolderInUseError(
                f"{self.root}: another agenthard process {who} is working in this folder; wait until it has ended, "
                "or give another folder with --out"
            ) from None

    def _has_files(self) -> bool:
        """Tell whether there is more than what a process leaves that was killed right after its start."""
        early = (self._lock, self.work / STATUS)
        if self.root.exists() and not self.root.is_dir():
            return True
        files = (path for path in self.root.rglob("*") if not path.is_dir())
        return any(path not in early and path.suffix != ".partial" for path in files)

    def claim(self, key: str) -> bool:
        """Acquire the folder for the run named by ``key``.

        Returns:
            True when it already holds work of the same run, which is then continued.

        Raises:
            RunFolderError: when it holds another run.
        """
        if self._marker.is_file():
            if not self.holds_other_than(key):
                return True
            raise RunFolderError(
                f"{self.root}: holds an audit of other input, or one with other options, other installed code of the "
                "benchmark or another version of AgentHard; give another folder with --out, or delete this one"
            )
        write_atomically(self._marker, key.encode())
        return False

    def holds_other_than(self, key: str) -> bool:
        """Tell whether the folder holds a run, and not the one named by ``key``."""
        return self._marker.is_file() and self._marker.read_text(encoding="utf-8") != key

    def shard_file(self, number: int) -> Path:
        """Path of a finished shard's result."""
        return self.work / "shards" / f"{number:05d}.zip"

    def costs_file(self, number: int) -> Path:
        """Path of the cost of each check on a shard: ``{"tasks": n, "seconds": {check: seconds}, "executed": …}``."""
        return self.work / "costs" / f"{number:05d}.json"

    def reused_file(self, number: int) -> Path:
        """Path of how many tasks of a shard had results of an earlier audit; absent when none were looked for."""
        return self.work / "reused" / f"{number:05d}.json"

    def reused(self, count: int) -> int:
        """Return how many tasks of all shards were not checked again."""
        files = filter(Path.is_file, map(self.reused_file, range(count)))
        return sum(int(json.loads(path.read_bytes())["reused"]) for path in files)

    def isolation_file(self, number: int) -> Path:
        """Path of the isolations under which benchmark code ran for a shard: a list of texts, empty when none ran."""
        return self.work / "isolation" / f"{number:05d}.json"

    def replays_file(self, number: int) -> Path:
        """Path of the replays of ground truths of a shard; absent when there are none."""
        return self.work / "replays" / f"{number:05d}.jsonl"

    def replays(self, count: int) -> Iterator[ShownReplay]:
        """Stream the replays of ground truths of all shards, in order."""
        for path in filter(Path.is_file, map(self.replays_file, range(count))):
            with path.open("rb") as lines:
                yield from map(ShownReplay.model_validate_json, lines)

    def isolation(self, count: int) -> str:
        """Describe under which isolation benchmark code ran for all shards."""
        files = [path for path in map(self.isolation_file, range(count)) if path.is_file()]
        used = {text for path in files for text in json.loads(path.read_bytes())}
        return " | ".join(sorted(used)) or "nothing executed"

    def shard_results(self, count: int) -> Iterator[ShardResult]:
        """Stream the results of all shards, in order; observations stay in the files until they are asked for."""
        return (read_shard_file(self.shard_file(number)) for number in range(count))

    def runs(self, number: int, ids: Collection[str] | None = None) -> list[Trajectory]:
        """Read the runs of one shard, or those of them with some ids, in an order that does not depend on the files."""
        return read_spool(self.spool / spool_name(number), ids)

    def all_runs(self, count: int, ids: Collection[str] | None = None) -> Iterator[Trajectory]:
        """Stream the runs of all shards, or those of them with some ids, holding one shard at a time."""
        for number in range(count):
            yield from self.runs(number, ids)


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write pydantic records as JSON Lines, atomically."""
    write_atomically(path, "".join(row.model_dump_json() + "\n" for row in rows).encode("utf-8"))
