"""Decide an audit again with the verdicts of people, without checking any task again.

Everything that a reader gets is written again: decisions, split, tables, findings.json, SARIF, page, and the report on
cleaning where the run has one. The same verdicts give the same bytes, and no verdicts give those of the audit.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Decision, decide
from agenthard.audit.decisions.suppressions import SuppressedFinding, Suppression
from agenthard.audit.decisions.tickets import tickets
from agenthard.audit.decisions.verdicts import (
    PersonVerdict,
    StaleVerdict,
    TargetVerdict,
    Verdicts,
    finding_content,
)
from agenthard.audit.detectors.base import Detector
from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.flows.audit_outputs import Executed, cited_runs, write_audit
from agenthard.flows.audit_plan import AuditInput, AuditPlan
from agenthard.flows.audited_run import Audited, read_audited, read_coverage, read_decisions, read_report
from agenthard.flows.errors import CommandError
from agenthard.flows.review.events import Event, Key, ReviewError
from agenthard.flows.review.exchange import read_events, require_target
from agenthard.flows.review.state import ReviewState, answer_of
from agenthard.flows.review.store import FILE, EventStore
from agenthard.flows.run_folder import AUDIT_FOLDER, RunFolder
from agenthard.reports.comparison.audits import task_contents
from agenthard.reports.result import AuditResult, CheckInfo
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record


class DecideSettings(Record):
    """What to decide again, and from what."""

    run: str
    """Run folder."""
    verdicts: str | None = None
    """File of events (JSON Lines), or URL of a store; None = ``review.db`` in the run folder."""
    reviewed: str | None = None
    """Name of the audit that was reviewed; None = the name of the run folder."""
    benchmark: str | None = None
    """Folder where the benchmark is now; None = where it was audited."""


class DecidedTask(Record):
    """A task that is decided differently than before."""

    task_id: str
    """Task."""
    before: str
    """Decision before."""
    after: str
    """Decision now."""
    reasons: tuple[str, ...]
    """Why."""


class DecideOutcome(Record):
    """What the verdicts of people changed."""

    verdicts_on_tasks: int
    """Tasks with a verdict that counts."""
    verdicts_on_findings: int
    """Findings with a verdict that counts."""
    reviewers: tuple[str, ...]
    """Who gave them."""
    disputed: tuple[str, ...]
    """Tasks and findings that people disagree about."""
    stale: tuple[str, ...]
    """Verdicts that do not count because what they are about has changed, in words."""
    changed: tuple[DecidedTask, ...]
    """Tasks that are decided differently than before."""
    decisions: dict[str, int]
    """Tasks by decision."""
    split_id: str
    """Id of the cleaned split."""
    kept: int
    """Tasks in it."""
    report: str
    """HTML report."""
    cleaning: str | None
    """Headline of the report on cleaning; None when the run has none."""


def run_name(run: Path) -> str:
    """Return the name under which a run folder is reviewed."""
    return run.resolve().name


class ReviewedRun:
    """A finished audit as its findings and decisions were before people looked at it."""

    def __init__(self, run: Path, benchmark: str | None = None) -> None:
        """Read the audit.

        Raises:
            CommandError: the folder holds no finished audit.
        """
        self.run = run
        self.audited: Audited = read_audited(run, benchmark)
        self.report: dict[str, Any] = read_report(run)
        every = list(map(SuppressedFinding.model_validate, self.report["suppressed"]))
        self.suppressed = [each for each in every if each.until is not None]
        rejected = {each.finding.id: each.finding for each in every if each.until is None}
        self.findings = [Finding.model_validate(item) for item in self.report["findings"]]
        positions: dict[str, int] = self.report.get("people", {}).get("rejected", {})
        for identity, position in sorted(positions.items(), key=lambda item: item[1]):
            self.findings.insert(position, rejected[identity])
        self.coverage: CoverageTable = read_coverage(run)
        self.decisions: list[Decision] = read_decisions(run)
        self.checks = self._checks()

    def _checks(self) -> list[Detector]:
        settings, audited = self.audited.settings, self.audited.checks
        judged = JudgeCheck.id in audited
        found: list[Detector] = [*settings.checks(), *([JudgeCheck()] if judged else [])]
        now = {detector.id: detector.version for detector in found}
        if now != audited:
            changed = sorted(check for check in {*audited, *now} if audited.get(check) != now.get(check))
            raise CommandError(
                f"{self.run}: was audited by another version of AgentHard (other checks: {', '.join(changed[:3])}"
                f"{' ...' if len(changed) > 3 else ''}); audit again"
            )
        return found

    @property
    def contents(self) -> dict[Key, str]:
        """Hash of each task and finding, which says whether a verdict is about what is here now."""
        return reviewed_contents(self.run, self.findings)

    def decide(self, verdicts: Verdicts) -> list[Decision]:
        """Decide every task with the verdicts of people; nothing is written."""
        ids = [decision.task_id for decision in self.decisions]
        deciding = {detector.id: detector.deciding for detector in self.checks if detector.deciding}
        return list(decide(self.audited.policy, ids, self.findings, self.coverage, deciding, verdicts))


def reviewed_contents(run: Path, findings: Sequence[Finding]) -> dict[Key, str]:
    """Hash each task of a run and each finding: what a verdict is about."""
    tasks: dict[Key, str] = {("task", task): content for task, content in task_contents(run).items()}
    return tasks | {("finding", finding.id): finding_content(finding) for finding in findings}


def verdicts_of(state: ReviewState, reviewed: ReviewedRun) -> Verdicts:
    """Turn the state of a review into the input of the decisions.

    Args:
        state: folded with the contents of the run.
        reviewed: the run.
    """
    items = dict(state.items())
    tasks = {d.task_id: items["task", d.task_id] for d in reviewed.decisions if ("task", d.task_id) in items}
    places = {finding.id: n for n, finding in enumerate(reviewed.findings)}
    findings = {identity: items["finding", identity] for identity in places if ("finding", identity) in items}
    suppressed = {each.finding.id for each in reviewed.suppressed}
    known = {("task", each) for each in tasks} | {("finding", each) for each in (*findings, *suppressed)}
    stale = [
        StaleVerdict(
            target=key[0],
            target_id=key[1],
            verdict=_said(event),
            why="its content has changed since" if key in known else "the audit does not have it any more",
        )
        for key, item in items.items()
        for event in item.stale
        if key[1] not in suppressed
    ]

    def told(items: Mapping[str, Any]) -> dict[str, TargetVerdict]:
        return {
            identity: TargetVerdict(
                answers=tuple(map(_said, item.verdicts.values())),
                final=_said(item.adjudication) if item.adjudication else None,
            )
            for identity, item in items.items()
            if item.reviewed
        }

    found = Verdicts(
        tasks=told(tasks),
        findings=told(findings),
        stale=tuple(sorted(stale, key=lambda each: (each.target, each.target_id, each.verdict.by, each.verdict.at))),
    )
    return found.model_copy(update={"rejected": {each: n for each, n in places.items() if found.rejects(each)}})


def _said(event: Event) -> PersonVerdict:
    return PersonVerdict(by=event.by, at=event.at, answer=answer_of(event), reason=str(event.data.get("reason", "")))


def decide_run(settings: DecideSettings) -> DecideOutcome:
    """Decide an audit again and write everything that depends on it.

    Raises:
        CommandError: the folder holds no finished audit, or it cannot be decided again; the message says why.
        ReviewError: a file of verdicts cannot be read, or names what the audit does not have.
        InfrastructureError: the store cannot be read.
    """
    run = Path(settings.run)
    folder = RunFolder(run)
    if not (run / "manifest.json").is_file():
        read_report(run)  # says that no audit is here
    with folder.hold(run / "manifest.json"):
        reviewed = ReviewedRun(run, settings.benchmark)
        contents = reviewed.contents
        state = ReviewState(events_about(run, settings.verdicts, settings.reviewed, contents), contents)
        verdicts = verdicts_of(state, reviewed)
        before = reviewed.decisions
        after = reviewed.decide(verdicts)
        outcome = _write(reviewed, folder, verdicts, after)
        cleaning = _report_again(folder, settings.benchmark)
    return DecideOutcome(
        verdicts_on_tasks=len(verdicts.tasks),
        verdicts_on_findings=len(verdicts.findings),
        reviewers=verdicts.reviewers,
        disputed=tuple(
            f"{what} {identity}"
            for what, group in (("task", verdicts.tasks), ("finding", verdicts.findings))
            for identity, given in group.items()
            if given.outcome == "disputed"
        ),
        stale=tuple(
            f"{each.target} {each.target_id}: {each.verdict.by} ({each.verdict.when_and_why}): {each.why}"
            for each in verdicts.stale
        ),
        changed=tuple(
            DecidedTask(task_id=now.task_id, before=was.action, after=now.action, reasons=now.reasons)
            for was, now in zip(before, after, strict=True)
            if was.action != now.action
        ),
        decisions=outcome.decisions,
        split_id=outcome.split_id,
        kept=outcome.kept,
        report=outcome.report,
        cleaning=cleaning,
    )


def events_about(run: Path, given: str | None, reviewed: str | None, contents: Mapping[Key, str]) -> list[Event]:
    """Read the events about a run.

    Args:
        run: run folder.
        given: file of events (JSON Lines), or URL of a store; None = ``review.db`` in the run folder, if there is one.
        reviewed: name of the audit that was reviewed; None = the name of the run folder.
        contents: hash of each task and finding of the run.

    Raises:
        ReviewError: the file cannot be read, or names what the audit does not have.
        InfrastructureError: the store cannot be read.
    """
    name = reviewed or run_name(run)
    if given is None and not (run / FILE).is_file():
        return []
    if given is not None and "://" not in given:
        events = [event for event in read_events(Path(given)) if reviewed in (None, event.run)]
        for event in events:
            require_target(event, contents, f"{given}: event {event.id}")
        return events
    with EventStore(given) if given else EventStore.of_run(run) as store:
        found = list(store.since(0, name))
        others = store.runs()
    if not found and others and (reviewed or given):
        raise ReviewError(f"the store has no events about {name!r}, only about {', '.join(others)}; see --reviewed")
    return found


class _Work(NamedTuple):
    folder: RunFolder
    plan: AuditPlan


def work_of(reviewed: ReviewedRun) -> _Work:
    """Find the folder with the runs and replays of the audit, which is another one for a judged run."""
    folder = RunFolder(reviewed.run)
    named = folder.work / AUDIT_FOLDER
    if named.is_file():
        folder = RunFolder(reviewed.run / json.loads(named.read_text(encoding="utf-8"))["audit"])
    path = folder.work / "plan.json"
    if not path.is_file():
        raise CommandError(
            f"{folder.root}: work/plan.json is missing, and the report is written from what is in work/; audit again"
        )
    return _Work(folder, AuditPlan.model_validate_json(path.read_bytes()))


def _write(reviewed: ReviewedRun, folder: RunFolder, verdicts: Verdicts, decisions: list[Decision]) -> Any:
    work, audited, report = work_of(reviewed), reviewed.audited, reviewed.report
    source = audited.open_unchanged()
    given = AuditInput(audited.settings.model_copy(update={"out": str(reviewed.run)}), source)

    def runs(ids: Any) -> Any:
        return work.folder.all_runs(work.plan.shards, ids)

    counting = [finding for finding in reviewed.findings if not verdicts.rejects(finding.id)]
    rejected = [
        SuppressedFinding(finding=finding, reason=verdicts.findings[finding.id].sentence, until=None)
        for finding in reviewed.findings
        if verdicts.rejects(finding.id)
    ]
    result = AuditResult(
        source=source.name,
        title=source.title,
        version=audited.version,
        root=source.folder or source.root,
        tasks=given.tasks,
        quarantined=work.plan.quarantined,
        not_read=work.plan.not_read,
        findings=counting,
        coverage=reviewed.coverage,
        decisions=decisions,
        checks=[CheckInfo.of(detector) for detector in reviewed.checks],
        taxonomy=load_taxonomy(),
        policy=report["policy"],
        suppressed=[*reviewed.suppressed, *rejected],
        expired=list(map(Suppression.model_validate, report.get("expired", ()))),
        not_asked=report.get("not_asked", ()),
        people=verdicts,
        tickets=tickets(audited.policy, counting),
        models=work.plan.models,
        figures=source.figures(runs(None)),
        cited_runs=cited_runs(runs, reviewed.findings),
        software=report["software"],
        seed=report["seed"],
        settings=report["settings"],
        mapping_doubts=report.get("mapping_doubts", ()),
    )
    manifest = json.loads((reviewed.run / "manifest.json").read_text(encoding="utf-8"))
    executed = Executed(lambda: runs(None), work.folder.replays(work.plan.shards))
    further = {"judge": manifest["judge"]} if "judge" in manifest else {}
    return write_audit(result, folder, given, work.plan, audited.policy, executed, further)


def _report_again(folder: RunFolder, benchmark: str | None) -> str | None:
    """Write the report on cleaning again, if the run has one, with the settings that it was made with."""
    if not (folder.root / "report" / "analysis.json").is_file():
        return None
    from agenthard.flows.report import SETTINGS, ReportSettings, make_report

    known = folder.work / SETTINGS
    settings = ReportSettings(run=str(folder.root))
    if known.is_file():
        settings = ReportSettings.model_validate_json(known.read_bytes())
    update = {"run": str(folder.root), **({"benchmark": benchmark} if benchmark else {})}
    return make_report(settings.model_copy(update=update)).sentence
