"""What a worker does: check shards whose input lies in the store, and write their results into it."""

import atexit
from collections.abc import Sequence
from functools import lru_cache

from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.context import Execution
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.scale_out.check_process import CheckProcess
from agenthard.flows.scale_out.shard_job import ShardName, read_job
from agenthard.flows.scale_out.stored_result import pack
from agenthard.flows.scale_out.surroundings import require_same
from agenthard.flows.scale_out.work_store import WorkStore
from agenthard.flows.shard_worker import check_tasks

_idle: list[CheckProcess] = []
"""Processes without work."""


def check_shards(store: str, audit: str, numbers: Sequence[int]) -> int:
    """Check some shards one after another; those whose result is there are not checked again.

    Args:
        store: URL of the store.
        audit: folder of the audit in it.
        numbers: the shards.

    Returns:
        How many shards there are.

    Raises:
        AgentHardError: A shard could not be checked; results of others are in the store.
    """
    here = WorkStore(store)
    for number in numbers:
        if not here.has(ShardName(audit, number).result):
            if here.is_memory:
                check_stored_shard(store, audit, number)
            else:
                _check_apart(store, audit, number)
    return len(numbers)


def _check_apart(store: str, audit: str, number: int) -> None:
    """Check a shard in another process of this machine; a thread takes one that is idle, or starts one."""
    try:
        process = _idle.pop()
    except IndexError:
        process = CheckProcess()
    try:
        process.check(store, audit, number)
    except BaseException:
        process.close()
        raise
    _idle.append(process)


def close_processes() -> None:
    """End the processes that check for this one and have nothing to do."""
    while _idle:
        _idle.pop().close()


atexit.register(close_processes)


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
