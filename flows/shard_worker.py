"""Checking one shard in whatever process: reads the tasks and runs from files, writes the result to a file."""

import signal
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.checkout import use_checkout
from agenthard.audit.execution.workers import allow_weak_isolation, isolations_used
from agenthard.audit.shards import ShardResult, check_shard
from agenthard.flows.audit_plan import AuditSettings, load_tasks
from agenthard.flows.run_folder import RunFolder, write_json
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


def prepare(settings: AuditSettings) -> None:
    """Start a worker process: leave Ctrl-C to the parent, and read the tasks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_tasks(settings.source, settings.path, settings.domains)


def run_shard(settings: AuditSettings, number: int, shard_size: int) -> int:
    """Check shard ``number`` unless its result is there already.

    Returns:
        How many tasks the shard has.
    """
    use_checkout(Path(settings.checkout) if settings.checkout else None)
    allow_weak_isolation(settings.weak_isolation)
    isolations_used()
    folder = RunFolder(Path(settings.out))
    target = folder.shard_file(number)
    tasks, _ = load_tasks(settings.source, settings.path, settings.domains)
    shard = tasks[number * shard_size : (number + 1) * shard_size]
    if not target.is_file():
        runs: dict[str, list[Trajectory]] = {}
        for run in folder.runs(number):
            runs.setdefault(run.task_id, []).append(run)
        result, seconds = _timed(shard, runs)
        write_json(folder.isolation_file(number), isolations_used())
        write_json(folder.costs_file(number), {"tasks": len(shard), "seconds": seconds})
        write_atomically(target, result.model_dump_json().encode("utf-8"))
    return len(shard)


def _timed(
    tasks: Sequence[AgentTask], runs: Mapping[str, Sequence[Trajectory]]
) -> tuple[ShardResult, dict[str, float]]:
    """Check a shard; also return the seconds that each check took. What checks share is paid by the first of them."""
    results: list[ShardResult] = []
    seconds: dict[str, float] = {}
    for detector in detectors():
        began = time.perf_counter()
        results.append(check_shard(tasks, runs, [detector]))
        seconds[detector.id] = round(time.perf_counter() - began, 6)
    whole = ShardResult(
        coverage=tuple(chain.from_iterable(result.coverage for result in results)),
        hits=tuple(chain.from_iterable(result.hits for result in results)),
        observations={name: notes for result in results for name, notes in result.observations.items()},
    )
    return whole, seconds
