"""The figures at the top of every report, and the ledger of which check ran where."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from agenthard.audit.coverage import RAN, CoverageTable
from agenthard.audit.decisions.support import KINDS
from agenthard.audit.detectors.base import DecidingKind
from agenthard.audit.sources.base import count_not_read
from agenthard.reports.result import AuditResult, CheckInfo
from agenthard.taxonomy.finding import Level, Status, Tier


@dataclass(frozen=True)
class Reason:
    """Why a check did not run on some tasks."""

    text: str
    """The reason."""
    error: bool
    """True when the check ended in an error; False when it had nothing to check."""
    tasks: int
    """How many tasks it concerns."""
    example: str
    """Id of the first of them."""


@dataclass(frozen=True)
class LedgerRow:
    """What one check did on the whole benchmark."""

    check: CheckInfo
    """The check."""
    flagged: int
    """Tasks with a finding of it."""
    clean: int
    """Tasks it looked at and found nothing in."""
    reasons: tuple[Reason, ...]
    """Why it did not run on the others, the most frequent reason first."""

    @property
    def ran(self) -> int:
        """Tasks on which it ran."""
        return self.flagged + self.clean

    @property
    def not_checked(self) -> int:
        """Tasks it had nothing to check in."""
        return sum(reason.tasks for reason in self.reasons if not reason.error)

    @property
    def errors(self) -> int:
        """Tasks on which it ended in an error."""
        return sum(reason.tasks for reason in self.reasons if reason.error)


@dataclass(frozen=True)
class Reach:
    """On how many tasks deciding checks of one kind ran."""

    kind: DecidingKind
    """Kind of deciding check."""
    asked: bool
    """False when no check of this kind was asked to run."""
    tasks: int
    """Tasks on which at least one of them ran."""


@dataclass(frozen=True)
class Totals:
    """Counts over the whole audit."""

    tasks: int
    """Tasks that could be read."""
    checked: int
    """Tasks on which at least one check ran."""
    flagged: int
    """Tasks that a confirmed or suspected finding touches."""
    signalled: int
    """Further tasks that only a signal touches."""
    dropped: int
    """Tasks that the policy drops."""
    review: int
    """Tasks that wait for a person."""
    kept: int
    """Tasks that stay, and on which a deciding check ran."""
    unproven: int
    """Tasks that stay although no deciding check could run on them; decisions call them unchecked."""
    quarantined_tasks: int
    """Records of tasks that could not be read."""
    quarantined_runs: int
    """Records of runs that could not be read."""
    not_read: int
    """Tasks in the benchmark's folder that were not read."""
    left_out: int
    """Tasks in it that the user's choice of domains or the benchmark's own default leaves out."""
    gaps: int
    """Files and folders that hold tasks, or may hold some, that were not read and were not left out on purpose."""
    findings: int
    """All findings."""
    confirmed: int
    """Findings that follow from the files."""
    suspected: int
    """Findings that a person or a judge decides."""
    signals: int
    """Findings that only order the review queue."""
    unchecked: tuple[Reason, ...]
    """Why no check ran on the tasks that are not checked; a task counts under its most frequent reason."""
    levels: dict[str, int]
    """Confirmed and suspected findings by the level of their cause."""
    tickets: int
    """Shared causes that are tickets."""
    deciding: tuple[Reach, ...]
    """On how many tasks the deciding checks ran, by kind."""


def totals(result: AuditResult) -> Totals:
    """Count tasks, findings, decisions and unread records."""
    actions = Counter(decision.action for decision in result.decisions)
    tiers = Counter(finding.tier for finding in result.findings)
    touched = {i for f in result.findings if f.tier is not Tier.SIGNAL for i in f.task_ids}
    signalled = {i for f in result.findings if f.tier is Tier.SIGNAL for i in f.task_ids} - touched
    checked = set(result.coverage.tasks_having(*RAN))
    kinds = Counter(item.kind for item in result.quarantined)
    not_read, left_out = count_not_read(result.not_read)
    levels = Counter(finding.level for finding in result.findings if finding.tier is not Tier.SIGNAL)
    return Totals(
        tasks=len(result.tasks),
        checked=len(checked),
        flagged=len(touched),
        signalled=len(signalled),
        dropped=actions["drop"],
        review=actions["review"],
        kept=actions["keep"],
        unproven=actions["unchecked"],
        quarantined_tasks=kinds["task"],
        quarantined_runs=kinds.total() - kinds["task"],
        not_read=not_read,
        left_out=left_out,
        gaps=sum(item.is_gap for item in result.not_read),
        findings=len(result.findings),
        confirmed=tiers[Tier.CONFIRMED],
        suspected=tiers[Tier.SUSPECTED],
        signals=tiers[Tier.SIGNAL],
        unchecked=_unchecked(result, checked),
        levels={level.value: levels[level] for level in Level},
        tickets=len(result.tickets),
        deciding=_reach(result),
    )


def _reach(result: AuditResult) -> tuple[Reach, ...]:
    kinds = {check.id: check.deciding for check in result.checks if check.deciding}
    ran = result.coverage.having(*RAN)

    def tasks(kind: DecidingKind) -> int:
        columns = [column for column, check in enumerate(result.coverage.checks) if kinds.get(check) == kind]
        return int(ran[:, columns].any(axis=1).sum())

    return tuple(Reach(kind=kind, asked=kind in kinds.values(), tasks=tasks(kind)) for kind in KINDS)


def _unchecked(result: AuditResult, checked: set[str]) -> tuple[Reason, ...]:
    absent = ("no check was asked to run", False)
    main = []
    for task in (task_id for task_id in result.task_ids if task_id not in checked):
        count = Counter((row.reason, row.status is Status.ERROR) for row in result.coverage.of_task(task))
        main.append((min(count, key=lambda key: (-count[key], key)) if count else absent, task))
    tasks = Counter(key for key, _ in main)
    first = {key: task for key, task in reversed(main)}
    return _reasons(tasks, first)


def ledger(result: AuditResult) -> tuple[LedgerRow, ...]:
    """Summarise the coverage per check, in the order of the checks."""
    return tuple(_ledger_row(result.coverage, check) for check in result.checks)


def _ledger_row(coverage: CoverageTable, check: CheckInfo) -> LedgerRow:
    if check.id not in coverage.column:
        return LedgerRow(check=check, flagged=0, clean=0, reasons=())
    codes, first, counts = np.unique(
        coverage.codes[:, coverage.column[check.id]], return_index=True, return_counts=True
    )
    ran: Counter[Status] = Counter()
    tasks: dict[tuple[str, bool], int] = {}
    examples: dict[tuple[str, bool], str] = {}
    for code, row, count in zip(codes.tolist(), first.tolist(), counts.tolist(), strict=True):
        status, reason = coverage.outcomes[code]
        if code and status in RAN:
            ran[status] += count
        elif code:
            tasks[reason, status is Status.ERROR] = count
            examples[reason, status is Status.ERROR] = coverage.tasks[row]
    return LedgerRow(check, ran[Status.FLAGGED], ran[Status.CLEAN], _reasons(tasks, examples))


def _reasons(tasks: Mapping[tuple[str, bool], int], first: Mapping[tuple[str, bool], str]) -> tuple[Reason, ...]:
    ordered = sorted(tasks, key=lambda key: (-tasks[key], key))
    return tuple(Reason(text, error, tasks[text, error], first[text, error]) for text, error in ordered)


def sentence(result: AuditResult, sums: Totals) -> str:
    """State the outcome in one sentence: what was checked, what follows, and what could not be checked or read."""
    parts = [
        f"AgentHard checked {sums.checked:,} of {sums.tasks:,} tasks of {result.title} and flagged {sums.flagged:,}",
        f"{sums.dropped:,} to drop, {sums.review:,} to review, {sums.kept:,} kept",
    ]
    if sums.unproven:
        parts.append(f"{sums.unproven:,} unchecked (nothing speaks against them, and no deciding check could run)")
    if sums.tickets:
        parts.append(f"{sums.tickets:,} shared cause{'' if sums.tickets == 1 else 's'} listed as tickets")
    if sums.checked < sums.tasks:
        parts.append(why_unchecked(sums))
    if sums.quarantined_tasks:
        records = "record" if sums.quarantined_tasks == 1 else "records"
        parts.append(f"{sums.quarantined_tasks:,} task {records} could not be read")
    if sums.gaps:
        parts.append(why_not_read(result, sums))
    doubt = f"This looks like a wrong mapping: {'; '.join(result.mapping_doubts)} " if result.mapping_doubts else ""
    return doubt + "; ".join(parts) + "."


def why_not_read(result: AuditResult, sums: Totals) -> str:
    """Describe what was not read, such as '97 tasks not read (domains/banking: a layout ...)'."""
    gaps = [item for item in result.not_read if item.is_gap]
    counted = (
        f"{sums.not_read:,} task{'' if sums.not_read == 1 else 's'}" if sums.not_read else "an unknown number of tasks"
    )
    named = "; ".join(f"{item.file}: {item.reason}" for item in gaps[:2])
    more = f"; {len(gaps) - 2} more places" if len(gaps) > 2 else ""
    return f"{counted} in the folder not read ({named}{more})"


def reach_sentence(tasks: int, deciding: Iterable[Reach]) -> str:
    """State on how many tasks deciding checks ran.

    >>> reach_sentence(618, [Reach("schema", True, 0), Reach("judge", False, 0)])
    'schema 0 of 618, judge not asked'
    """
    return ", ".join(f"{r.kind} {r.tasks:,} of {tasks:,}" if r.asked else f"{r.kind} not asked" for r in deciding)


def why_unchecked(sums: Totals) -> str:
    """Return why tasks were not checked, such as '3 not checked (2 no ground truth, 1 error: ...)'."""
    parts = [f"{r.tasks:,} {'error: ' if r.error else ''}{r.text}" for r in sums.unchecked[:3]]
    more = f", {len(sums.unchecked) - 3} more reasons" if len(sums.unchecked) > 3 else ""
    return f"{sums.tasks - sums.checked:,} not checked ({', '.join(parts)}{more})"
