"""Checking shards: in this process or in others, tasks and runs come from files, and the result goes to a file."""

import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.context import Execution
from agenthard.audit.shards import check_shard
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.run_folder import RunFolder, write_json
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.trajectory import Trajectory


def run_shard(given: AuditInput, number: int, shard_size: int) -> int:
    """Check shard ``number`` unless its result is there already.

    Returns:
        How many tasks the shard has.
    """
    settings = given.settings
    execution = _execution(settings.execution())
    execution.isolations_used()
    folder = RunFolder(Path(settings.out))
    target = folder.shard_file(number)
    shard = given.tasks[number * shard_size : (number + 1) * shard_size]
    if not target.is_file():
        runs: dict[str, list[Trajectory]] = {}
        for run in folder.runs(number):
            runs.setdefault(run.task_id, []).append(run)
        result = check_shard(shard, runs, detectors(experimental=settings.experimental), execution)
        write_json(folder.isolation_file(number), execution.isolations_used())
        write_json(folder.costs_file(number), {"tasks": len(shard), "seconds": result.seconds})
        write_atomically(target, result.model_dump_json(exclude={"seconds"}).encode("utf-8"))
    return len(shard)


@lru_cache(maxsize=4)
def _execution(wanted: Execution) -> Execution:
    """Keep an execution for all shards of this process, with the workers that it has started."""
    return wanted


class WorkerPool:
    """Processes that check shards; with one worker the shard is checked in this process.

    A pool whose process died is replaced, so that Prefect's retry of the shard finds a working one.
    """

    def __init__(self, given: AuditInput) -> None:
        self._given = given
        self._pool: ProcessPoolExecutor | None = None

    def run(self, number: int, shard_size: int) -> int:
        """Check one shard and return its number of tasks."""
        settings = self._given.settings
        if settings.workers == 1:
            return run_shard(self._given, number, shard_size)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                settings.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_prepare,
                initargs=(settings,),
            )
        pool = self._pool
        try:
            return pool.submit(_run_prepared, number, shard_size).result()
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
            raise

    def close(self) -> None:
        """Stop the processes at once; finished shards are on disk."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()


_prepared: AuditInput
"""In a process of a pool: the benchmark that it checks."""


def _prepare(settings: AuditSettings) -> None:
    """Start a process of a pool: leave Ctrl-C to the parent, and open the benchmark."""
    global _prepared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepared = AuditInput(settings)


def _run_prepared(number: int, shard_size: int) -> int:
    return run_shard(_prepared, number, shard_size)
