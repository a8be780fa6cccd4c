"""The run folder: where an audit keeps its work, its tables, its split and its report.

Layout: ``manifest.json``, ``tables/``, ``findings.json``, ``results.sarif``, ``report.html``, ``summary.md``,
``quarantine.jsonl``, ``split/``, and ``work/`` (what a rerun continues from; safe to delete once the audit is done).
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from audit.shards import ShardResult
from taxonomy.trajectory import Trajectory


class RunFolderError(Exception):
    """The folder cannot be used for this run; the message says what to do."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves either the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def write_json(path: Path, value: Any) -> None:
    """Write JSON with sorted keys, atomically."""
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    write_atomically(path, text.encode("utf-8") + b"\n")


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.tables = root / "tables"
        self.split = root / "split"
        self._marker = self.work / "key"

    def claim(self, key: str) -> bool:
        """Take the folder for the run named by ``key``.

        Returns:
            True when it already holds work of the same run, which is then continued.

        Raises:
            RunFolderError: when it holds another run, or files that are no run.
        """
        if self._marker.is_file():
            if not self.holds_other_than(key):
                return True
            raise RunFolderError(
                f"{self.root}: holds an audit of other input, or one with other options, other installed code of the "
                "benchmark or another version of AgentHard; give another folder with --out, or delete this one"
            )
        if self.root.exists() and any(self.root.iterdir()):
            raise RunFolderError(f"{self.root}: not empty and no run folder; give another folder with --out")
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

    def runs_file(self, number: int) -> Path:
        """Path of the runs that belong to the tasks of one shard."""
        return self.work / "runs" / f"{number:05d}.jsonl"

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
        return sorted(runs, key=lambda run: (run.task_id, run.protocol or "", run.model, run.trial, run.id))

    def all_runs(self, count: int) -> Iterator[Trajectory]:
        """Stream the runs of all shards, holding one shard at a time."""
        for number in range(count):
            yield from self.runs(number)


class RunSpool:
    """Distributes runs over the shards of their tasks as they are read, without holding them in memory."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._buffers: dict[int, list[str]] = {}
        self._size = 0

    def add(self, shard: int, run: Trajectory) -> None:
        """Append one run."""
        line = run.model_dump_json(exclude_defaults=True)
        self._buffers.setdefault(shard, []).append(line)
        self._size += len(line)
        if self._size > 1 << 25:
            self.flush()

    def flush(self) -> None:
        """Write what is buffered."""
        for shard, lines in self._buffers.items():
            path = self._folder.runs_file(shard)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as stream:
                stream.writelines(line + "\n" for line in lines)
        self._buffers, self._size = {}, 0


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write pydantic records as JSON Lines, atomically."""
    write_atomically(path, "".join(row.model_dump_json() + "\n" for row in rows).encode("utf-8"))
