"""Checking shards: in this process or in others, tasks and runs come from files, and the result goes to a file."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.shown_replay import ShownReplay, shown_replays
from agenthard.audit.shard_file import write_shard_file
from agenthard.audit.shards import ShardResult, check_shard
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.result_store import ResultStore, ReusedShard, TaskKeys, check_reusing
from agenthard.flows.run_folder import RunFolder, write_json, write_jsonl
from agenthard.flows.scale_out.runner import Runner
from agenthard.taxonomy.system import follow_parent
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

if TYPE_CHECKING:  # 2 MB that only several processes need
    from concurrent.futures import ProcessPoolExecutor

LONG_READING = 0.2
"""Seconds of reading after which a benchmark is long enough for other processes to start already."""
_ATTEMPTS = 3
"""Times that a shard is checked whose process dies: memory may be short for a moment."""


def run_shard(settings: AuditSettings, number: int, tasks: Sequence[AgentTask]) -> int:
    """Check a shard unless its result is there already.

    Args:
        settings: the audit.
        number: number of the shard.
        tasks: its tasks.

    Returns:
        How many tasks the shard has.
    """
    folder = RunFolder(Path(settings.out))
    if not folder.shard_file(number).is_file():
        execution, runs, checks = _execution(settings.execution()), folder.runs(number), settings.checks()
        if settings.reuse:
            checked = _check_changed(settings.reuse, folder, execution, tasks, runs, checks)
        else:
            checked = check_tasks(execution, tasks, runs, checks)
        write_shard(folder, number, checked)
    return len(tasks)


def _check_changed(
    reuse: str,
    folder: RunFolder,
    execution: Execution,
    tasks: Sequence[AgentTask],
    runs: Iterable[Trajectory],
    checks: Sequence[Detector],
) -> "CheckedShard":
    """Check the tasks of a shard that have changed since the audits whose results are in a file."""
    with ResultStore(Path(reuse)) as store:
        keys = TaskKeys(folder.checks_key.read_text(encoding="ascii"))
        return checked_reused(check_reusing(store, keys, execution, tasks, by_task(runs), checks), tasks, checks)


def checked_reused(shard: ReusedShard, tasks: Sequence[AgentTask], checks: Sequence[Detector]) -> "CheckedShard":
    """Put a shard together from the results of its tasks."""
    isolations = sorted({text for each in shard.results for text in each.isolations})
    replays = tuple(replay for each in shard.results for replay in each.replays)
    return CheckedShard(len(tasks), shard.merged(tasks, checks), tuple(isolations), replays, shard.reused)


def by_task(runs: Iterable[Trajectory]) -> dict[str, list[Trajectory]]:
    """Group runs by the id of their task."""
    found: dict[str, list[Trajectory]] = {}
    for run in runs:
        found.setdefault(run.task_id, []).append(run)
    return found


@dataclass(frozen=True)
class CheckedShard:
    """A checked shard."""

    tasks: int
    """How many tasks it has."""
    result: ShardResult
    """What the checks found."""
    isolations: tuple[str, ...]
    """Isolations under which benchmark code was executed."""
    replays: tuple[ShownReplay, ...] = ()
    """Replays of ground truths that checks have made."""
    reused: int | None = None
    """Tasks that were not checked again; None where no earlier results were looked for."""


def check_tasks(
    execution: Execution, tasks: Sequence[AgentTask], runs: Iterable[Trajectory], checks: Sequence[Detector]
) -> CheckedShard:
    """Check a shard in this process.

    Args:
        execution: executes the tasks.
        tasks: the shard.
        runs: runs of its tasks, in order.
        checks: all checks.
    """
    execution.isolations_used()
    result = check_shard(tasks, by_task(runs), checks, execution)
    return CheckedShard(len(tasks), result, execution.isolations_used(), shown_replays(execution, tasks))


def write_shard(folder: RunFolder, number: int, checked: CheckedShard) -> None:
    """Write a checked shard; the result comes last, since it marks the shard as finished."""
    write_json(folder.isolation_file(number), checked.isolations)
    if checked.replays:
        write_jsonl(folder.replays_file(number), checked.replays)
    if checked.reused is not None:
        write_json(folder.reused_file(number), {"tasks": checked.tasks, "reused": checked.reused})
    result = checked.result
    costs = {"tasks": checked.tasks, "seconds": result.seconds, "executed": result.executed}
    write_json(folder.costs_file(number), costs)
    write_shard_file(folder.shard_file(number), result)


@lru_cache(maxsize=4)
def _execution(wanted: Execution) -> Execution:
    """Keep an execution for all shards of this process, with the workers that it has started."""
    return wanted


def _load_checks(settings: AuditSettings) -> None:
    settings.checks()


@contextmanager
def worker_pool(settings: AuditSettings) -> Iterator["WorkerPool"]:
    """Give the processes that check shards next to this one, and stop them at the end.

    Where reading the benchmark takes long, they start meanwhile.
    """
    pool = WorkerPool(settings, settings.workers - 1 if settings.scale_out.runner is Runner.LOCAL else 0)
    start = threading.Timer(LONG_READING, pool.start)
    start.start()
    try:
        yield pool
    finally:
        start.cancel()
        pool.close()
        start.join()  # Python must not end while a pool is being made: its semaphores would be left over


class WorkerPool:
    """Processes that check shards next to this one. Each gets the tasks of its shard and never reads the benchmark.

    A shard whose process died is checked again in a new one, three times at most.
    """

    def __init__(self, settings: AuditSettings, processes: int) -> None:
        """Prepare; no process is started yet.

        Args:
            settings: the audit.
            processes: how many; fewer may turn out to have work before the first is started.
        """
        self._settings = settings
        self.processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._closed = False
        self._lock = threading.Lock()

    def run(self, number: int, tasks: Sequence[AgentTask]) -> int:
        """Check a shard in a process of the pool and return its number of tasks.

        Raises:
            BrokenExecutor: Its process died three times, or the pool is closed.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            pool = self._open()
            try:
                return pool.submit(run_shard, self._settings, number, tasks).result()
            except BrokenExecutor:
                with self._lock:
                    if self._closed or attempt == _ATTEMPTS:
                        raise
                    if self._pool is pool:
                        self._pool = None
        raise AssertionError("unreachable: the last attempt returns or raises")

    def start(self) -> None:
        """Start the processes and let them load the checks, before there is a shard."""
        with suppress(BrokenExecutor, RuntimeError):  # closed meanwhile
            for _ in range(self.processes):
                self._open().submit(_load_checks, self._settings)

    def close(self) -> None:
        """Stop the processes at once; finished shards are on disk."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()

    def _open(self) -> "ProcessPoolExecutor":
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        with self._lock:
            if self._closed:
                raise BrokenExecutor("the audit was interrupted")
            if self._pool is None:
                spawn = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self.processes, mp_context=spawn, initializer=follow_parent)
            return self._pool
