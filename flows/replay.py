"""Replaying for a person to read: a ground truth, a wrong answer, the proof of a finding, or a check."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import Detector, SuiteDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import Attempt, Environment, ExecutionError, UnavailableError, Verdict
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.mutation import Mutant, mutants
from agenthard.audit.execution.replay import Turns, gold_turns
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.audit.native_text import origin_of
from agenthard.audit.replay_command import filled
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.registry import open_source
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.reports.places import Place
from agenthard.taxonomy.finding import Evidence, Finding, Proof, Status
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory


class ShownStep(Record):
    """One call and what it led to."""

    turn: int
    """Turn, from 0."""
    index: int
    """Position within the turn, from 0."""
    call: ToolCall
    """The call."""
    response: str
    """The response as an agent is shown it."""
    error: str | None = None
    """Why it failed; None when it did not."""
    changes: tuple[Difference, ...] = ()
    """What it changed."""


class Replayed(Record):
    """A replay with its verdict."""

    task: str
    """Id of the task."""
    environment: str
    """What ran, with its version."""
    mutant: Mutant | None = None
    """What was changed in the ground truth; None for the unchanged ground truth."""
    not_executed: str = ""
    """Why no call was executed; empty when they were."""
    steps: tuple[ShownStep, ...] = ()
    """The calls in order."""
    replies: tuple[str, ...] = ()
    """Replies to the user."""
    verdict: Verdict
    """Verdict of the evaluator."""
    should_pass: bool | None = None
    """The verdict that would be right; None where no claim is made about it."""


def find_task(source: str, path: Path, task_id: str) -> AgentTask:
    """Read one task of a benchmark.

    Raises:
        SourceError: the benchmark cannot be read.
        CommandError: it has no such task.
    """
    opened = open_source(source, path, ())
    task = opened.task(task_id)
    if task is None:
        quarantine = Quarantine()
        for _ in opened.tasks(quarantine):
            pass
        raise CommandError(f"{path} has no task {task_id!r}; tasks that could not be read: {len(quarantine.items)}")
    return task


def list_mutants(task: AgentTask) -> list[Mutant]:
    """List what `--mutant` can name.

    Raises:
        CommandError: the ground truth cannot be executed here.
    """
    try:
        return list(mutants(task))
    except (UnavailableError, ExecutionError) as reason:
        raise InfrastructureError(f"{task.id}: {reason}") from reason


def replay_task(task: AgentTask, mutant_id: str | None = None) -> Replayed:
    """Replay the ground truth of a task, or a mutant of it, and let the evaluator judge it.

    Raises:
        CommandError: No such mutant, the task has no ground truth to replay, or it cannot be executed or
            judged here.
    """
    if task.ground_truth.semantics == "none" and not any(True for _ in task.gold_calls()):
        notes = "; ".join(check.note for check in task.evaluation.checks if check.scored and check.note)
        raise CommandError(
            f"{task.id}: the ground truth has no call that could be replayed{f' ({notes})' * bool(notes)}"
        )
    attempt, mutant = Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs), None
    if mutant_id is not None:
        mutant = next((each for each in list_mutants(task) if each.id == mutant_id), None)
        if mutant is None:
            raise CommandError(f"{task.id} has no mutant {mutant_id!r}; --mutant '?' lists them")
        attempt = mutant.attempt
    return _replayed(task, attempt, mutant)


def replay_proof(task: AgentTask, proof: Proof) -> Replayed:
    """Replay the constructed attempt that a finding names as scored wrongly, and let the evaluator judge it.

    Raises:
        CommandError: the proof is a recorded run, or the task cannot be executed or judged here.
    """
    if proof.kind == "recorded":
        raise CommandError(f"the proof is the recorded run {proof.trajectory_id}, which is not replayed")
    shown = _replayed(task, Attempt(turns=proof.turns, replies=proof.replies), None)
    return shown.model_copy(update={"should_pass": proof.should_pass})


def _replayed(task: AgentTask, attempt: Attempt, mutant: Mutant | None) -> Replayed:
    try:
        environment = environment_of(task)
        not_executed = ""
        try:
            steps = _steps(environment, task, attempt.turns)
        except UnavailableError as reason:
            not_executed, steps = str(reason), ()
        verdict = environment.evaluate(task, attempt)
    except (UnavailableError, ExecutionError) as reason:
        raise InfrastructureError(f"{task.id}: {reason}") from reason
    return Replayed(
        task=task.id,
        environment=environment.label(),
        mutant=mutant,
        not_executed=not_executed,
        steps=steps,
        replies=attempt.replies,
        verdict=verdict,
    )


def _steps(environment: Environment, task: AgentTask, turns: Turns) -> tuple[ShownStep, ...]:
    environment.reset(task)
    state = environment.snapshot()
    steps = []
    for number, turn in enumerate(turns):
        for index, call in enumerate(turn):
            seen = environment.call(call)
            after = environment.snapshot()
            changes = tuple(differences(state, after, task.environment.state))
            steps.append(
                ShownStep(turn=number, index=index, call=call, response=seen.text, error=seen.error, changes=changes)
            )
            state = after
    return tuple(steps)


class Quoted(Record):
    """One evidence item and its place."""

    evidence: Evidence
    """The quote."""
    place: str
    """File and line, as far as the source says; empty when it does not."""


class Shown(Record):
    """One finding, found again."""

    finding: Finding
    """The finding."""
    quotes: tuple[Quoted, ...]
    """Its evidence."""


class Rechecked(Record):
    """The findings of a check on one task when it runs again."""

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
    the first task, or, where it compares tasks or runs, on the same input. A judge's finding has no command: its
    replies are not repeated, and the quoted lines show it.
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
        CommandError: No such check or task.
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
    if item.native is not None:
        return f"{Place(item.native.file, item.native.line)} {item.native.pointer}".strip()
    if item.trajectory_id is not None:
        run = runs.get(item.trajectory_id)
        origin = run.origin if run else None
    else:
        origin = origin_of(tasks[item.task_id], item.pointer) if item.task_id in tasks else None
    return "" if origin is None else f"{Place(origin.file, origin.line)} {origin.pointer}".strip()
