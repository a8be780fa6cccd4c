"""Results of checks by content: a later audit checks only the tasks whose content, runs or checks have changed.

The key of a result is a hash of everything that it depends on: the task with its tools, policy and state, its runs, and
the code that reads and checks it (`agenthard.flows.resume_key`). Where the task is in its file is not part of it. The
results of checks that compare tasks are observations, which are kept in the same way; every audit compares all of them
again.
"""

import hashlib
import io
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.shown_replay import ShownReplay, shown_replays
from agenthard.audit.shard_file import read_shard_file, shard_bytes
from agenthard.audit.shard_merge import merge_results
from agenthard.audit.shards import ShardResult, check_each
from agenthard.flows.errors import InfrastructureError
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec
from agenthard.taxonomy.trajectory import Trajectory

BUSY_SECONDS = 60.0
"""How long a process waits for another one that writes into the same store."""
_BATCH = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, task_id TEXT NOT NULL, result BLOB NOT NULL, isolations TEXT NOT NULL, replays TEXT NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class TaskResult:
    """What the checks found on one task."""

    result: ShardResult
    """Coverage, hits and observations."""
    isolations: tuple[str, ...]
    """Isolations under which benchmark code was executed."""
    replays: tuple[ShownReplay, ...]
    """The replay of its ground truth, where a check has made one."""


@dataclass(frozen=True)
class ReusedShard:
    """A shard of which some tasks had results."""

    results: Sequence[TaskResult]
    """One per task, in order."""
    reused: int
    """Tasks that were not checked again."""

    def merged(self, tasks: Sequence[AgentTask], checks: Sequence[Detector]) -> ShardResult:
        """Return the result of the whole shard, equal to the one without a store."""
        return merge_results([task.id for task in tasks], [each.result for each in self.results], checks)


class ResultStore:
    """Results in one SQLite file, which several processes may use."""

    def __init__(self, path: Path) -> None:
        """Open a store, or begin one.

        Raises:
            InfrastructureError: the file is not a store, or cannot be written.
        """
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            with self._connection:
                self._connection.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise InfrastructureError(f"{path}: results of earlier audits cannot be used here: {error}") from error

    def __enter__(self) -> "ResultStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __len__(self) -> int:
        with self._failing("read"), closing(self._connection.execute("SELECT count(*) FROM results")) as rows:
            return int(rows.fetchone()[0])

    def get(self, keys: Sequence[str]) -> dict[str, TaskResult]:
        """Return the results that are there, by key. A damaged one counts as absent."""
        found: dict[str, TaskResult] = {}
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, result, isolations, replays FROM results WHERE key IN ({marks})"
            with self._failing("read"):
                rows = self._connection.execute(query, part).fetchall()
            for key, *columns in rows:
                result = _read(*columns)
                if result is not None:
                    found[key] = result
        return found

    def add(self, results: Iterable[tuple[str, str, TaskResult]]) -> None:
        """Keep results, given as key, task id and result; equal keys have equal results, so the first one stays."""
        rows = [
            (
                key,
                task_id,
                shard_bytes(each.result),
                json.dumps(each.isolations),
                json.dumps([replay.model_dump(mode="json") for replay in each.replays]),
            )
            for key, task_id, each in results
        ]
        with self._failing("written"), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)", rows)

    def _failing(self, what: str) -> "_Failing":
        return _Failing(self._path, what)


def count_results(path: Path) -> int | None:
    """Return how many tasks have results in a file; None where it is not a file of results. It is not changed."""
    try:
        with path.open("rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                return None
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            names = [row[1] for row in connection.execute("PRAGMA table_info(results)")]
            if names != ["key", "task_id", "result", "isolations", "replays"]:
                return None
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    except (OSError, sqlite3.Error):
        return None


@dataclass(frozen=True)
class _Failing:
    """Turns errors of SQLite into ours."""

    path: Path
    what: str

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, sqlite3.Error):
            reason = f"{self.path}: results of earlier audits cannot be {self.what}: {error}"
            raise InfrastructureError(reason) from error


def _read(result: bytes, isolations: str, replays: str) -> TaskResult | None:
    try:
        return TaskResult(
            read_shard_file(io.BytesIO(result)),
            tuple(map(str, json.loads(isolations))),
            tuple(map(ShownReplay.model_validate, json.loads(replays))),
        )
    except Exception:  # noqa: BLE001 - whatever is wrong with it, the task is checked again
        return None


class TaskKeys:
    """Hashes of all that the results of tasks depend on."""

    def __init__(self, code: str) -> None:
        """Begin.

        Args:
            code: hash of the code and the options of the checks (`AuditInput.checks_key`).
        """
        self._code = code
        self._environments: WeakValueDictionary[int, EnvironmentSpec] = WeakValueDictionary()
        self._hashes: dict[int, bytes] = {}

    def key(self, task: AgentTask, runs: Sequence[Trajectory]) -> str:
        """Return the key of a task with its runs: 32 hexadecimal digits of a SHA-256."""
        total = hashlib.sha256(self._code.encode())
        total.update(_json(task, {"environment", "origins"}))
        total.update(self._environment(task.environment))
        for run in runs:
            total.update(_json(run, set()))
        return total.hexdigest()[:32]

    def _environment(self, environment: EnvironmentSpec) -> bytes:
        identity = id(environment)
        if self._environments.get(identity) is not environment:
            places = {"__all__": {"origin"}}
            self._hashes[identity] = _json(environment, {"tools": places, "user_tools": places})
            self._environments[identity] = environment
        return self._hashes[identity]


def _json(record: AgentTask | EnvironmentSpec | Trajectory, leave_out: Any) -> bytes:
    """Hash a record; sets have no order, so their items are sorted."""
    data = record.model_dump(mode="json", exclude=leave_out)
    if isinstance(record, AgentTask):
        data["traits"] = sorted(data["traits"])
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=True).encode()).digest()


def check_reusing(
    store: ResultStore,
    keys: TaskKeys,
    execution: Execution,
    tasks: Sequence[AgentTask],
    runs: Mapping[str, Sequence[Trajectory]],
    checks: Sequence[Detector],
) -> ReusedShard:
    """Check the tasks of a shard that have no result in the store, and keep their results.

    Args:
        store: results of earlier audits.
        keys: makes the keys.
        execution: executes the tasks.
        tasks: the shard.
        runs: runs of its tasks, by task id.
        checks: all checks.
    """
    wanted = {task.id: keys.key(task, runs.get(task.id, ())) for task in tasks}
    found = store.get(list(wanted.values()))
    missing = [task for task in tasks if wanted[task.id] not in found]
    results = check_apart(execution, missing, runs, checks)
    made = [(wanted[task.id], task.id, result) for task, result in zip(missing, results, strict=True)]
    store.add(made)
    found.update((key, result) for key, _, result in made)
    return ReusedShard([found[wanted[task.id]] for task in tasks], len(tasks) - len(missing))


def check_apart(
    execution: Execution,
    tasks: Sequence[AgentTask],
    runs: Mapping[str, Sequence[Trajectory]],
    checks: Sequence[Detector],
) -> list[TaskResult]:
    """Check tasks, and return a result for each; the arguments are those of `check_reusing`."""
    execution.isolations_used()
    made = list[TaskResult]()
    for task, result in zip(tasks, check_each(tasks, runs, checks, execution), strict=True):
        made.append(TaskResult(result, execution.isolations_used(), shown_replays(execution, [task])))
    return made
