"""Checking one shard whose input lies in the store, in this process."""

from functools import lru_cache

from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.context import Execution
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.result_store import check_apart
from agenthard.flows.scale_out.reused import pack_apart
from agenthard.flows.scale_out.shard_job import ShardName, read_job
from agenthard.flows.scale_out.stored_result import pack
from agenthard.flows.scale_out.surroundings import require_same
from agenthard.flows.scale_out.work_store import WorkStore
from agenthard.flows.shard_worker import by_task, check_tasks


def check_stored_shard(store: str, audit: str, number: int) -> int:
    """Check one shard in this process and write its result; return how many tasks it has.

    Raises:
        StoreError: The store cannot be used, or the input is damaged.
        DifferentWorkerError: Something is installed in another version here.
    """
    name, here = ShardName(audit, number), WorkStore(store)
    job = read_job(here, name)
    settings = job.settings
    require_same(job.surroundings, settings)
    if job.apart:
        results = check_apart(_execution(settings), job.tasks, by_task(job.runs), _checks(settings))
        here.put(name.result, pack_apart(name, results))
        return len(results)
    checked = check_tasks(_execution(settings), job.tasks, job.runs, _checks(settings))
    here.put(name.result, pack(name, checked))
    return checked.tasks


@lru_cache(maxsize=4)
def _execution(settings: AuditSettings) -> Execution:
    """Keep an execution for all shards of this process, with the workers that it has started."""
    return settings.execution()


@lru_cache(maxsize=4)
def _checks(settings: AuditSettings) -> tuple[Detector, ...]:
    return settings.checks()
