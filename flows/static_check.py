"""Checking a benchmark without executing anything and without a run folder: what ``agenthard check`` prints.

Every task is read and checked, also where only some files are asked about: what a finding is called depends on all
tasks that share its cause, and a baseline has to name it the same way every time.
"""

import json
import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.execution.context import StaticExecution
from agenthard.audit.native_text import origin_of
from agenthard.flows.audit_outputs import conclude_audit
from agenthard.flows.audit_plan import AuditInput, AuditPlan, AuditSettings, check_suppressions, plan_shards
from agenthard.flows.errors import CommandError
from agenthard.flows.progress import current
from agenthard.flows.run_findings import ListedFinding, Quote
from agenthard.flows.shard_worker import CheckedShard, check_tasks
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.finding import Finding, Status
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.system import follow_parent


class Baseline(Record):
    """Findings that are known, and do not count as new."""

    schema_version: Literal["1"] = "1"
    """Version of the layout of this file."""
    findings: dict[str, str]
    """Claim of each finding, by its id."""


class StaticChecks(Record):
    """What the checks found, and what they did not look at."""

    findings: tuple[ListedFinding, ...]
    """Findings in the files that were asked about, in the order of the tasks."""
    tasks: int
    """Tasks that were read."""
    quarantined: int
    """Records that could not be read."""
    tasks_not_read: int
    """Tasks in files that were not read and not left out on purpose; the number of some may be unknown."""
    errors: int
    """Checks of a task that ended in an error."""
    not_run: tuple[str, ...]
    """Checks that ran on no task, because they need execution or runs."""

    @property
    def incomplete(self) -> bool:
        """Whether something could not be read or checked."""
        return bool(self.quarantined or self.tasks_not_read or self.errors)


def check_benchmark(settings: AuditSettings) -> tuple[AuditResult, AuditPlan]:
    """Check all tasks of a benchmark; nothing is executed or written.

    Raises:
        SourceError: The benchmark cannot be read.
        PolicyError: The policy cannot be used.
        SuppressionError: A suppression names what is not there.
    """
    policy, checks = load_policy(Path(settings.policy) if settings.policy else None), settings.checks()
    given = AuditInput(settings)
    check_suppressions(given)
    plan = plan_shards(given, lambda number, run: None)
    current().start("checking tasks", total=len(plan.task_ids))
    shards = [shard.result for shard in _check(given, plan, settings)]
    result = conclude_audit(
        given, plan, shards, checks, policy, runs=lambda ids: (), isolation="nothing executed: static checks"
    )
    return result, plan


def _check(given: AuditInput, plan: AuditPlan, settings: AuditSettings) -> Iterator[CheckedShard]:
    shards = [given.tasks[plan.shard(number)] for number in range(plan.shards)]
    if min(settings.workers, len(shards)) < 2:
        for tasks in shards:
            current().advance(len(tasks))
            yield check_tasks(StaticExecution(), tasks, (), settings.checks())
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(settings.workers, len(shards)), spawn, initializer=follow_parent) as pool:
        for checked in pool.map(_check_shard, repeat(settings), shards):
            current().advance(checked.tasks)
            yield checked


def _check_shard(settings: AuditSettings, tasks: Sequence[Any]) -> CheckedShard:
    return check_tasks(StaticExecution(), tasks, (), settings.checks())


def checked_files(result: AuditResult, plan: AuditPlan, files: Sequence[Path]) -> StaticChecks:
    """Choose the findings in some files.

    A finding is in a file when it quotes it, or when a task that it touches is from it.

    Args:
        result: What was found in the benchmark.
        plan: What was read.
        files: The files; empty means all.

    Raises:
        CommandError: A file does not exist.
    """
    wanted = {path.resolve() for path in files}
    missing = [path for path in files if not path.exists()]
    if missing:
        raise CommandError(f"{missing[0]}: no such file; give files of the benchmark, or none for all of them")
    chosen = [finding for finding in result.findings if not wanted or _files_of(result, finding) & wanted]
    return StaticChecks(
        findings=tuple(_listed(result, finding) for finding in chosen),
        tasks=len(plan.task_ids),
        quarantined=sum(item.kind == "task" for item in plan.quarantined),
        tasks_not_read=sum(item.tasks or 0 if item.tasks is not None else 1 for item in plan.not_read if item.is_gap),
        errors=int(result.coverage.having(Status.ERROR).sum()),
        not_run=tuple(_not_run(result)),
    )


def _not_run(result: AuditResult) -> Iterator[str]:
    missing = result.coverage.having(Status.NOT_CHECKED).sum(axis=0)
    for check, count in zip(result.coverage.checks, missing.tolist(), strict=True):
        if count == len(result.tasks):
            yield check


def _files_of(result: AuditResult, finding: Finding) -> set[Path]:
    names = {item.native.file for item in finding.evidence if item.native}
    for task_id in (*finding.task_ids, *finding.also_in):
        origin = origin_of(result.task[task_id], "")
        names |= {origin.file} if origin else set()
    return {(result.root / name).resolve() for name in names}


def _listed(result: AuditResult, finding: Finding) -> ListedFinding:
    decisions: dict[str, tuple[str, ...]] = {}
    for task_id in finding.task_ids:
        action = result.decision[task_id].action
        decisions[action] = (*decisions.get(action, ()), task_id)
    quotes = tuple(
        Quote(
            file=_opened(result.root / item.native.file) if item.native else "",
            line=item.native.line if item.native else None,
            pointer=item.native.pointer if item.native else item.pointer,
            text=item.native.text if item.native else item.quote,
            task_id=item.task_id,
            trajectory_id=item.trajectory_id,
            note=item.note,
            native=item.native,
        )
        for item in finding.evidence
    )
    component = next((str(c.component) for c in result.taxonomy.categories if c.id == finding.category), "")
    return ListedFinding(finding=finding, component=component, quotes=quotes, decisions=decisions)


def _opened(path: Path) -> str:
    """Return a path as it opens from the current folder."""
    whole, here = path.resolve(), Path.cwd()
    return (whole.relative_to(here) if whole.is_relative_to(here) else whole).as_posix()


def read_baseline(path: Path) -> Baseline:
    """Read known findings.

    Raises:
        CommandError: The file is not there, or is not a baseline.
    """
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CommandError(
            f"{path}: no baseline here; `agenthard check --baseline {path} --update-baseline` writes it"
        ) from None
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise CommandError(f"{path}: not a baseline ({reason}); write it again with --update-baseline") from error


def write_baseline(path: Path, findings: Iterable[Finding]) -> None:
    """Write findings as known ones, one a line in the order of their ids, so that a change of the file reads well."""
    known = {finding.id: finding.claim for finding in sorted(findings, key=lambda finding: finding.id)}
    document = Baseline(findings=known).model_dump(mode="json")
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
