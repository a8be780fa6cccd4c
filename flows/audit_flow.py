"""The Prefect flow ``audit``: read, check shards, conclude, publish. One Prefect task carries one shard."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner

from agenthard.flows.audit_outputs import AuditOutcome, publish
from agenthard.flows.audit_plan import AuditPlan, AuditSettings, make_plan, run_key
from agenthard.flows.prefect_setup import stop_server_with_us
from agenthard.flows.progress import current
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.shard_worker import prepare, run_shard


class WorkerPool:
    """Processes that check shards; with one worker the shard is checked in this process.

    A pool whose process died is replaced, so that Prefect's retry of the shard finds a working one.
    """

    def __init__(self, settings: AuditSettings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None

    def run(self, number: int, shard_size: int) -> int:
        """Check one shard and return its number of tasks."""
        if self._settings.workers == 1:
            return run_shard(self._settings, number, shard_size)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._settings.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=prepare,
                initargs=(self._settings,),
            )
        pool = self._pool
        try:
            return pool.submit(run_shard, self._settings, number, shard_size).result()
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


@task(name="read", task_run_name="read {settings.source}", cache_policy=NO_CACHE)
def read_input(settings: AuditSettings) -> AuditPlan:
    """Read tasks and runs, and split them into shards."""
    folder = RunFolder(Path(settings.out))
    source = settings.open()
    version = source.version()
    key = run_key(settings, version)
    folder.claim(key)
    return make_plan(settings, source, version, key, folder)


@task(name="check-shard", task_run_name="check shard {number}", retries=2, retry_delay_seconds=1, cache_policy=NO_CACHE)
def check_one_shard(pool: WorkerPool, number: int, shard_size: int) -> int:
    """Check one shard."""
    checked = pool.run(number, shard_size)
    current().advance(checked)
    return checked


@task(name="publish", cache_policy=NO_CACHE)
def publish_results(settings: AuditSettings, plan: AuditPlan) -> AuditOutcome:
    """Conclude, decide, and write everything that a reader gets."""
    return publish(settings, plan)


@flow(name="audit", flow_run_name="audit {settings.source}", validate_parameters=False)
def audit_flow(settings: AuditSettings) -> AuditOutcome:
    """Audit a benchmark into a run folder. Finished shards of an interrupted run are not repeated."""
    current().start(f"reading {settings.source}")
    plan = read_input(settings)
    current().start("checking tasks", total=len(plan.task_ids))
    pool = WorkerPool(settings)
    try:
        futures = [check_one_shard.submit(pool, number, plan.shard_size) for number in range(plan.shards)]
        for future in futures:
            future.result()
    finally:
        pool.close()
    current().start("writing the report")
    return publish_results(settings, plan)


def run_audit(settings: AuditSettings) -> AuditOutcome:
    """Run the flow with as many shards at a time as there are workers.

    Raises:
        RunFolderError: Another process works in the run folder, or it holds something else.
    """
    runner: Any = ThreadPoolTaskRunner(max_workers=settings.workers)
    stop_server_with_us()
    with RunFolder(Path(settings.out)).hold():
        outcome: AuditOutcome = audit_flow.with_options(task_runner=runner)(settings)
    return outcome
