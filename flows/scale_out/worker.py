"""What a worker does: check shards whose input lies in the store, and write their results into it."""

import atexit
from collections.abc import Sequence

from agenthard.flows.scale_out.check_process import CheckProcess
from agenthard.flows.scale_out.shard_check import check_stored_shard
from agenthard.flows.scale_out.shard_job import ShardName
from agenthard.flows.scale_out.work_store import WorkStore

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
