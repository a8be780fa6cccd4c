"""Read a finished audit task by task, as judges need it: the task, its findings, its coverage and its runs."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Detector
from agenthard.flows.audit_plan import AuditInput, AuditPlan
from agenthard.flows.audited_run import Audited, read_coverage, read_findings
from agenthard.flows.errors import CommandError
from agenthard.flows.run_folder import RunFolder
from agenthard.taxonomy.finding import Coverage, Finding
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class AuditInputs:
    """A finished audit, task by task. Tasks and coverage are read when the first task is requested."""

    def __init__(self, audited: Audited) -> None:
        """Read the audit.

        Raises:
            CommandError: The benchmark is gone or has changed, ``work/`` was deleted, or the folder was judged already.
        """
        self.audited = audited
        run = Path(audited.run)
        if (run / "judge").exists():
            raise CommandError(f"{run}: was judged already; give the run folder of the audit that it was made from")
        self.source = audited.open_unchanged()
        self.folder = RunFolder(run)
        plan_file = self.folder.work / "plan.json"
        if not plan_file.is_file():
            raise CommandError(f"{run}: work/plan.json is missing, and the judge needs it; audit again")
        self.plan = AuditPlan.model_validate_json(plan_file.read_bytes())
        changed = _changed(audited.checks, audited.settings.checks())
        if changed:
            raise CommandError(
                f"{run}: was audited by another version of AgentHard ({changed}); audit again into another folder, and "
                "judge that"
            )
        self._position = {task_id: n for n, task_id in enumerate(self.plan.task_ids)}
        self._selected: frozenset[str] | None = None
        self._findings: dict[str, list[Finding]] = {}
        for finding in read_findings(run):
            for task_id in finding.task_ids:
                self._findings.setdefault(task_id, []).append(finding)

    @cached_property
    def tasks(self) -> dict[str, AgentTask]:
        """All tasks by id, in the benchmark's order."""
        return {task.id: task for task in AuditInput(self.audited.settings, self.source).tasks}

    def select(self, task_ids: Collection[str]) -> None:
        """Say which tasks will be requested; if these are not all tasks, no others are read."""
        selected = frozenset(task_ids)
        self._selected = selected if len(selected) < len(self._position) else None

    def require(self, task_id: str) -> None:
        """Check that the audit has a task.

        Raises:
            CommandError: It has not.
        """
        if task_id not in self._position:
            raise CommandError(f"{self.folder.root}: the audit has no task {task_id!r}")

    def task(self, task_id: str) -> AgentTask:
        """Return a task.

        Raises:
            CommandError: The audit has no such task.
        """
        self.require(task_id)
        return self._few[task_id] if task_id in self._few else self.tasks[task_id]

    def findings(self, task_id: str) -> Sequence[Finding]:
        """Return the findings that affect a task."""
        return self._findings.get(task_id, ())

    def coverage(self, task_id: str) -> Sequence[Coverage]:
        """Return the coverage of a task: one record per check."""
        return self._coverage.of_task(task_id)

    def runs(self, task_id: str) -> Sequence[Trajectory]:
        """Return the runs of a task."""
        if not self.plan.runs:
            return ()
        return self._shard_runs(self.plan.shard_of(self._position[task_id])).get(task_id, ())

    def key(self) -> str:
        """Hash the audit and its findings."""
        total = hashlib.sha256(self.plan.key.encode())
        total.update((self.folder.root / "findings.json").read_bytes())
        return total.hexdigest()[:16]

    @cached_property
    def _few(self) -> dict[str, AgentTask]:
        return self.source.find_tasks(self._selected) if self._selected is not None else self.tasks

    @cached_property
    def _coverage(self) -> CoverageTable:
        return read_coverage(self.folder.root)

    @lru_cache(maxsize=2)  # noqa: B019 - tasks come in order, so the runs of a shard are read once
    def _shard_runs(self, number: int) -> dict[str, list[Trajectory]]:
        found: dict[str, list[Trajectory]] = {}
        for run in self.folder.runs(number):
            found.setdefault(run.task_id, []).append(run)
        return found


def _changed(audited: Mapping[str, str], checks: Sequence[Detector]) -> str:
    """Describe how the checks differ from those that the audit ran; empty when they are the same."""
    now = {detector.id: detector.version for detector in checks}
    changed = sorted(check for check in {*audited, *now} if audited.get(check) != now.get(check))
    return f"other checks: {', '.join(changed[:3])}{' ...' if len(changed) > 3 else ''}" if changed else ""
