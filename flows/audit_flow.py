"""The flow ``audit``: read, check shards, conclude, publish. One stage carries one shard."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from threading import Semaphore

from agenthard.flows.audit_outputs import AuditOutcome, publish
from agenthard.flows.audit_plan import AuditInput, AuditPlan, make_plan
from agenthard.flows.profile import timed
from agenthard.flows.progress import current
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.scale_out.runner import Runner
from agenthard.flows.shard_worker import WorkerPool, run_shard, worker_pool
from agenthard.flows.stages import Submitted, run_flow, stage

QUEUED = 2
"""Shards that each other process has at a time: the one that it checks, and the next."""


@stage("read", "read {given.settings.source}")
def read_input(given: AuditInput) -> AuditPlan:
    """Read tasks and runs, and split them into shards."""
    return make_plan(given, RunFolder(Path(given.settings.out)))


class ShardQueue:
    """The shards of an audit, checked by this process and by others: together as many as there are workers."""

    # Slots keep Prefect from looking through the tasks.
    __slots__ = ("_given", "_plan", "_pool", "_room", "others")

    def __init__(self, given: AuditInput, plan: AuditPlan, pool: WorkerPool) -> None:
        self._given, self._plan, self._pool = given, plan, pool
        self.others = pool.processes = max(0, min(given.settings.workers, plan.shards) - 1)
        """Processes in addition to this one."""
        self._room = Semaphore(QUEUED * self.others)

    def check_all(self) -> None:
        """Check all shards."""
        submitted = list[Submitted[int]]()
        with closing(self._table()) as table:
            for number in range(self._plan.shards):
                if self._room.acquire(blocking=False):
                    submitted.append(check_one_shard.submit(self, number, here=False))
                else:
                    next(table, None)
                    check_one_shard(self, number, here=True)
            for _ in table:
                pass
        for shard in submitted:
            shard.result()

    def _table(self) -> Generator[None, None, None]:
        """Write the table of tasks in steps where other processes check meanwhile; alone, nothing is gained."""
        path = RunFolder(Path(self._given.settings.out)).tasks_table
        path.unlink(missing_ok=True)  # of an interrupted audit, perhaps by another release
        if self.others:
            from agenthard.reports.tables import write_tasks_table

            yield from write_tasks_table(self._given.tasks, path)

    def check(self, number: int, *, here: bool) -> int:
        """Check one shard, in this process or in another; return how many tasks it has."""
        tasks = self._given.tasks[self._plan.shard(number)]
        if here:
            return run_shard(self._given.settings, number, tasks)
        try:
            return self._pool.run(number, tasks)
        finally:
            self._room.release()


@stage("check-shard", "check shard {number}")
def check_one_shard(queue: ShardQueue, number: int, here: bool) -> int:
    """Check one shard."""
    checked = queue.check(number, here=here)
    current().advance(checked)
    return checked


@stage("publish")
def publish_results(given: AuditInput, plan: AuditPlan) -> AuditOutcome:
    """Conclude, decide, and write everything that a reader gets."""
    return publish(given, plan)


def check_all_shards(given: AuditInput, plan: AuditPlan, pool: WorkerPool) -> None:
    """Check all shards, here or where the settings say."""
    if given.settings.scale_out.runner is Runner.LOCAL:
        ShardQueue(given, plan, pool).check_all()
    else:
        from agenthard.flows.scale_out.dispatch import check_on_workers

        check_on_workers(given, plan)


def audit(given: AuditInput) -> AuditOutcome:
    """Audit a benchmark into a run folder. Finished shards of an interrupted run are not repeated."""
    current().start(f"reading {given.settings.source}")
    with worker_pool(given.settings) as pool:
        with timed("reading"):
            plan = read_input(given)
        current().start("checking tasks", total=len(plan.task_ids))
        with timed("checking"):
            check_all_shards(given, plan, pool)
    current().start("concluding and writing the report")
    return publish_results(given, plan)


def run_audit(given: AuditInput) -> AuditOutcome:
    """Run the flow with as many shards at a time as there are workers.

    Raises:
        RunFolderError: Another process works in the run folder, or it holds something else.
    """
    settings = given.settings
    settings.scale_out.check()
    with RunFolder(Path(settings.out)).hold():
        if settings.scale_out.runner is Runner.LOCAL:
            return run_flow(audit, "audit", f"audit {settings.source}", max(1, QUEUED * (settings.workers - 1)), given)
        from agenthard.flows.scale_out.runners import run_on_workers

        names = ("audit", f"audit {settings.source}")
        return run_on_workers(lambda: audit(given), settings.scale_out, settings.workers, *names)
