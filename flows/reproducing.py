"""Showing a finding again: its command, and running a check once more on the task that it flags."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import Detector, SuiteDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.context import Execution
from agenthard.audit.replay_command import filled
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.flows.errors import CommandError
from agenthard.flows.plan import AuditSettings
from agenthard.reports.places import Place, origin_of
from agenthard.taxonomy.finding import Evidence, Finding, Status
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class Quoted(Record):
    """One evidence item and where it stands."""

    evidence: Evidence
    """The quote."""
    place: str
    """File and line, as far as the source says; empty when it does not."""


class Shown(Record):
    """One finding, made again."""

    finding: Finding
    """The finding."""
    quotes: tuple[Quoted, ...]
    """Its evidence."""


class Rechecked(Record):
    """What a check says of one task when it runs again."""

    task: str
    """Id of the task."""
    check: str
    """Id of the check."""
    version: str
    """Its version."""
    found: tuple[Shown, ...]
    """Findings that touch the task."""
    reason: str
    """Why the check did not run, or the error that it ended in."""


def with_commands(findings: Iterable[Finding], settings: AuditSettings) -> list[Finding]:
    """Give each finding the command that shows it again, with the paths as the audit was given them.

    A check that made a command itself (a changed ground truth, say) keeps it. For the others the check runs again on
    the first task, or, where it compares tasks or runs, on the same input. What a judge said has no command: replies
    are not made again, and the quoted lines show it.
    """
    known = {detector.id: detector for detector in detectors()}
    return [
        finding.model_copy(update={"command": _command(finding, known.get(finding.check), settings)})
        for finding in findings
    ]


def _command(finding: Finding, detector: Detector | None, settings: AuditSettings) -> str:
    if finding.command:
        return filled(finding.command, settings.path, settings.checkout)
    if detector is None:
        return ""
    task_id = (finding.task_ids or finding.also_in)[0]
    words = ["agenthard", "replay", settings.source, settings.path, task_id, "--check", detector.id]
    if isinstance(detector, SuiteDetector):
        given = [("--domain", settings.domains)]
        if detector.needs_runs:
            given += [("--runs", settings.runs), ("--experiment", settings.experiments)]
        words += [word for option, values in given for value in values for word in (option, value)]
    if settings.checkout:
        words += ["--checkout", settings.checkout]
    return shlex.join(words)


def recheck(settings: AuditSettings, task_id: str, check: str, execution: Execution) -> Rechecked:
    """Run one check again.

    Args:
        settings: the benchmark, and the runs where the check looks at runs.
        task_id: the task.
        check: id of the check.
        execution: whose code executes the task.

    Raises:
        CommandError: there is no such check or task.
        SourceError: the benchmark or its runs cannot be read.
    """
    detector = next((each for each in detectors() if each.id == check), None)
    if detector is None:
        raise CommandError(f"no check {check!r}; `agenthard checks` lists them")
    tasks = _tasks(settings, task_id, alone=not isinstance(detector, SuiteDetector))
    runs = _runs(settings) if isinstance(detector, SuiteDetector) and detector.needs_runs else {}
    source = settings.open()
    shard = check_shard(tasks, runs, [detector], execution)
    found, coverage = conclude(source.name, [task.id for task in tasks], [shard], [detector])
    row = next(row for row in coverage if row.task_id == task_id)
    by_id = {task.id: task for task in tasks}
    by_run = {run.id: run for given in runs.values() for run in given}
    return Rechecked(
        task=task_id,
        check=check,
        version=detector.version,
        found=tuple(_shown(each, by_id, by_run) for each in found if task_id in (*each.task_ids, *each.also_in)),
        reason=row.reason if row.status in (Status.NOT_CHECKED, Status.ERROR) else "",
    )


def _tasks(settings: AuditSettings, task_id: str, *, alone: bool) -> list[AgentTask]:
    quarantine = Quarantine()
    found = []
    for task in settings.open().tasks(quarantine):
        if task.id == task_id and alone:
            return [task]
        found.append(task)
    if alone or all(task.id != task_id for task in found):
        unread = len(quarantine.items)
        raise CommandError(f"{settings.path} has no task {task_id!r}; tasks that could not be read: {unread}")
    return found


def _runs(settings: AuditSettings) -> Mapping[str, Sequence[Trajectory]]:
    source, found = settings.open(), dict[str, list[Trajectory]]()
    for path in settings.runs:
        for run in read_runs(source, Path(path), Quarantine()):
            if not settings.experiments or run.protocol in settings.experiments:
                found.setdefault(run.task_id, []).append(run)
    for runs in found.values():
        runs.sort(key=lambda run: (run.protocol or "", run.model, run.trial, run.id))
    return found


def _shown(finding: Finding, tasks: Mapping[str, AgentTask], runs: Mapping[str, Trajectory]) -> Shown:
    quotes = tuple(Quoted(evidence=item, place=_place(item, tasks, runs)) for item in finding.evidence)
    return Shown(finding=finding, quotes=quotes)


def _place(item: Evidence, tasks: Mapping[str, AgentTask], runs: Mapping[str, Trajectory]) -> str:
    if item.trajectory_id is not None:
        run = runs.get(item.trajectory_id)
        origin = run.origin if run else None
    else:
        origin = origin_of(tasks[item.task_id], item.pointer) if item.task_id in tasks else None
    return "" if origin is None else f"{Place(origin.file, origin.line)} {origin.pointer}".strip()
