"""The run folder: where an audit keeps its work, its tables, its split and its report.

Layout: ``manifest.json``, ``tables/``, ``findings.json``, ``results.sarif``, ``report.html``, ``summary.md``,
``quarantine.jsonl``, ``split/``, and ``work/`` (what a rerun continues from; safe to delete once the audit is done).
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from agenthard.audit.shards import ShardResult
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import naming, sync, write_atomically, write_text
from agenthard.taxonomy.trajectory import Trajectory


class RunFolderError(AgentHardError):
    """The folder cannot be used for this run; the message says what to do."""

    code = "AH802"


def write_json(path: Path, value: Any) -> None:
    """Write JSON with sorted keys, atomically."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def run_order(run: Trajectory) -> tuple[str, str, str, int, str]:
    """Return what the runs of a shard are sorted by."""
    return run.task_id, run.protocol or "", run.model, run.trial, run.id


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.tables = root / "tables"
        self.split = root / "split"
        self._marker = self.work / "key"
        self._lock = self.work / "lock"
        self._runs = self.work / "runs"

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
            self._acquire(lock, fcntl.LOCK_EX)
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            try:
                with naming(self.root):
                    yield
            finally:
                # So that equal runs leave equal files. A full disk does not keep a file from shrinking.
                lock.truncate(0)

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
            self._acquire(lock, fcntl.LOCK_SH)
            yield

    def _acquire(self, lock: IO[str], mode: int) -> None:
        try:
            fcntl.flock(lock, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read(20).strip()
            # A process that was killed leaves its number behind; who locks the folder now only reads from it.
            who = f"(pid {holder})" if holder and Path("/proc", holder).exists() else "(it reads from it)"
            raise RunFolderError(
                f"{self.root}: another agenthard process {who} is working in this folder; wait until it has ended, "
                "or give another folder with --out"
            ) from None

    def _has_files(self) -> bool:
        """Tell whether there is more than what a process leaves that was killed right after its start."""
        if self.root.exists() and not self.root.is_dir():
            return True
        files = (path for path in self.root.rglob("*") if not path.is_dir())
        return any(path != self._lock and path.suffix != ".partial" for path in files)

    def claim(self, key: str) -> bool:
        """Take the folder for the run named by ``key``.

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
        return self.work / "shards" / f"{number:05d}.json"

    def costs_file(self, number: int) -> Path:
        """Path of what each check took on a shard: ``{"tasks": n, "seconds": {check: seconds}}``."""
        return self.work / "costs" / f"{number:05d}.json"

    def isolation_file(self, number: int) -> Path:
        """Path of the isolations under which benchmark code ran for a shard: a list of texts, empty when none ran."""
        return self.work / "isolation" / f"{number:05d}.json"

    def isolation(self, count: int) -> str:
        """Say under which isolation benchmark code ran for all shards."""
        files = [path for path in map(self.isolation_file, range(count)) if path.is_file()]
        used = {text for path in files for text in json.loads(path.read_bytes())}
        return " | ".join(sorted(used)) or "nothing executed"

    def runs_file(self, number: int) -> Path:
        """Path of the runs that belong to the tasks of one shard."""
        return self._runs / f"{number:05d}.jsonl"

    def shard_results(self, count: int) -> list[ShardResult]:
        """Read the results of all shards, in order."""
        return [ShardResult.model_validate_json(self.shard_file(i).read_bytes()) for i in range(count)]

    def runs(self, number: int) -> list[Trajectory]:
        """Read the runs of one shard, in an order that does not depend on how they were read."""
        path = self.runs_file(number)
        if not path.is_file():
            return []
        with path.open("rb") as stream:
            runs = [Trajectory.model_validate_json(line) for line in stream]
        return sorted(runs, key=run_order)

    def all_runs(self, count: int) -> Iterator[Trajectory]:
        """Stream the runs of all shards, holding one shard at a time."""
        for number in range(count):
            yield from self.runs(number)


class RunSpool:
    """Distributes runs over the shards of their tasks as they are read, without holding them in memory.

    They are collected in a temporary folder and renamed when all are read, so that what an interrupted process has
    spooled never counts.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._target = folder.runs_file(0).parent
        self._partial = self._target.with_name(f".{self._target.name}.partial")
        for leftover in (self._target, self._partial):
            shutil.rmtree(leftover, ignore_errors=True)
        self._buffers: dict[int, list[str]] = {}
        self._size = 0

    def add(self, shard: int, run: Trajectory) -> None:
        """Append one run."""
        line = run.model_dump_json(exclude_defaults=True)
        self._buffers.setdefault(shard, []).append(line)
        self._size += len(line)
        if self._size > 1 << 25:
            self._flush()

    def finish(self) -> None:
        """Write what is left, and put all files in their place."""
        self._flush()
        if self._partial.is_dir():
            for path in self._partial.iterdir():
                sync(path)
            sync(self._partial)
            self._partial.replace(self._target)
            sync(self._target.parent)

    def _flush(self) -> None:
        for shard, lines in self._buffers.items():
            path = self._partial / f"{shard:05d}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            with naming(path), path.open("a", encoding="utf-8") as stream:
                stream.writelines(line + "\n" for line in lines)
        self._buffers, self._size = {}, 0


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write pydantic records as JSON Lines, atomically."""
    write_atomically(path, "".join(row.model_dump_json() + "\n" for row in rows).encode("utf-8"))
