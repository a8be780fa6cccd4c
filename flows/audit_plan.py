"""Reading the input of an audit: tasks are counted and split into shards, runs are spooled to their shards."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version as package_version
from pathlib import Path

from agenthard.audit.execution.checkout import code_version
from agenthard.audit.leaderboard import Leaderboard, ModelRow
from agenthard.audit.sources.base import NotRead, Quarantine, Quarantined, Source, Version, hash_files
from agenthard.audit.sources.fetch import fetched
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.registry import open_source
from agenthard.audit.sources.unread import find_not_read
from agenthard.flows.run_folder import RunFolder, RunSpool
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

SHARD_TASKS = 500
"""Tasks per shard without runs: checking them takes a few seconds."""
SHARD_TASKS_WITH_RUNS = 25
"""Tasks per shard when runs are read too: a shard's runs are in memory together."""
_LATER = "judge"
"""Folder of the code that comes after the checks: they do not depend on it."""
MOST_SHARDS = 48
"""One Prefect task carries one shard, and a flow without a server records a few dozen tasks well."""


class AuditSettings(Record):
    """What to audit and how. ``workers`` and ``out`` have no influence on the result."""

    source: str
    """Name of the source."""
    path: str
    """Folder of the benchmark."""
    domains: tuple[str, ...] = ()
    """Subtasks or domains; empty = all."""
    runs: tuple[str, ...] = ()
    """Files or folders of runs."""
    experiments: tuple[str, ...] = ()
    """Read only runs of these experiments (Trajectory.protocol); empty = all."""
    out: str
    """Run folder."""
    workers: int = 1
    """Processes that check shards."""
    policy: str | None = None
    """Policy file; None = the one that ships."""
    checkout: str | None = None
    """Folder with the benchmark's own code, to be run instead of ours; None = what is built in."""
    weak_isolation: bool = False
    """Whether benchmark code is executed where this machine lacks a layer of containment."""

    def open(self) -> Source:
        """Open the source."""
        return open_source(self.source, Path(self.path), self.domains)


class AuditPlan(Record):
    """What was read."""

    key: str
    """Hash of everything that can change the checks' results: inputs, options, code."""
    version: Version
    """Release of the benchmark."""
    task_ids: tuple[str, ...]
    """All tasks, in the benchmark's order."""
    shard_size: int
    """Tasks per shard."""
    quarantined: tuple[Quarantined, ...]
    """What could not be read."""
    not_read: tuple[NotRead, ...] = ()
    """What looks like tasks in the benchmark's folder and was not read."""
    runs: int
    """Runs that belong to a task."""
    models: tuple[ModelRow, ...]
    """Accuracy per model."""

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return math.ceil(len(self.task_ids) / self.shard_size)


def run_key(settings: AuditSettings, version: Version) -> str:
    """Hash the inputs, the options that matter, the code of the checks and the installed releases."""
    total = hashlib.sha256(
        f"{package_version('agenthard')}\n{settings.source}\n{settings.domains}\n{settings.experiments}\n".encode()
    )
    total.update(f"{version.label} {version.content_hash}\n".encode())
    for path in map(Path, settings.runs):
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        root = path if path.is_dir() else path.parent
        total.update(f"{hash_files(root, files, 'runs').content_hash if path.exists() else 'absent'}\n".encode())
    if settings.checkout:
        total.update(f"checkout {code_version(Path(settings.checkout).resolve())}\n".encode())
    if settings.weak_isolation:
        total.update(b"weak isolation\n")
    total.update(f"installed {[item.version for item in fetched(settings.source)]}\n".encode())
    for package in ("ace", "audit", "taxonomy"):
        folder = Path(str(import_module(f"agenthard.{package}").__file__)).parent
        code = [p for p in folder.rglob("*") if p.suffix in (".py", ".yaml")]
        code = [p for p in code if p.relative_to(folder).parts[0] != _LATER]
        total.update(hash_files(folder, code, "code").content_hash.encode())
    return total.hexdigest()[:16]


@lru_cache(maxsize=1)
def load_tasks(
    source: str, path: str, domains: tuple[str, ...]
) -> tuple[tuple[AgentTask, ...], tuple[Quarantined, ...]]:
    """Read all tasks once per process; the records share their environments, so this is small."""
    quarantine = Quarantine()
    tasks = tuple(open_source(source, Path(path), domains).tasks(quarantine))
    return tasks, tuple(quarantine.items)


def make_plan(settings: AuditSettings, source: Source, version: Version, key: str, folder: RunFolder) -> AuditPlan:
    """Read the tasks, spool the runs, and write ``work/plan.json``; a plan that is there already is returned.

    Raises:
        SourceError: when the folder or a run path cannot be read at all.
    """
    path = folder.work / "plan.json"
    tasks, quarantined = load_tasks(settings.source, settings.path, settings.domains)
    if path.is_file():
        not_read = find_not_read(source, tasks, quarantined)
        known = AuditPlan.model_validate_json(path.read_bytes())
        if known.not_read != not_read:
            # The key covers the files that are read; a file next to them may have come or gone since.
            known = known.model_copy(update={"not_read": not_read})
            write_atomically(path, known.model_dump_json().encode("utf-8"))
        return known
    spool = RunSpool(folder)
    plan = plan_shards(settings, source, tasks, spool.add, key=key, version=version, quarantined=quarantined)
    spool.finish()
    write_atomically(folder.work / "settings.json", settings.model_dump_json().encode("utf-8"))
    write_atomically(path, plan.model_dump_json().encode("utf-8"))
    return plan


def plan_shards(
    settings: AuditSettings,
    source: Source,
    tasks: Sequence[AgentTask],
    keep: Callable[[int, Trajectory], None],
    *,
    key: str,
    version: Version,
    quarantined: Sequence[Quarantined],
) -> AuditPlan:
    """Split the tasks into shards, and read the runs.

    Args:
        settings: the audit.
        source: the benchmark.
        tasks: all its tasks.
        keep: receives each run with the number of its shard.
        key: hash of the inputs.
        version: release of the benchmark.
        quarantined: task records that could not be read.

    Raises:
        SourceError: when a run path cannot be read at all.
    """
    usual = SHARD_TASKS_WITH_RUNS if settings.runs else SHARD_TASKS
    size = max(usual, math.ceil(len(tasks) / MOST_SHARDS))
    board, unreadable, count = _read_runs(settings, source, {t.id: i // size for i, t in enumerate(tasks)}, keep)
    return AuditPlan(
        key=key,
        version=version,
        task_ids=tuple(task.id for task in tasks),
        shard_size=size,
        quarantined=(*quarantined, *unreadable),
        not_read=find_not_read(source, tasks, quarantined),
        runs=count,
        models=tuple(board.rows()),
    )


def _read_runs(
    settings: AuditSettings, source: Source, shard_of: dict[str, int], keep: Callable[[int, Trajectory], None]
) -> tuple[Leaderboard, list[Quarantined], int]:
    quarantine, board = Quarantine(), Leaderboard()
    unknown: Counter[tuple[str, str]] = Counter()
    count = 0
    for path in settings.runs:
        for run in read_runs(source, Path(path), quarantine):
            if settings.experiments and run.protocol not in settings.experiments:
                continue
            shard = shard_of.get(run.task_id)
            if shard is None:
                unknown[run.origin.file if run.origin else path, run.task_id] += 1
                continue
            keep(shard, run)
            board.add(run)
            count += 1
    for (file, task_id), runs in sorted(unknown.items()):
        reason = f"{runs} runs name the task {task_id!r}, which is not among the tasks read"
        quarantine.add(file, reason, kind="run", task_id=task_id)
    return board, quarantine.items, count
