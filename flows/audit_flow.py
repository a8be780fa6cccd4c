"""The Prefect flow ``audit``: read, check shards, conclude, publish. One Prefect task carries one shard."""

from pathlib import Path
from typing import Any

import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner

from agenthard.flows.audit_outputs import AuditOutcome, publish
from agenthard.flows.audit_plan import AuditInput, AuditPlan, make_plan
from agenthard.flows.prefect_setup import stop_server_with_us
from agenthard.flows.progress import current
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.shard_worker import WorkerPool


@task(name="read", task_run_name="read {given.settings.source}", cache_policy=NO_CACHE)
def read_input(given: AuditInput) -> AuditPlan:
    """Read tasks and runs, and split them into shards."""
    return make_plan(given, RunFolder(Path(given.settings.out)))


@task(name="check-shard", task_run_name="check shard {number}", retries=2, retry_delay_seconds=1, cache_policy=NO_CACHE)
def check_one_shard(pool: WorkerPool, number: int, shard_size: int) -> int:
    """Check one shard."""
    checked = pool.run(number, shard_size)
    current().advance(checked)
    return checked


@task(name="publish", cache_policy=NO_CACHE)
def publish_results(given: AuditInput, plan: AuditPlan) -> AuditOutcome:
    """Conclude, decide, and write everything that a reader gets."""
    return publish(given, plan)


@flow(name="audit", flow_run_name="audit {given.settings.source}", validate_parameters=False)
def audit_flow(given: AuditInput) -> AuditOutcome:
    """Audit a benchmark into a run folder. Finished shards of an interrupted run are not repeated."""
    current().start(f"reading {given.settings.source}")
    plan = read_input(given)
    current().start("checking tasks", total=len(plan.task_ids))
    pool = WorkerPool(given)
    try:
        futures = [check_one_shard.submit(pool, number, plan.shard_size) for number in range(plan.shards)]
        for future in futures:
            future.result()
    finally:
        pool.close()
    current().start("writing the report")
    return publish_results(given, plan)


def run_audit(given: AuditInput) -> AuditOutcome:
    """Run the flow with as many shards at a time as there are workers.

    Raises:
        RunFolderError: Another process works in the run folder, or it holds something else.
    """
    runner: Any = ThreadPoolTaskRunner(max_workers=given.settings.workers)
    stop_server_with_us()
    with RunFolder(Path(given.settings.out)).hold():
        outcome: AuditOutcome = audit_flow.with_options(task_runner=runner)(given)
    return outcome
