"""A benchmark over time: what is new, persisted, fixed or flipped from run to run, and the history of one finding."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.flows.audited_run import read_report
from agenthard.flows.errors import CommandError
from agenthard.flows.review.state import ItemState, ReviewState, answer_of
from agenthard.flows.review.store import FILE, EventStore
from agenthard.reports.comparison.audits import AuditSide, finding_changes, load_side
from agenthard.reports.comparison.findings import Cause, FindingChange
from agenthard.taxonomy.record import Record

Change = Literal["new", "persisted", "flipped", "fixed", "not checked", "suppressed", "absent"]


class ItemChange(Record):
    """What happened to a finding from one run to the next."""

    change: Change
    """absent: neither run has it."""
    cause: Cause | Literal["judge"] | None = None
    """What can explain it: the check, the task, the set of tasks, other; judge = a judge changed its verdict on a task
    that did not change. None where nothing changed."""
    differences: tuple[str, ...] = ()
    """What differs, for a flipped finding."""


class HistoryRow(Record):
    """A finding in one run."""

    run: str
    """Run folder."""
    version: str
    """Release of the benchmark, with its content hash."""
    change: ItemChange | None
    """What happened since the run before; None for the first run."""
    tier: str | None
    """How sure it is; None where the run does not have it."""
    severity: str | None
    """What it does to the score."""
    tasks: int
    """Tasks that it touches."""
    decisions: dict[str, int]
    """Decisions about these tasks."""
    said: tuple[str, ...]
    """Verdicts of people on it in the review of this run, in words."""


def changes_between(before: AuditSide, now: AuditSide) -> dict[str, ItemChange]:
    """Tell what happened to each finding of two audits of one benchmark, by its id.

    Raises:
        ComparisonError: for audits of different benchmarks.
    """
    found = finding_changes(before, now)
    earlier = {finding.id for finding in before.audit.findings}
    changes = {f.id: ItemChange(change="persisted") for f in now.audit.findings if f.id in earlier}
    groups: tuple[tuple[Change, Sequence[FindingChange]], ...] = (
        ("new", found.new),
        ("flipped", found.flipped),
        ("fixed", found.fixed),
        ("not checked", found.unchecked),
        ("suppressed", found.suppressed),
    )
    for change, group in groups:
        for each in group:
            drift = each.check == JudgeCheck.id and each.cause == "other"
            changes[each.id] = ItemChange(
                change=change, cause="judge" if drift else each.cause, differences=each.changes
            )
    return changes


def finding_history(runs: Sequence[Path], finding: str) -> list[HistoryRow]:
    """Follow a finding through several runs of one benchmark.

    Args:
        runs: run folders, the earliest first.
        finding: id of the finding.

    Raises:
        CommandError: a folder holds no finished audit, or no run has the finding.
        ComparisonError: the runs are of different benchmarks.
    """
    for run in runs:
        read_report(run)  # says that no audit is here
    rows = history_of([load_side(run) for run in runs], finding, [_said(run, finding) for run in runs])
    if all(row.tier is None for row in rows):
        raise CommandError(
            f"no finding {finding!r} in {', '.join(map(str, runs))}; `agenthard findings RUN` lists them"
        )
    return rows


def history_of(sides: Sequence[AuditSide], finding: str, said: Sequence[tuple[str, ...]]) -> list[HistoryRow]:
    """Follow a finding through audits.

    Args:
        sides: audits of one benchmark, the earliest first.
        finding: id of the finding.
        said: verdicts of people on it in the review of each audit, in words.

    Raises:
        ComparisonError: the audits are of different benchmarks.
    """
    rows = list[HistoryRow]()
    for number, (side, words) in enumerate(zip(sides, said, strict=True)):
        change = None
        if number:
            change = changes_between(sides[number - 1], side).get(finding, ItemChange(change="absent"))
        rows.append(_row(finding, side, change, words))
    return rows


def _row(identity: str, side: AuditSide, change: ItemChange | None, said: tuple[str, ...]) -> HistoryRow:
    every = [*side.audit.findings, *(each.finding for each in side.audit.suppressed)]
    found = next((each for each in every if each.id == identity), None)
    tasks = found.task_ids if found else ()
    decisions = Counter(side.actions[task_id] for task_id in tasks if task_id in side.actions)
    return HistoryRow(
        run=side.name,
        version=f"{side.audit.audit.benchmark} {side.audit.audit.content_hash}",
        change=change,
        tier=found.tier if found else None,
        severity=found.severity if found else None,
        tasks=len(tasks),
        decisions=dict(sorted(decisions.items())),
        said=said,
    )


def _said(run: Path, finding: str) -> tuple[str, ...]:
    if not (run / FILE).is_file():
        return ()
    with EventStore.of_run(run) as store:
        return verdicts_in_words(ReviewState(store.since()).item(("finding", finding)))


def verdicts_in_words(item: ItemState) -> tuple[str, ...]:
    """Say who gave which verdict, and when."""
    return tuple(f"{by}: {answer_of(event)} ({event.at:%Y-%m-%d})" for by, event in item.verdicts.items())
