"""Checking one shard in whatever process: reads the tasks and runs from files, writes the result to a file."""

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from agenthard.audit.detectors.base import Detector
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
    folder = RunFolder(Path(settings.out))
    target = folder.shard_file(number)
    tasks, _ = load_tasks(settings.source, settings.path, settings.domains)
    shard = tasks[number * shard_size : (number + 1) * shard_size]
    if not target.is_file():
        runs: dict[str, list[Trajectory]] = {}
        for run in folder.runs(number):
            runs.setdefault(run.task_id, []).append(run)
        write_shard(folder, number, check_tasks(settings, shard, runs, detectors()))
    return len(shard)


@dataclass(frozen=True)
class CheckedShard:
    """A checked shard, and what is known about how it was checked."""

    tasks: int
    """How many tasks it has."""
    result: ShardResult
    """What the checks found."""
    isolations: list[str]
    """Isolations under which benchmark code was executed."""
    seconds: dict[str, float]
    """Seconds that each check took. What checks share is paid by the first of them."""


def check_tasks(
    settings: AuditSettings,
    tasks: Sequence[AgentTask],
    runs: Mapping[str, Sequence[Trajectory]],
    checks: Sequence[Detector],
) -> CheckedShard:
    """Check a shard in this process.

    Args:
        settings: the audit; its checkout and isolation count here.
        tasks: the shard.
        runs: runs by task id.
        checks: all checks.
    """
    use_checkout(Path(settings.checkout) if settings.checkout else None)
    allow_weak_isolation(settings.weak_isolation)
    isolations_used()
    results: list[ShardResult] = []
    seconds: dict[str, float] = {}
    for check in checks:
        began = time.perf_counter()
        results.append(check_shard(tasks, runs, [check]))
        seconds[check.id] = round(time.perf_counter() - began, 6)
    whole = ShardResult(
        coverage=tuple(chain.from_iterable(result.coverage for result in results)),
        hits=tuple(chain.from_iterable(result.hits for result in results)),
        observations={name: notes for result in results for name, notes in result.observations.items()},
    )
    return CheckedShard(tasks=len(tasks), result=whole, isolations=list(isolations_used()), seconds=seconds)


def write_shard(folder: RunFolder, number: int, checked: CheckedShard) -> None:
    """Write a checked shard; the result comes last, since it marks the shard as finished."""
    write_json(folder.isolation_file(number), checked.isolations)
    write_json(folder.costs_file(number), {"tasks": checked.tasks, "seconds": checked.seconds})
    write_atomically(folder.shard_file(number), checked.result.model_dump_json().encode("utf-8"))
