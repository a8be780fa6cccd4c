"""A benchmark by version: how much is flagged in each release, and what is new, persisted, fixed or flipped in it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.reports.comparison.audits import AuditSide, finding_changes, task_contents, task_sets
from agenthard.reports.comparison.findings import FindingChange
from agenthard.reports.kit.page import anchor
from agenthard.reports.survey.audits import Rate, SurveyedAudit, differences
from agenthard.taxonomy.finding import Tier
from agenthard.taxonomy.record import Record


class VersionChange(Record):
    """What happened from one version to the next."""

    new: int
    """Findings that the version before did not have."""
    persisted: int
    """Findings that both have, reading the same."""
    flipped: int
    """Findings that both have, with another severity, tier or decision."""
    fixed: int
    """Findings that are gone, and whose check looked at their tasks again."""
    unchecked: int
    """Findings that are gone because their check did not look again, which never reads as fixed."""
    suppressed: int
    """Findings that are suppressed since."""
    drift: int
    """Of the new, flipped and fixed ones, verdicts of a judge on tasks that did not change."""
    causes: dict[str, int]
    """New findings by what can explain them: check, task, task_set, other."""
    same: int
    """Tasks with equal id and equal content."""
    changed: int
    """Tasks with equal id and different content."""
    gone: int
    """Tasks of the version before only."""
    added: int
    """Tasks of this version only."""
    not_comparable: tuple[str, ...]
    """In which ways the audit of this version was made differently from the one before; empty when it was not."""


class VersionRow(Record):
    """One version of a benchmark."""

    run: str
    """Name of the run folder."""
    anchor: str
    """Anchor of this audit on the page."""
    version: str
    """Release label."""
    content_hash: str
    """Hash of the benchmark's files."""
    flagged: Rate
    """Tasks that a confirmed or suspected finding touches, of those that a check looked at."""
    dropped: int
    """Tasks that the policy drops."""
    review: int
    """Tasks that wait for a person."""
    findings: int
    """Confirmed and suspected findings."""
    change: VersionChange | None
    """What happened since the version before; None for the first."""


class History(Record):
    """All given versions of one benchmark, the earliest first."""

    source: str
    """Name of the source."""
    title: str
    """Name of the benchmark for people."""
    anchor: str
    """Anchor on the page."""
    order: str
    """How the versions were ordered."""
    versions: tuple[VersionRow, ...]
    """At least two."""


def histories(
    audits: Sequence[SurveyedAudit], folders: Mapping[str, Path], anchors: Mapping[str, str], level: float = 0.95
) -> tuple[History, ...]:
    """Follow each benchmark that several runs are about.

    Args:
        audits: the audits, in the order in which they were given.
        folders: run folder by name.
        anchors: anchor of each audit by name.
        level: coverage of intervals.

    Returns:
        One history per benchmark and choice of domains with at least two audits.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[SurveyedAudit]] = {}
    for audit in audits:
        groups.setdefault((audit.found.audit.source, tuple(audit.manifest["domains"])), []).append(audit)
    found = []
    for (source, domains), members in groups.items():
        if len(members) < 2:
            continue
        ordered, order = in_order_of_release(members)
        sides = [_side(audit, folders[audit.run]) for audit in ordered]
        changes = [None, *(_change(one, two) for one, two in pairwise(zip(ordered, sides, strict=True)))]
        found.append(
            History(
                source=source,
                title=ordered[-1].found.title + (f" ({', '.join(domains)})" if domains else ""),
                anchor=anchor("-".join(["history", source, *domains])),
                order=order,
                versions=tuple(
                    _row(audit, anchors[audit.run], change, level)
                    for audit, change in zip(ordered, changes, strict=True)
                ),
            )
        )
    return tuple(found)


_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)")


def in_order_of_release(audits: Sequence[SurveyedAudit]) -> tuple[list[SurveyedAudit], str]:
    """Order audits by the numbers of their releases; where a label has none, keep the given order.

    Returns:
        The audits, and how they were ordered.
    """
    numbers = [_RELEASE.fullmatch(audit.found.audit.benchmark) for audit in audits]
    if not all(numbers):
        return list(audits), "as the runs were given, since the labels are not release numbers"
    keys = [tuple(map(int, match[1].split("."))) for match in numbers if match]
    order = sorted(range(len(audits)), key=lambda place: (keys[place], place))
    return [audits[place] for place in order], "by release number"


def _side(audit: SurveyedAudit, folder: Path) -> AuditSide:
    return AuditSide(
        name=audit.run, audit=audit.found, contents=task_contents(folder), coverage=_Statuses(audit.coverage)
    )


class _Statuses(Mapping[tuple[str, str], str]):
    """Status by (check, task id), looked up in the table of coverage."""

    def __init__(self, table: CoverageTable) -> None:
        self._table = table

    def __getitem__(self, key: tuple[str, str]) -> str:
        check, task = key
        if check not in self._table.column or task not in self._table.row:
            raise KeyError(key)
        return self._table.status(task, check)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((check, task) for check in self._table.checks for task in self._table.tasks)

    def __len__(self) -> int:
        return len(self._table.checks) * len(self._table.tasks)


def _change(before: tuple[SurveyedAudit, AuditSide], now: tuple[SurveyedAudit, AuditSide]) -> VersionChange:
    (earlier, first), (later, second) = before, now
    found, tasks = finding_changes(first, second), task_sets(first, second)
    moved = [*found.new, *found.flipped, *found.fixed]
    return VersionChange(
        new=_counted(found.new),
        persisted=len(
            {f.id for f in earlier.found.findings if f.tier is not Tier.SIGNAL}
            & {f.id for f in later.found.findings if f.tier is not Tier.SIGNAL}
            - {change.id for change in found.flipped}
        ),
        flipped=_counted(found.flipped),
        fixed=_counted(found.fixed),
        unchecked=_counted(found.unchecked),
        suppressed=_counted(found.suppressed),
        drift=sum(change.check == JudgeCheck.id and change.cause == "other" for change in moved),
        causes=dict(sorted(Counter(c.cause for c in found.new if c.tier is not Tier.SIGNAL).items())),
        same=tasks.same,
        changed=len(tasks.changed),
        gone=len(tasks.only_first),
        added=len(tasks.only_second),
        not_comparable=differences(later, earlier),
    )


def _counted(changes: Sequence[FindingChange]) -> int:
    return sum(change.tier is not Tier.SIGNAL for change in changes)


def _row(audit: SurveyedAudit, anchor_of_run: str, change: VersionChange | None, level: float) -> VersionRow:
    found = audit.found
    return VersionRow(
        run=audit.run,
        anchor=anchor_of_run,
        version=found.audit.benchmark,
        content_hash=found.audit.content_hash,
        flagged=audit.rate(found.flagged, audit.checked, level),
        dropped=len(found.with_action("drop")),
        review=len(found.with_action("review")),
        findings=sum(finding.tier is not Tier.SIGNAL for finding in found.findings),
        change=change,
    )
