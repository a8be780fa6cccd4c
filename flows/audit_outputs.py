"""The last stage of an audit: conclude over all shards, decide, and write tables, split and report."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version as package_version
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agenthard.audit.conclude import conclude
from agenthard.audit.decisions.policy import Policy, decide, default_policy_text, is_confirmed_defect, load_policy
from agenthard.audit.decisions.split import ACTIONS, write_cleaned_split
from agenthard.audit.decisions.suppressions import expired, require_found, suppress
from agenthard.audit.decisions.tickets import Ticket, tickets
from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.audit.mapping_doubt import doubt_mapping
from agenthard.audit.native_text import with_native_text
from agenthard.audit.shards import ShardResult
from agenthard.audit.sources.base import NotRead, count_not_read, first_reasons
from agenthard.flows.audit_plan import AuditInput, AuditPlan, AuditSettings
from agenthard.flows.audited_run import read_findings
from agenthard.flows.profile import timed
from agenthard.flows.replay import with_commands
from agenthard.flows.run_folder import RunFolder, write_json, write_jsonl
from agenthard.flows.telemetry import count_findings
from agenthard.reports.result import AuditResult, ById, CheckInfo
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.finding import Finding, Status, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory
from agenthard.taxonomy.yaml_text import read_yaml_text


class AuditOutcome(Record):
    """The result of an audit in figures, and where its files are."""

    source: str
    """Name of the source."""
    benchmark: str
    """Release label and content hash."""
    tasks: int
    """Tasks read."""
    checked: int
    """Tasks on which at least one check ran without an error."""
    not_checked: int
    """Tasks on which no check could run."""
    quarantined: int
    """Task records that could not be read; tasks + quarantined is everything in the files that were read."""
    not_read: tuple[NotRead, ...] = ()
    """What looks like tasks in the benchmark's folder and was not read."""
    tasks_not_read: int = 0
    """Tasks in ``not_read`` that were not left out on purpose; the number of some may be unknown."""
    tasks_left_out: int = 0
    """Tasks in ``not_read`` that the user's choice of domains or the benchmark's own default leaves out."""
    tasks_there: int = 0
    """Everything that is there: tasks + quarantined + tasks_not_read + tasks_left_out."""
    runs: int
    """Runs read."""
    infrastructure_errors: int
    """Runs that could not be scored."""
    quarantined_runs: int
    """Run records that could not be used."""
    quarantine_reasons: tuple[str, ...] = ()
    """The most frequent reasons for which records could not be read, one line each with the first place."""
    mapping_doubts: tuple[str, ...] = ()
    """Why the mapping with which the benchmark was read looks wrong; empty when it does not."""
    findings: dict[str, int]
    """Findings by tier."""
    confirmed: int
    """Confirmed findings that are more than cosmetic."""
    levels: dict[str, int] = {}
    """Confirmed and suspected findings by the level of their cause."""
    tickets: int = 0
    """Causes that tasks share; tables/tickets.parquet ranks them."""
    top_tickets: tuple[str, ...] = ()
    """The first of them, one line each."""
    deciding: dict[str, int] = {}
    """Tasks on which deciding checks ran, by kind; a kind that was not asked to run is absent."""
    check_errors: int
    """(task, check) pairs that ended in an error."""
    decisions: dict[str, int]
    """Tasks by decision."""
    split_id: str
    """Id of the cleaned split."""
    kept: int
    """Tasks in the cleaned split."""
    folder: str
    """Run folder."""
    report: str
    """HTML report."""
    isolation: str = ""
    """What contained the benchmark code that was executed, or that nothing was."""
    not_asked: tuple[str, ...] = ()
    """Checks that the user's choice leaves out."""
    reused: int | None = None
    """Tasks whose results are from an earlier audit of equal content; None where none were looked for."""
    suppressed: tuple[str, ...] = ()
    """Findings that do not count, in words: id, check, tasks, reason and last day."""
    expired: tuple[str, ...] = ()
    """Suppressions whose last day has passed, in words: what they name counts again."""

    @property
    def incomplete(self) -> bool:
        """Whether some task could not be read or checked, a check ended in an error, or the mapping looks wrong."""
        gaps = any(item.is_gap for item in self.not_read)
        unread = self.quarantined or self.not_checked or self.mapping_doubts
        return gaps or bool(self.check_errors or unread)


@dataclass(frozen=True)
class Addition:
    """What a later stage adds to a finished audit, to be concluded with it into a run folder of its own."""

    audit: Path
    """Run folder of the audit."""
    checks: Sequence[Detector]
    """Checks of the stage."""
    results: Sequence[ShardResult]
    """What they found; they come after the audit's own."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Further entries of the manifest."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further options that a reader of the report needs to repeat the run."""


class Executed(NamedTuple):
    """What a report shows of runs and replays."""

    runs: Callable[[], Iterable[Trajectory]]
    """Streams all runs, those of one task together, as often as it is called."""
    replays: Iterable[ShownReplay]
    """Replays of ground truths; read once."""


MOST_TICKETS = 3
"""Tickets in the outcome."""


def publish(given: AuditInput, plan: AuditPlan, more: Addition | None = None) -> AuditOutcome:
    """Write everything that a reader of the audit gets.

    Args:
        given: the audit; its folder is written.
        plan: what was read.
        more: what a later stage adds; the results of the audit are then read from the audit's own folder.

    Raises:
        PolicyError: when the policy file cannot be used.
    """
    settings = given.settings
    folder = RunFolder(Path(settings.out))
    audited = RunFolder(more.audit) if more else folder
    policy = load_policy(Path(settings.policy) if settings.policy else None)
    with timed("concluding"):
        result = conclude_audit(
            given,
            plan,
            chain(audited.shard_results(plan.shards), more.results if more else ()),
            [*settings.checks(), *(more.checks if more else ())],
            policy,
            runs=lambda ids: audited.all_runs(plan.shards, ids),
            isolation=audited.isolation(plan.shards),
            further=more.settings if more else {},
        )
    further = more.manifest if more else {}
    written = Executed(lambda: audited.all_runs(plan.shards), audited.replays(plan.shards))
    return write_audit(result, folder, given, plan, policy, written, further)


def conclude_audit(
    given: AuditInput,
    plan: AuditPlan,
    results: Iterable[ShardResult],
    asked: Sequence[Detector],
    policy: Policy,
    *,
    runs: Callable[[Collection[str] | None], Iterable[Trajectory]],
    isolation: str,
    further: Mapping[str, str] = MappingProxyType({}),
) -> AuditResult:
    """Conclude from all shards and decide. Writes nothing.

    Args:
        given: the audit.
        plan: what was read.
        results: results of the shards, in order; read once.
        asked: the checks.
        policy: turns findings into decisions.
        runs: streams the runs with some ids, or all of them for None, in task order, as often as it is called.
        isolation: what contained benchmark code.
        further: further options that a reader of the report needs to repeat the run.
    """
    settings, source = given.settings, given.source
    findings, coverage = conclude(source.name, plan.task_ids, results, asked)
    if not (settings.domains or settings.select or settings.ignore):  # else a finding may be in what was left out
        require_found(settings.suppressions, findings)
    today = datetime.now(UTC).date()
    cited = cited_runs(runs, findings)
    findings = with_native_text(
        with_commands(findings, settings),
        source,
        ById(given.tasks, coverage.row),
        cited,
        [Path(path) for path in settings.runs],
    )
    findings, suppressed = suppress(findings, settings.suppressions, today)
    deciding = {detector.id: detector.deciding for detector in asked if detector.deciding}
    doubts: tuple[str, ...] = ()
    if source.described_by_user:
        doubted = doubt_mapping(
            findings, len(plan.task_ids), lambda found: decide(policy, plan.task_ids, found, coverage, deciding)
        )
        findings, doubts = doubted.findings, doubted.doubts
    decisions = decide(policy, plan.task_ids, findings, coverage, deciding)
    return AuditResult(
        source=source.name,
        title=source.title,
        version=plan.version,
        root=source.folder or source.root,
        tasks=given.tasks,
        quarantined=plan.quarantined,
        not_read=plan.not_read,
        findings=findings,
        coverage=coverage,
        decisions=decisions,
        checks=[CheckInfo.of(detector) for detector in asked],
        taxonomy=load_taxonomy(),
        policy=read_yaml_text(Path(settings.policy)) if settings.policy else default_policy_text(),
        tickets=tickets(policy, findings),
        models=plan.models,
        figures=source.figures(runs(None)),
        cited_runs=cited,
        software={"agenthard": package_version("agenthard")},
        mapping_doubts=doubts,
        suppressed=suppressed,
        expired=expired(settings.suppressions, today),
        not_asked=settings.not_asked(),
        settings={"domains": ", ".join(settings.domains) or "all", "isolation": isolation, **further},
    )


def write_audit(
    result: AuditResult,
    folder: RunFolder,
    given: AuditInput,
    plan: AuditPlan,
    policy: Policy,
    executed: Executed,
    manifest: Mapping[str, Any] = MappingProxyType({}),
) -> AuditOutcome:
    """Write what a reader gets of an audit into its run folder.

    Args:
        result: the audit.
        folder: the run folder.
        given: what was audited and how.
        plan: what was read.
        policy: the policy behind the decisions.
        executed: runs and replays.
        manifest: further entries of the manifest.
    """
    from agenthard.reports.findings_json import write_findings_json
    from agenthard.reports.page import write_page, write_summary
    from agenthard.reports.sarif import write_sarif
    from agenthard.reports.tables import write_tables

    checks, agenthard = {check.id: check.version for check in result.checks}, result.software["agenthard"]
    write_jsonl(folder.root / "quarantine.jsonl", plan.quarantined)
    with timed("writing split"):
        split = write_cleaned_split(
            given.source,
            folder.split / "cleaned",
            result.decisions,
            benchmark=plan.version,
            policy=policy,
            checks=checks,
            agenthard=agenthard,
            quarantined=[item for item in plan.quarantined if item.kind == "task"],
            not_read=plan.not_read,
        )
    with timed("writing tables"):
        early = folder.tasks_table if folder.tasks_table.is_file() else None
        write_tables(result, folder.tables, executed.runs(), early)
    with timed("writing findings.json"):
        write_findings_json(result, folder.root / "findings.json")
    with timed("writing results.sarif"):
        write_sarif(result, folder.root / "results.sarif")
    with timed("writing report.html"):
        write_page(result, folder.root / "report.html", executed.runs(), executed.replays)
        write_summary(result, folder.root / "summary.md")
    outcome = _outcome(given.settings, plan, folder, result, split.split_id, split.kept)
    count_findings(outcome.findings)
    write_json(
        folder.root / "manifest.json",
        {
            "schema_version": "1",
            "agenthard": agenthard,
            "taxonomy": result.taxonomy.version,
            "checks": checks,
            "policy": policy.model_dump(mode="json"),
            "source": given.source.name,
            "benchmark": plan.version.model_dump(mode="json"),
            "domains": list(given.settings.domains),
            "experimental": given.settings.experimental,
            "select": list(given.settings.select),
            "ignore": list(given.settings.ignore),
            "suppressions": [each.model_dump(mode="json") for each in given.settings.suppressions],
            "key": plan.key,
            "isolation": outcome.isolation,
            "outcome": outcome.model_dump(mode="json", exclude={"folder", "report", "reused"}),
            **manifest,
        },
    )
    return outcome


def cited_runs(
    runs: Callable[[Collection[str] | None], Iterable[Trajectory]], findings: Sequence[Finding]
) -> dict[str, Trajectory]:
    """Return the runs that findings quote, by id.

    Args:
        runs: streams the runs with some ids.
        findings: the findings.
    """
    wanted = {item.trajectory_id for finding in findings for item in finding.evidence if item.trajectory_id}
    return {run.id: run for run in runs(wanted)} if wanted else {}


def _outcome(
    settings: AuditSettings,
    plan: AuditPlan,
    folder: RunFolder,
    result: AuditResult,
    split_id: str,
    kept: int,
) -> AuditOutcome:
    from agenthard.reports.totals import totals

    findings, decisions = result.findings, result.decisions
    sums = totals(result)
    quarantined = Counter(item.kind for item in plan.quarantined)
    not_read, left_out = count_not_read(plan.not_read)
    tiers = Counter(finding.tier.value for finding in findings)
    actions = Counter(decision.action for decision in decisions)
    return AuditOutcome(
        source=result.source,
        benchmark=f"{plan.version.label} {plan.version.content_hash}",
        tasks=len(plan.task_ids),
        checked=sums.checked,
        not_checked=sums.tasks - sums.checked,
        quarantined=quarantined["task"],
        not_read=plan.not_read,
        tasks_not_read=not_read,
        tasks_left_out=left_out,
        tasks_there=len(plan.task_ids) + quarantined["task"] + not_read + left_out,
        runs=plan.runs,
        infrastructure_errors=sum(row.infrastructure_errors for row in plan.models),
        quarantined_runs=quarantined["run"],
        quarantine_reasons=first_reasons(plan.quarantined),
        mapping_doubts=tuple(result.mapping_doubts),
        findings={tier.value: tiers[tier.value] for tier in Tier},
        confirmed=sum(map(is_confirmed_defect, findings)),
        check_errors=int(result.coverage.having(Status.ERROR).sum()),
        levels=sums.levels,
        tickets=sums.tickets,
        top_tickets=tuple(_line(ticket) for ticket in result.tickets[:MOST_TICKETS]),
        deciding={reach.kind: reach.tasks for reach in sums.deciding if reach.asked},
        decisions={action: actions[action] for action in ACTIONS},
        split_id=split_id,
        kept=kept,
        folder=str(folder.root),
        report=str(folder.root / "report.html"),
        isolation=result.settings["isolation"],
        not_asked=tuple(settings.not_asked()),
        reused=folder.reused(plan.shards) if settings.reuse else None,
        suppressed=tuple(each.words for each in result.suppressed),
        expired=tuple(each.words for each in result.expired),
    )


def _line(ticket: Ticket) -> str:
    tasks = f"{ticket.tasks:,} task{'' if ticket.tasks == 1 else 's'}"
    return f"[{ticket.level}] {ticket.claim} ({tasks}, effect {ticket.effect_words}; finding {ticket.finding_id})"


def new_defects(run: Path, baseline: Path | None) -> int:
    """Count the confirmed defects of a run that are not in an earlier run; without one, all of them."""
    known = {finding.id for finding in read_findings(baseline)} if baseline else set()
    return sum(is_confirmed_defect(finding) and finding.id not in known for finding in read_findings(run))
