"""Results kept by content, with shards on workers: the command has the file, and workers check only what it lacks.

A worker gets the tasks of a shard that have no result, and returns a result for each. The command keeps them and puts
the shard together as a process of its own machine would.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.audit.shard_file import read_shard_file
from agenthard.flows.audit_plan import AuditInput, AuditPlan
from agenthard.flows.result_store import ResultStore, ReusedShard, TaskKeys, TaskResult
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.scale_out.shard_job import ShardName
from agenthard.flows.scale_out.stored_result import UnusableResultError, pack, unpack
from agenthard.flows.shard_worker import CheckedShard, by_task, checked_reused, write_shard
from agenthard.taxonomy.task import AgentTask


class Reused:
    """The results of one audit, by content."""

    def __init__(self, given: AuditInput, plan: AuditPlan, checks: Sequence[Detector]) -> None:
        """Open the file that the audit names.

        Raises:
            InfrastructureError: It cannot be used.
        """
        assert given.settings.reuse is not None
        self._given, self._plan, self._checks = given, plan, checks
        self._folder = RunFolder(Path(given.settings.out))
        self._store = ResultStore(Path(given.settings.reuse))
        self._keys = TaskKeys(given.checks_key)
        self._missing = dict[int, list[AgentTask]]()

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def missing(self, number: int) -> list[AgentTask]:
        """Return the tasks of a shard that have no result; a shard without any is written and needs no worker."""
        tasks = self._tasks(number)
        keys = self._keys_of(number, tasks)
        found = self._store.get(keys)
        missing = [task for task, key in zip(tasks, keys, strict=True) if key not in found]
        if missing:
            self._missing[number] = missing
        else:
            self._write(number, tasks, [found[key] for key in keys], len(tasks))
        return missing

    def collect(self, data: bytes, name: ShardName) -> None:
        """Keep what a worker has found, and write the shard.

        Raises:
            UnusableResultError: The data is not the result of these tasks.
        """
        missing = self._missing[name.number]
        results = unpack_apart(data, name, [task.id for task in missing], [check.id for check in self._checks])
        tasks = self._tasks(name.number)
        keys = dict(zip((task.id for task in tasks), self._keys_of(name.number, tasks), strict=True))
        fresh = {keys[task.id]: (task.id, each) for task, each in zip(missing, results, strict=True)}
        found = self._store.get([key for key in keys.values() if key not in fresh])
        if len(found.keys() | fresh.keys()) < len(set(keys.values())):
            raise UnusableResultError("results of earlier audits that it was to be added to are gone from --reuse")
        self._store.add((key, task_id, each) for key, (task_id, each) in fresh.items())
        found.update((key, each) for key, (_, each) in fresh.items())
        self._write(name.number, tasks, [found[keys[task.id]] for task in tasks], len(tasks) - len(missing))
        del self._missing[name.number]

    def _write(self, number: int, tasks: Sequence[AgentTask], results: Sequence[TaskResult], reused: int) -> None:
        write_shard(self._folder, number, checked_reused(ReusedShard(results, reused), tasks, self._checks))

    def _tasks(self, number: int) -> Sequence[AgentTask]:
        return self._given.tasks[self._plan.shard(number)]

    def _keys_of(self, number: int, tasks: Sequence[AgentTask]) -> list[str]:
        runs = by_task(self._folder.runs(number))
        return [self._keys.key(task, runs.get(task.id, ())) for task in tasks]


def pack_apart(name: ShardName, results: Sequence[TaskResult]) -> bytes:
    """Return results of tasks as one ZIP, each packed as a shard of one task."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as file:
        file.writestr("apart.json", json.dumps([*name, len(results)]))
        for place, each in enumerate(results):
            file.writestr(f"{place}.zip", pack(name, CheckedShard(1, each.result, each.isolations, each.replays)))
    return stream.getvalue()


def unpack_apart(data: bytes, name: ShardName, tasks: Sequence[str], checks: Sequence[str]) -> list[TaskResult]:
    """Read what `pack_apart` has packed, and validate it.

    Raises:
        UnusableResultError: It is damaged, or about other tasks.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            if json.loads(file.read("apart.json")) != [*name, len(tasks)]:
                raise UnusableResultError("it is the result of another shard, or of other tasks")
            return list(_unpacked(file, name, tasks, checks))
    except UnusableResultError:
        raise
    except Exception as error:  # a damaged ZIP or JSON; each library has errors of its own
        raise UnusableResultError(f"it is damaged: {type(error).__name__}: {str(error)[:200]}") from error


def _unpacked(
    file: zipfile.ZipFile, name: ShardName, tasks: Sequence[str], checks: Sequence[str]
) -> Iterator[TaskResult]:
    for place, task_id in enumerate(tasks):
        with tempfile.TemporaryDirectory(prefix="agenthard-shard-") as scratch:
            folder, number = RunFolder(Path(scratch)), name.number
            unpack(file.read(f"{place}.zip"), name, [task_id], checks, folder)
            replays = folder.replays_file(number)
            lines = replays.read_bytes().splitlines() if replays.is_file() else []
            yield TaskResult(
                read_shard_file(io.BytesIO(folder.shard_file(number).read_bytes())),
                tuple(map(str, json.loads(folder.isolation_file(number).read_bytes()))),
                tuple(map(ShownReplay.model_validate_json, lines)),
            )
