"""Reading the input of an audit: tasks are counted and split into shards, runs are spooled to their shards."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from agenthard.audit.decisions.policy import Policy, load_policy, require_overrides
from agenthard.audit.decisions.suppressions import Suppression, require_known
from agenthard.audit.detectors.base import Detector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.detectors.selection import chosen
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.registry import check_checkout, has_code
from agenthard.audit.leaderboard import Leaderboard, ModelRow
from agenthard.audit.sources.base import (
    NotRead,
    Quarantine,
    Quarantined,
    Source,
    SourceError,
    Version,
    first_reasons,
)
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.formats.stored_tasks import index_of
from agenthard.audit.sources.registry import open_source
from agenthard.audit.sources.unread import find_not_read
from agenthard.flows.errors import CommandError
from agenthard.flows.resume_key import checks_key, run_key
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_spool import RunSpool
from agenthard.flows.scale_out.settings import ScaleOut
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

SHARD_SECONDS = 1.0
"""Estimated CPU time of a shard: short, so that processes end together and an interruption loses little."""
TASK_SECONDS = 0.005
"""CPU time of all checks on a task that is not executed (measured on BFCL v3)."""
CALL_SECONDS = 0.01
"""CPU time for each call of the ground truth that is executed, replays and mutants included (BFCL v3, multi-turn)."""
SHARD_TASKS_WITH_RUNS = 25
"""Tasks per shard when runs are read too: a shard's runs are in memory together, and sorted together."""


class AuditSettings(Record):
    """What to audit and how. ``workers``, ``out``, ``reuse`` and ``scale_out`` have no influence on the result."""

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
    policy_rules: str | None = None
    """File of accepted rules for the agent's policy; None = those that are known."""
    experimental: bool = False
    """Whether experimental checks run too."""
    select: tuple[str, ...] = ()
    """Checks, categories or components that run; empty = all."""
    ignore: tuple[str, ...] = ()
    """Checks, categories or components that do not run."""
    suppressions: tuple[Suppression, ...] = ()
    """Findings that do not count."""
    reuse: str | None = None
    """File with the results of earlier audits, which is made if it is not there: only tasks whose content, runs or
    checks have changed since are checked. None = every task is checked."""
    scale_out: ScaleOut = ScaleOut()
    """What checks the shards."""

    def checks(self) -> tuple[Detector, ...]:
        """Return the checks that are asked to run.

        Raises:
            SelectionError: a word chooses none.
        """
        return chosen(self.select, self.ignore, experimental=self.experimental)

    def not_asked(self) -> list[str]:
        """Return the ids of the checks that `select` and `ignore` leave out."""
        asked = {check.id for check in self.checks()}
        return [check.id for check in detectors(experimental=self.experimental) if check.id not in asked]

    def execution(self) -> Execution:
        """Return which code executes the tasks, and whether weak isolation is accepted."""
        rules = Path(self.policy_rules) if self.policy_rules else None
        return Execution(Path(self.checkout) if self.checkout else None, self.weak_isolation, rules)

    def check_checkout(self) -> None:
        """Check before anything starts that the checkout can be used, if there is one.

        Raises:
            CommandError: when it is not a folder, or nothing runs the code of this benchmark's checkouts.
        """
        try:
            if self.checkout:
                check_checkout(self.source, Path(self.checkout))
        except UnavailableError as error:
            raise CommandError(str(error)) from error

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
    shard_ends: tuple[int, ...]
    """For each shard, the position after its last task."""
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
        return len(self.shard_ends)

    def shard(self, number: int) -> slice:
        """Return the positions of a shard's tasks."""
        return slice(self.shard_ends[number - 1] if number else 0, self.shard_ends[number])

    def shard_of(self, position: int) -> int:
        """Return the shard of the task at a position."""
        return bisect_right(self.shard_ends, position)


class AuditInput:
    """The benchmark of an audit in one process: opened once, its tasks read once."""

    # Slots keep Prefect from recording the tasks as a parameter of a flow.
    __slots__ = ("_checks_key", "_key", "_version", "settings", "source")

    def __init__(self, settings: AuditSettings, source: Source | None = None) -> None:
        """Open the source, unless it is given.

        Raises:
            SourceError: The folder cannot be read as this benchmark.
        """
        self.settings = settings
        self.source = source or settings.open()
        self._version: Version | None = None
        self._key: str | None = None
        self._checks_key: str | None = None

    @property
    def version(self) -> Version:
        """Release of the benchmark; the first access hashes its files."""
        if self._version is None:
            self._version = self.source.version()
        return self._version

    @property
    def key(self) -> str:
        """Resume key of the audit."""
        if self._key is None:
            settings = self.settings
            options = [*settings.domains, "experiments", *settings.experiments]
            self._key = run_key(self.version, options=options, runs=settings.runs, checks=self.checks_key)
        return self._key

    @property
    def checks_key(self) -> str:
        """Hash of what the results of the checks depend on besides tasks and runs: code, options."""
        if self._checks_key is None:
            settings = self.settings
            self._checks_key = checks_key(
                type(self.source),
                benchmarks=index_of(self.tasks).benchmarks,
                selected=self._selection(),
                checkout=settings.checkout,
                weak_isolation=settings.weak_isolation,
                experimental=settings.experimental,
                policy_rules=settings.policy_rules,
            )
        return self._checks_key

    def _selection(self) -> list[str]:
        """Return the checks that are asked to run, where the user chose them."""
        settings = self.settings
        if not (settings.select or settings.ignore):
            return []
        return [check.id for check in settings.checks()]

    @property
    def tasks(self) -> Sequence[AgentTask]:
        """All tasks; the first access reads them. Those of a large benchmark are kept in a temporary file."""
        return self.source.read_tasks()[0]

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """Task records that could not be read."""
        return self.source.read_tasks()[1]


def make_plan(given: AuditInput, folder: RunFolder) -> AuditPlan:
    """Claim the folder, read the tasks, spool the runs, and write ``work/plan.json``; an existing plan is returned.

    Raises:
        RunFolderError: The folder holds another audit.
        SourceError: The folder or a run path cannot be read at all.
        SuppressionError: A suppression names an unknown check or task.
        PolicyError: The policy file cannot be used.
        VerdictError: An override of the policy names an unknown task.
    """
    check_suppressions(given)
    check_overrides(given, load_policy(Path(given.settings.policy) if given.settings.policy else None))
    folder.claim(given.key)
    path = folder.work / "plan.json"
    if given.settings.reuse:
        write_atomically(folder.checks_key, given.checks_key.encode())
    write_atomically(folder.work / "settings.json", given.settings.model_dump_json().encode("utf-8"))
    if path.is_file():
        not_read = find_not_read(given.source, given.tasks, given.quarantined)
        known = AuditPlan.model_validate_json(path.read_bytes())
        if known.not_read != not_read:
            # The key covers the files that are read; a file next to them may have come or gone since.
            known = known.model_copy(update={"not_read": not_read})
            write_atomically(path, known.model_dump_json().encode("utf-8"))
        return known
    spool = RunSpool(folder.spool)
    plan = plan_shards(given, spool.add)
    spool.finish()
    write_atomically(path, plan.model_dump_json().encode("utf-8"))
    return plan


def check_suppressions(given: AuditInput) -> None:
    """Check before the work starts that the checks and tasks of suppressions exist.

    Raises:
        SuppressionError: one does not.
    """
    ids = set(index_of(given.tasks).ids)
    require_known(given.settings.suppressions, {check.id for check in detectors()}, ids, given.source.name)


def check_overrides(given: AuditInput, policy: Policy) -> None:
    """Check before the work starts that the tasks of the policy's overrides exist.

    With a choice of domains, an override may be about a task of another one; then nothing is checked.

    Raises:
        VerdictError: one does not.
    """
    if policy.overrides and not given.settings.domains:
        unreadable = [item.task_id for item in given.quarantined if item.task_id is not None]
        require_overrides(policy, [*(task.id for task in given.tasks), *unreadable])


def plan_shards(given: AuditInput, keep: Callable[[int, Trajectory], None]) -> AuditPlan:
    """Split the tasks into shards, and read the runs.

    Args:
        given: the audit.
        keep: receives each run with the number of its shard.

    Raises:
        SourceError: The folder or a run path cannot be read at all, or no task could be.
    """
    tasks, quarantined = given.tasks, given.quarantined
    if quarantined and not tasks:
        reasons = "\n".join(f"  {reason}" for reason in first_reasons(quarantined))
        raise SourceError(
            f"{given.settings.path}: no task could be read, {len(quarantined):,} records were refused:\n{reasons}"
        )
    ends = _ends_with_runs(len(tasks)) if given.settings.runs else shard_ends(tasks)
    ids = tuple(index_of(tasks).ids)
    shard_of = {task_id: bisect_right(ends, position) for position, task_id in enumerate(ids)}
    board, unreadable, count = _read_runs(given.settings, given.source, shard_of, keep)
    return AuditPlan(
        key=given.key,
        version=given.version,
        task_ids=ids,
        shard_ends=ends,
        quarantined=(*quarantined, *unreadable),
        not_read=find_not_read(given.source, tasks, quarantined),
        runs=count,
        models=tuple(board.rows()),
    )


def shard_ends(tasks: Sequence[AgentTask]) -> tuple[int, ...]:
    """Split tasks into shards of about equal cost, estimated from the calls of their ground truths.

    Calls count where the benchmark has code that executes them.

    Returns:
        For each shard, the position after its last task.
    """
    ends, seconds, index = list[int](), 0.0, index_of(tasks)
    call = CALL_SECONDS if any(map(has_code, index.benchmarks)) else 0.0
    for position, calls in enumerate(index.gold_calls, 1):
        seconds += TASK_SECONDS + call * calls
        if seconds >= SHARD_SECONDS or position == len(tasks):
            ends.append(position)
            seconds = 0.0
    return tuple(ends)


def _ends_with_runs(tasks: int) -> tuple[int, ...]:
    return tuple(min(first + SHARD_TASKS_WITH_RUNS, tasks) for first in range(0, tasks, SHARD_TASKS_WITH_RUNS))


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
