"""What a worker needs to check a shard, as compressed JSON Lines in the store. Everything is validated when it is read.

Environments that several tasks share are objects of their own, named by their content: tasks of one domain share one
environment with its state, which may be larger than all of them.
"""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.audit.sources.formats.stored_tasks import index_of
from agenthard.flows.audit_plan import AuditInput, AuditPlan, AuditSettings
from agenthard.flows.errors import CommandError
from agenthard.flows.run_spool import run_order
from agenthard.flows.scale_out.surroundings import Surroundings
from agenthard.flows.scale_out.work_store import StoreError, WorkStore
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec
from agenthard.taxonomy.trajectory import Trajectory


class NotPlainJsonError(CommandError):
    """A shard has values that JSON cannot hold, so it cannot be sent to a worker."""

    code = "AH822"
    remedy = "Nothing: the shard is checked by the process of the command."


class ShardName(NamedTuple):
    """Where a shard is found in a store. The names depend on content alone, so equal audits use equal names."""

    audit: str
    """Key of the audit and of its division into shards."""
    number: int
    """Number of the shard."""

    @property
    def job(self) -> str:
        """Name of the object that a worker reads."""
        return f"{self.audit}/jobs/{self.number:05d}.jsonl.gz"

    @property
    def result(self) -> str:
        """Name of the object that a worker writes."""
        return f"{self.audit}/results/{self.number:05d}.zip"


def audit_name(plan: AuditPlan) -> str:
    """Return the folder of an audit in a store."""
    ends = hashlib.sha256(json.dumps(plan.shard_ends).encode()).hexdigest()
    return f"{plan.key}-{ends[:8]}"


class _Header(Record):
    settings: AuditSettings
    surroundings: Surroundings
    environments: tuple[str, ...]
    tasks: int
    runs: int
    apart: bool


class ShardJob(NamedTuple):
    """The input of a worker."""

    settings: AuditSettings
    """The audit, without paths of the machine that sent the shard, except that of a checkout."""
    surroundings: Surroundings
    """What has to be installed here as it is there."""
    tasks: Sequence[AgentTask]
    """Tasks of the shard."""
    runs: Sequence[Trajectory]
    """Their runs, in order."""
    apart: bool
    """Whether each task gets a result of its own, as results that are kept by content are."""


class JobWriter:
    """Writes the inputs of workers."""

    def __init__(self, store: WorkStore, given: AuditInput, plan: AuditPlan, audit: str) -> None:
        """Prepare.

        Args:
            store: where they go.
            given: the audit.
            plan: its shards.
            audit: folder of the audit in the store.
        """
        self._store, self._given, self._plan = store, given, plan
        self._audit = audit
        unused: dict[str, Any] = {
            "path": "",
            "out": "",
            "reuse": None,
            "runs": (),
            "policy": None,
            "suppressions": (),
            "workers": 1,
        }
        if given.settings.checkout:
            unused["checkout"] = str(Path(given.settings.checkout).absolute())
        kept = given.settings.model_dump(exclude={"scale_out"})
        self._settings = AuditSettings.model_validate({**kept, **unused})
        self._surroundings = Surroundings.here(self._settings, index_of(given.tasks).benchmarks)
        self._written = set[str]()

    def write(self, number: int, runs: Path, apart: Sequence[AgentTask] | None = None) -> None:
        """Write the input of a shard.

        Args:
            number: the shard.
            runs: file of its runs; it may be absent.
            apart: the tasks of the shard that are to be checked, where each is to get a result of its own.

        Raises:
            NotPlainJsonError: It has values that do not survive as JSON.
            StoreError: The store cannot be written.
        """
        tasks = self._given.tasks[self._plan.shard(number)] if apart is None else apart
        uses = Counter(id(task.environment) for task in tasks)
        shared = {id(t.environment): t.environment for t in tasks if uses[id(t.environment)] > 1}
        names = {key: self._put(environment) for key, environment in shared.items()}
        found = sorted(set(names.values()))
        places = {key: found.index(name) for key, name in names.items()}
        lines = [_task_line(task, places.get(id(task.environment))) for task in tasks]
        by_place = {places[key]: environment for key, environment in shared.items()}
        for line, task in zip(lines, tasks, strict=True):
            _verify(_task(line, by_place) == task, task)
        of_runs = runs.read_bytes().splitlines() if runs.is_file() else []
        if apart is not None:
            wanted = {task.id for task in apart}
            of_runs = [line for line in of_runs if json.loads(line)["task_id"] in wanted]
        header = _Header(
            settings=self._settings,
            surroundings=self._surroundings,
            environments=tuple(found),
            tasks=len(lines),
            runs=len(of_runs),
            apart=apart is not None,
        )
        content = b"\n".join([header.model_dump_json().encode(), *lines, *of_runs])
        self._store.put(ShardName(self._audit, number).job, gzip.compress(content, 1, mtime=0))

    def _put(self, environment: EnvironmentSpec) -> str:
        """Write an environment once, and return its name."""
        try:
            content = environment.model_dump_json(exclude_unset=True).encode()
        except ValueError as error:
            raise NotPlainJsonError(str(error)) from error
        name = hashlib.sha256(content).hexdigest()
        if name not in self._written:
            if EnvironmentSpec.model_validate_json(content) != environment:
                raise NotPlainJsonError("an environment has values that JSON cannot hold")
            self._store.put(_environment_name(self._audit, name), gzip.compress(content, 1, mtime=0))
            self._written.add(name)
        return name


def _environment_name(audit: str, name: str) -> str:
    return f"{audit}/environments/{name}.json.gz"


def _task_line(task: AgentTask, place: int | None) -> bytes:
    try:
        if place is None:
            return b"[null," + task.model_dump_json(exclude_unset=True).encode() + b"]"
        own = task.model_dump_json(exclude_unset=True, exclude={"environment"})
    except ValueError as error:
        raise NotPlainJsonError(f"the task {task.id!r}: {error}") from error
    return f"[{place},{own}]".encode()


def _task(line: bytes, environments: Mapping[int, EnvironmentSpec]) -> AgentTask:
    place, data = json.loads(line)
    return AgentTask.model_validate(data if place is None else {**data, "environment": environments[place]})


def _verify(same: bool, task: AgentTask) -> None:
    if not same:
        raise NotPlainJsonError(f"the task {task.id!r} has values that JSON cannot hold")


def read_job(store: WorkStore, name: ShardName) -> ShardJob:
    """Read the input of a shard.

    Raises:
        StoreError: It is not there, damaged, or cannot be read.
    """
    lines = _content(store, name.job).splitlines()
    try:
        header = _Header.model_validate_json(lines[0])
        if len(lines) != 1 + header.tasks + header.runs:
            raise ValueError(f"{len(lines)} lines instead of {1 + header.tasks + header.runs}")
        shared = {i: _environment(store.url, name.audit, each) for i, each in enumerate(header.environments)}
        tasks = [_task(line, shared) for line in lines[1 : 1 + header.tasks]]
        runs = sorted(map(Trajectory.model_validate_json, lines[1 + header.tasks :]), key=run_order)
    except (ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{store.url}: {name.job} is damaged: {str(error)[:200]}") from error
    return ShardJob(header.settings, header.surroundings, tasks, runs, header.apart)


@lru_cache(maxsize=64)
def _environment(url: str, audit: str, name: str) -> EnvironmentSpec:
    """Read a shared environment; it is one object for all shards of this process, so checks remember what they find."""
    content = _content(WorkStore(url), _environment_name(audit, name))
    if hashlib.sha256(content).hexdigest() != name:
        raise StoreError(f"{url}: the environment {name} of {audit} has other content than its name says")
    return EnvironmentSpec.model_validate_json(content)


def _content(store: WorkStore, name: str) -> bytes:
    data = store.get(name)
    if data is None:
        raise StoreError(f"{store.url}: {name} is not there; another command may have removed it")
    try:
        return gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise StoreError(f"{store.url}: {name} is damaged: {error}") from error
