"""One audit of a schedule: get the benchmark, audit what changed, compare, offer the split for publishing."""

import hashlib
import json
from datetime import datetime
from pathlib import Path

from agenthard.audit.decisions.policy import default_policy_text
from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.errors import CommandError
from agenthard.flows.logs import log
from agenthard.flows.publishing.publish import publish
from agenthard.flows.publishing.records import PublishSettings
from agenthard.flows.scheduling.difference import Difference, difference, difference_markdown, first_audit
from agenthard.flows.scheduling.history_page import FILE, write_history
from agenthard.flows.scheduling.notify import Message, send_all
from agenthard.flows.scheduling.origins import folder_name, keep_copy, present_version
from agenthard.flows.scheduling.series import AuditRecord, PendingSplit, PublishedSplit, SeriesFolder
from agenthard.flows.scheduling.settings import PathOrigin, Schedule, SplitStep
from agenthard.reports.kit.markdown import md
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import read_yaml_text


class ScheduleOutcome(Record):
    """What one audit of a schedule led to."""

    name: str
    """Name of the schedule."""
    number: int
    """Number of the audit, from 1."""
    run: str | None
    """Run folder; None when nothing had changed."""
    difference: Difference | None
    """What is different since the audit before; None when nothing had changed."""
    sentence: str
    """The outcome in one sentence."""
    waits: PendingSplit | None = None
    """A split that is not published before a person approves it."""
    published: PublishedSplit | None = None
    """The split that others use."""
    history: str
    """Page of all audits."""
    not_sent: tuple[str, ...] = ()
    """Notifications that could not be sent."""


def run_schedule(schedule: Schedule, at: datetime) -> ScheduleOutcome:
    """Audit a benchmark as it is now, if anything changed since the last audit.

    Args:
        schedule: what and how.
        at: the present time; the history has it.

    Raises:
        FolderInUseError: the schedule is being audited by another process.
        AgentHardError: the benchmark cannot be fetched or audited; the history has the reason, and people are told.
    """
    series = SeriesFolder(Path(schedule.folder))
    with series.hold():
        number = max((each.number for each in series.history), default=0) + 1
        try:
            made = _audit(schedule, series, number, at)
        except AgentHardError as error:
            _fail(schedule, series, AuditRecord(number=number, at=at, run=None, benchmark="", failure=str(error)))
            raise
        # The record comes last: what a kill leaves unrecorded is done again, and all of it can be done twice.
        _offer_split(schedule, series, made, at)
        outcome = _outcome(schedule, series, made)
        not_sent = _tell(schedule, made, outcome)
        series.record(made.model_copy(update={"not_sent": not_sent}))
        series.remove_old(schedule.keep)
        write_history(series, schedule.name)
        return outcome.model_copy(update={"not_sent": not_sent})


def _audit(schedule: Schedule, series: SeriesFolder, number: int, at: datetime) -> AuditRecord:
    """Audit the present version, unless the last audit was of the same content with the same checks."""
    last, decided_with = series.last_audit, _decided_with(schedule)
    with present_version(schedule.origin, series.benchmarks) as here:
        given = AuditInput(_settings(schedule, series, here, series.runs / "none"))
        name = folder_name(number, given.version.content_hash)
        benchmark = f"{given.version.label} {given.version.content_hash}"
        if last is not None and (last.key, last.decided_with) == (given.key, decided_with):
            return AuditRecord(number=number, at=at, run=None, benchmark=benchmark)
        if not isinstance(schedule.origin, PathOrigin) or schedule.origin.copy_files:
            here = keep_copy(here, series.benchmarks / name)
    folder = series.runs / name
    checks = series.runs / f"{name}-checks" if schedule.judge else folder
    audited = run_audit(AuditInput(_settings(schedule, series, here, checks)))
    if schedule.judge:
        _judge(schedule, series, checks, folder)
    split, checked = _split_id(folder), audited.tasks - (audited.reused or 0)
    if last is None or last.run is None or not (series.root / last.run).is_dir():
        found = first_audit(folder, checked, split)
    else:
        before = series.root / last.run
        found = difference(before, folder, checked=checked, splits=(_split_id(before), split))
    run = folder.relative_to(series.root).as_posix()
    return AuditRecord(
        number=number,
        at=at,
        run=run,
        benchmark=benchmark,
        key=given.key,
        decided_with=decided_with,
        difference=found,
    )


def _settings(schedule: Schedule, series: SeriesFolder, path: Path, out: Path) -> AuditSettings:
    return AuditSettings(
        source=schedule.source,
        path=str(path),
        domains=schedule.domains,
        runs=schedule.runs,
        out=str(out),
        workers=schedule.workers,
        policy=schedule.policy,
        checkout=str(path / schedule.checkout) if schedule.checkout else None,
        weak_isolation=schedule.weak_isolation,
        reuse=str(series.results),
    )


def _decided_with(schedule: Schedule) -> str:
    """Hash what decides after the checks: policy and judges."""
    policy = read_yaml_text(Path(schedule.policy)) if schedule.policy else default_policy_text()
    judges = ""
    if schedule.judge:
        judges = f"{read_yaml_text(Path(schedule.judge.judges))}\n{schedule.judge.model_dump_json()}"
    return hashlib.sha256(f"{policy}\n{judges}".encode()).hexdigest()[:16]


def _judge(schedule: Schedule, series: SeriesFolder, checks: Path, out: Path) -> None:
    from agenthard.audit.judge.settings import load_settings
    from agenthard.flows.judging.run import run_judging
    from agenthard.flows.judging.settings import JudgingSettings

    assert schedule.judge is not None
    run_judging(
        JudgingSettings(
            run=str(checks),
            judges=load_settings(Path(schedule.judge.judges)),
            out=str(out),
            sample=schedule.judge.sample,
            budget=schedule.judge.budget,
            workers=schedule.workers,
            cache=str(series.root / "replies.db"),
        )
    )


def _split_id(run: Path) -> str:
    return str(json.loads((run / "split" / "cleaned" / "manifest.json").read_bytes())["split_id"])


def _offer_split(schedule: Schedule, series: SeriesFolder, made: AuditRecord, at: datetime) -> None:
    """Publish the cleaned split of an audit, or let it wait for a person, if it differs from the published one."""
    if schedule.publish is None or made.difference is None or made.run is None:
        return
    published, split = series.published, made.difference.split_now
    if published is not None and published.split_id == split:
        series.await_approval(None)
        return
    before = series.kept_ids(published.run) if published and (series.root / published.run).is_dir() else []
    now = series.kept_ids(made.run)
    pending = PendingSplit(
        split_id=split,
        run=made.run,
        added=tuple(sorted(set(now) - set(before))),
        removed=tuple(sorted(set(before) - set(now))),
    )
    series.await_approval(pending)
    if not schedule.publish.gate:
        publish_pending(schedule, series, by="no approval asked", reason="the schedule has gate: false", at=at)


def approve(schedule: Schedule, split_id: str | None, by: str, reason: str, at: datetime) -> PublishedSplit:
    """Publish the split that waits.

    Args:
        schedule: the schedule.
        split_id: id that was looked at; None = whichever waits.
        by: who approves.
        reason: why.
        at: the present time.

    Raises:
        CommandError: no split waits, or another one.
    """
    series = SeriesFolder(Path(schedule.folder))
    with series.hold():
        waiting = series.pending
        if waiting is None:
            raise CommandError(f"{schedule.folder}: no split waits for approval")
        if split_id is not None and waiting.split_id != split_id:
            raise CommandError(f"{schedule.folder}: the split {waiting.split_id} waits, and not {split_id}")
        done = publish_pending(schedule, series, by=by, reason=reason, at=at)
        write_history(series, schedule.name)
        return done


def reject(schedule: Schedule, split_id: str) -> None:
    """Leave the published split as it is; the waiting one is dropped if it is the one that was looked at."""
    series = SeriesFolder(Path(schedule.folder))
    with series.hold():
        if series.pending is not None and series.pending.split_id == split_id:
            series.await_approval(None)


def publish_pending(schedule: Schedule, series: SeriesFolder, *, by: str, reason: str, at: datetime) -> PublishedSplit:
    """Publish the waiting split; the folder is locked by the caller."""
    waiting = series.pending
    assert waiting is not None
    step, last = schedule.publish or SplitStep(), series.published
    folder = series.root / "published" / waiting.split_id
    made = publish(
        PublishSettings(
            run=str(series.root / waiting.run),
            split=step.split,
            out=str(folder),
            previous=str(series.root / last.folder) if last and last.split_id != waiting.split_id else None,
            name=step.name or schedule.name,
            sign=step.sign,
            push=step.push,
        )
    )
    done = PublishedSplit(
        split_id=waiting.split_id,
        version=made.version,
        run=waiting.run,
        folder=folder.relative_to(series.root).as_posix(),
        by=by,
        reason=reason,
        at=at,
    )
    series.publish(done)
    return done


def _outcome(schedule: Schedule, series: SeriesFolder, made: AuditRecord) -> ScheduleOutcome:
    waits = series.pending if schedule.publish else None
    sentence = made.difference.sentence if made.difference else "nothing changed since the last audit"
    if waits is not None:
        sentence += f"; the split {waits.split_id} waits for approval"
    return ScheduleOutcome(
        name=schedule.name,
        number=made.number,
        run=str(series.root / made.run) if made.run else None,
        difference=made.difference,
        sentence=sentence,
        waits=waits,
        published=series.published,
        history=str(series.root / FILE),
    )


def _tell(schedule: Schedule, made: AuditRecord, outcome: ScheduleOutcome) -> tuple[str, ...]:
    """Tell people about an audit; return what could not be sent."""
    found = made.difference
    if schedule.notify_on == "changes" and (found is None or found.is_empty):
        return ()
    markdown = difference_markdown(schedule.name, found, {}) if found else f"{outcome.sentence}\n"
    if outcome.waits is not None:
        removed, added = len(outcome.waits.removed), len(outcome.waits.added)
        markdown += (
            f"\nThe split `{outcome.waits.split_id}` ({removed:,} tasks fewer, {added:,} more than the published one) "
            "waits for approval: `agenthard schedule approve`, or answer the paused flow.\n"
        )
    message = Message(
        subject=f"AgentHard: {schedule.name}, audit {made.number}", text=outcome.sentence, markdown=markdown
    )
    return tuple(send_all(schedule.notify, message))


def _fail(schedule: Schedule, series: SeriesFolder, made: AuditRecord) -> None:
    """Record why an audit failed, and tell people."""
    subject = f"AgentHard: {schedule.name}, audit {made.number} failed"
    text = f"No audit was made: {made.failure}"
    not_sent = tuple(send_all(schedule.notify, Message(subject=subject, text=text, markdown=f"{md(text)}\n")))
    series.record(made.model_copy(update={"not_sent": not_sent}))
    try:
        write_history(series, schedule.name)
    except (AgentHardError, OSError) as error:
        log.warning("the history could not be written: %s", error)
