"""The flow ``audit``: read, check shards, conclude, publish. One stage carries one shard."""

from pathlib import Path

from agenthard.flows.audit_outputs import AuditOutcome, publish
from agenthard.flows.audit_plan import AuditInput, AuditPlan, make_plan
from agenthard.flows.progress import current
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.shard_worker import WorkerPool
from agenthard.flows.stages import run_flow, stage


@stage("read", "read {given.settings.source}")
def read_input(given: AuditInput) -> AuditPlan:
    """Read tasks and runs, and split them into shards."""
    return make_plan(given, RunFolder(Path(given.settings.out)))


@stage("check-shard", "check shard {number}")
def check_one_shard(pool: WorkerPool, number: int, shard_size: int) -> int:
    """Check one shard."""
    checked = pool.run(number, shard_size)
    current().advance(checked)
    return checked


@stage("publish")
def publish_results(given: AuditInput, plan: AuditPlan) -> AuditOutcome:
    """Conclude, decide, and write everything that a reader gets."""
    return publish(given, plan)


def audit(given: AuditInput) -> AuditOutcome:
    """Audit a benchmark into a run folder. Finished shards of an interrupted run are not repeated."""
    current().start(f"reading {given.settings.source}")
    plan = read_input(given)
    current().start("checking tasks", total=len(plan.task_ids))
    pool = WorkerPool(given, processes=min(given.settings.workers, plan.shards))
    try:
        if pool.processes <= 1:
            for number in range(plan.shards):
                check_one_shard(pool, number, plan.shard_size)
        else:
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
    settings = given.settings
    with RunFolder(Path(settings.out)).hold():
        return run_flow(audit, "audit", f"audit {settings.source}", settings.workers, given)
