"""Repairing what an audit found: proposals tried one by one, a repaired split, and issues for the maintainer."""

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib.metadata import version as package_version
from pathlib import Path

from agenthard.audit.decisions.repaired_split import RepairedSplitManifest, decide_repaired, write_repaired_split
from agenthard.audit.detectors.base import TaskDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.context import Execution
from agenthard.audit.repair.issue_text import issue_text
from agenthard.audit.repair.proposals import Proposal, propose
from agenthard.audit.repair.recheck import TaskChecker
from agenthard.audit.repair.repairs import Repair, RepairRunner, TaskRepair
from agenthard.audit.sources.base import Source, Version
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.audited_run import (
    Audited,
    choose,
    read_audited,
    read_decisions,
    read_findings,
    read_quarantined,
    read_report,
)
from agenthard.flows.review.decide import events_about, reviewed_contents
from agenthard.flows.review.repairs import (
    DecidedRepair,
    acceptances,
    decided_repairs,
    with_decisions,
    with_outcomes,
)
from agenthard.flows.review.state import ReviewState
from agenthard.flows.run_folder import RunFolder, write_json
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask


class RepairSettings(Record):
    """What to repair."""

    run: str
    """Run folder of a finished audit."""
    out: str
    """Folder to write."""
    findings: tuple[str, ...] = ()
    """Only these findings; empty = all."""
    checks: tuple[str, ...] = ()
    """Only findings of these checks; empty = all."""
    benchmark: str | None = None
    """Folder of the benchmark; None = where it was audited."""
    verdicts: str | None = None
    """File of events (JSON Lines), or URL of a store; None = ``review.db`` in the run folder."""
    reviewed: str | None = None
    """Name of the audit that was reviewed; None = the name of the run folder."""


class CheckRepairs(Record):
    """Repairs of the findings of one check."""

    check: str
    """Check."""
    findings: int
    """Its findings."""
    with_patch: int
    """Those for which the check knows exactly one minimal fix."""
    proposals: int
    """Changes proposed, one per task."""
    accepted: int
    """Those that passed every re-check."""


class RepairOutcome(Record):
    """The result in figures, and where its files are."""

    benchmark: str
    """Release label and content hash."""
    findings: int
    """Findings looked at."""
    with_patch: int
    """Findings with exactly one minimal fix."""
    proposals: int
    """Proposals, one per finding and task."""
    accepted: int
    """Accepted proposals."""
    checks: tuple[CheckRepairs, ...]
    """The same by check, for checks that propose anything."""
    rejected: dict[str, int]
    """Rejected proposals by reason."""
    not_repeated: tuple[str, ...]
    """Checks that need runs; they were not repeated."""
    decisions: dict[str, int]
    """Tasks by decision, after the repairs."""
    removed_before: int
    """Tasks that are not in the audit's cleaned split."""
    split_id: str
    """Id of the repaired split."""
    kept: int
    """Tasks in it."""
    issues: int
    """Issue texts written."""
    people: tuple[DecidedRepair, ...]
    """What people decided about patches; an accepted one that is not in the split says why."""
    folder: str
    """Folder written."""


def repair_run(settings: RepairSettings, advance: Callable[[str, int], None]) -> RepairOutcome:
    """Try to repair what an audit found, and write everything.

    Args:
        settings: what to repair.
        advance: called with the current stage and the number of finished steps.

    Raises:
        CommandError: The folder holds no finished audit, or the benchmark is gone or has changed.
        RunFolderError: another process works in one of the folders, or the output folder holds something else.
        SourceError: the benchmark cannot be read.
        ReviewError: a file of verdicts cannot be read, or names what the audit does not have.
        InfrastructureError: the store of verdicts cannot be read.
    """
    run, out = RunFolder(Path(settings.run)), RunFolder(Path(settings.out))
    with run.read():
        all_findings = read_findings(run.root)
        audit = read_audited(run.root, settings.benchmark)
        source = audit.open_unchanged()
        chosen = choose(all_findings, settings.findings, settings.checks)
        with out.hold(out.root / "repairs.json", "repairs"):
            with audit.settings.execution() as execution:
                decided = _decided(settings, all_findings, chosen)
                return _repair(settings, audit, source, all_findings, chosen, decided, execution, advance)


def _decided(settings: RepairSettings, findings: Sequence[Finding], chosen: Sequence[Finding]) -> list[DecidedRepair]:
    """Read what people decided about patches, as far as it is about the chosen findings."""
    run = Path(settings.run)
    contents = reviewed_contents(run, findings)
    state = ReviewState(events_about(run, settings.verdicts, settings.reviewed, contents), contents)
    decided = decided_repairs(state, contents, {finding.id: finding for finding in findings})
    if not settings.findings and not settings.checks:
        return decided
    wanted = {"", *(finding.id for finding in chosen)}
    return [each for each in decided if each.finding_id in wanted]


def _repair(
    settings: RepairSettings,
    audit: Audited,
    source: Source,
    all_findings: Sequence[Finding],
    chosen: Sequence[Finding],
    decided: Sequence[DecidedRepair],
    execution: Execution,
    advance: Callable[[str, int], None],
) -> RepairOutcome:
    advance("reading the benchmark", 0)
    tasks = AuditInput(audit.settings, source).tasks
    checks = audit.settings.checks()
    checker = TaskChecker(source.name, tasks, checks, audit.observed(), execution)
    workshop = RepairRunner(source.folder or source.root.parent, audit.opener(source), tasks, checker)
    proposed = list(_proposals(source.name, chosen, {task.id: task for task in tasks}, execution, advance))
    proposals = with_decisions(proposed, decided, {finding.id: finding for finding in all_findings})
    repairs = workshop.try_all(proposals, lambda done: advance("re-checking proposals", done))
    together = workshop.combine(repairs)
    split = _write_split(Path(settings.run), Path(settings.out), audit, all_findings, decided, together, workshop)
    people = with_outcomes(decided, repairs, together, split)
    return _write(settings, audit, source, chosen, repairs, people, together, split, tasks, checker.left_out)


def _proposals(
    benchmark: str,
    findings: Sequence[Finding],
    tasks: dict[str, AgentTask],
    execution: Execution,
    advance: Callable[[str, int], None],
) -> Iterator[Proposal]:
    checks = {detector.id: detector for detector in detectors()}
    for finding in findings:
        detector = checks.get(finding.check)
        if finding.patch and isinstance(detector, TaskDetector):
            for task_id in finding.task_ids:
                advance("collecting proposals", 1)
                proposal = propose(benchmark, finding, tasks[task_id], detector, execution)
                if proposal.patch:
                    yield proposal


def _write_split(
    run: Path,
    out: Path,
    audit: Audited,
    findings: Sequence[Finding],
    decided: Sequence[DecidedRepair],
    together: Sequence[TaskRepair],
    workshop: RepairRunner,
) -> RepairedSplitManifest:
    before = read_decisions(run)
    repaired_by: dict[str, Collection[str]] = {each.task_id: each.finding_ids for each in together}
    unchecked: dict[str, Collection[str]] = {each.task_id: each.errors for each in together}
    people = read_report(run).get("people", {}).get("tasks", {})
    accepted = acceptances(decided, together)
    settled = {each.task_id for each in before if each.task_id in people and each.action != "drop"} - set(accepted)
    after = decide_repaired(audit.policy, before, findings, repaired_by, unchecked, settled)
    repaired = {decision.task_id for decision in after if decision.action == "repair"}
    edits = {each.task_id: each.edits for each in together if each.task_id in repaired}
    shutil.rmtree(out / "repaired", ignore_errors=True)
    with workshop.copy_with([edit for each in edits.values() for edit in each]) as copy:
        return write_repaired_split(
            copy,
            out / "repaired",
            before,
            after,
            edits,
            {task_id: workshop.content_hash(task_id) for task_id in edits},
            benchmark=audit.version,
            policy=audit.policy,
            checks=audit.checks,
            agenthard=package_version("agenthard"),
            quarantined=[item for item in read_quarantined(run) if item.kind == "task"],
            accepted=accepted,
        )


def _write(
    settings: RepairSettings,
    audit: Audited,
    source: Source,
    chosen: Sequence[Finding],
    repairs: Sequence[Repair],
    people: Sequence[DecidedRepair],
    together: Sequence[TaskRepair],
    split: RepairedSplitManifest,
    tasks: Sequence[AgentTask],
    left_out: tuple[str, ...],
) -> RepairOutcome:
    out = Path(settings.out)
    issues = _write_issues(out / "issues", audit.version, source, chosen, repairs, tasks, left_out)
    accepted = [repair for repair in repairs if repair.accepted]
    outcome = RepairOutcome(
        benchmark=f"{audit.version.label} {audit.version.content_hash}",
        findings=len(chosen),
        with_patch=len({repair.proposal.finding_id for repair in repairs}),
        proposals=len(repairs),
        accepted=len(accepted),
        checks=tuple(_by_check(chosen, repairs)),
        rejected=dict(sorted(Counter(repair.reason for repair in repairs if not repair.accepted).items())),
        not_repeated=left_out,
        decisions=dict(split.counts),
        removed_before=sum(decision.action == "drop" for decision in read_decisions(Path(settings.run))),
        split_id=split.split_id,
        kept=split.kept,
        issues=issues,
        people=tuple(people),
        folder=settings.out,
    )
    in_split = {task.task_id: set(task.finding_ids) for task in split.repaired}
    write_json(
        out / "repairs.json",
        {
            "schema_version": "1",
            "agenthard": package_version("agenthard"),
            "source": source.name,
            "benchmark": audit.version.model_dump(mode="json"),
            "policy": audit.policy.version,
            "outcome": outcome.model_dump(mode="json", exclude={"folder"}),
            "repairs": [
                {
                    **repair.model_dump(mode="json"),
                    "in_split": repair.proposal.finding_id in in_split.get(repair.proposal.task_id, ()),
                }
                for repair in repairs
            ],
            "together": [each.model_dump(mode="json") for each in together],
        },
    )
    return outcome


def _by_check(chosen: Sequence[Finding], repairs: Sequence[Repair]) -> list[CheckRepairs]:
    findings = Counter(finding.check for finding in chosen)
    rows = []
    for check in sorted({repair.proposal.check for repair in repairs}):
        own = [repair for repair in repairs if repair.proposal.check == check]
        rows.append(
            CheckRepairs(
                check=check,
                findings=findings[check],
                with_patch=len({repair.proposal.finding_id for repair in own}),
                proposals=len(own),
                accepted=sum(repair.accepted for repair in own),
            )
        )
    return rows


def _write_issues(
    folder: Path,
    version: Version,
    source: Source,
    chosen: Sequence[Finding],
    repairs: Sequence[Repair],
    tasks: Sequence[AgentTask],
    left_out: Sequence[str],
) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    by_id = {task.id: task for task in tasks}
    for finding in chosen:
        own = [repair for repair in repairs if repair.accepted and repair.proposal.finding_id == finding.id]
        if own:
            text = issue_text(source, version, finding, by_id[finding.evidence[0].task_id], own, left_out)
            write_text(folder / f"{finding.check}-{finding.id}.md", printable(text))
    return len(list(folder.iterdir()))
