"""What is different since the audit before, as a record and as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.reports.comparison.audits import AuditSide, finding_changes, load_side
from agenthard.reports.comparison.findings import FindingChange, compare_decisions
from agenthard.reports.kit.markdown import md, table
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

MOST_LISTED = 10
"""Findings of each kind that a message lists; the page of the audit has all."""


class ChangedFinding(Record):
    """A finding that is not as it was."""

    id: str
    """Stable id."""
    check: str
    """Check."""
    severity: str
    """Severity."""
    tier: str
    """How sure it is."""
    claim: str
    """What is wrong."""
    tasks: tuple[str, ...]
    """Tasks that it touches, or that carry its cause."""
    place: str
    """File and line of its first quote; empty where the benchmark's files do not have it."""
    cause: str
    """What can explain the change: check, task, task_set, judge or other."""
    changes: tuple[str, ...] = ()
    """What differs, for a flipped finding."""


class Difference(Record):
    """Two audits of one benchmark, the later compared with the earlier."""

    tasks: int
    """Tasks of the later audit."""
    checked: int
    """Tasks that the later audit checked; the others are equal to tasks of earlier audits."""
    added: tuple[str, ...] = ()
    """Tasks that the earlier audit did not have."""
    removed: tuple[str, ...] = ()
    """Tasks that the later audit does not have."""
    changed: tuple[str, ...] = ()
    """Tasks with another content."""
    new: tuple[ChangedFinding, ...] = ()
    """Findings of the later audit only."""
    persisted: int = 0
    """Findings of both that read the same."""
    fixed: tuple[ChangedFinding, ...] = ()
    """Findings of the earlier audit only, whose check looked again and found nothing."""
    flipped: tuple[ChangedFinding, ...] = ()
    """Findings of both with another severity, tier or decision."""
    not_checked: tuple[ChangedFinding, ...] = ()
    """Findings of the earlier audit only, where the check did not look again."""
    suppressed: tuple[ChangedFinding, ...] = ()
    """Findings that are suppressed now and were not."""
    drifted: tuple[ChangedFinding, ...] = ()
    """Findings of a judge that changed although the tasks did not. They are not counted above."""
    decided: tuple[tuple[str, str, str], ...] = ()
    """Tasks that are decided differently, with the earlier and the later decision."""
    split_before: str = ""
    """Id of the cleaned split of the earlier audit."""
    split_now: str
    """Id of the cleaned split of the later audit."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that a reader has to know."""
        lists = (self.added, self.removed, self.changed, self.new, self.fixed, self.flipped, self.not_checked)
        more = (self.suppressed, self.drifted, self.decided)
        return not any((*lists, *more)) and self.split_before == self.split_now

    @property
    def counts(self) -> dict[str, int]:
        """How many of each, in the order in which they are told."""
        return {
            "new": len(self.new),
            "persisted": self.persisted,
            "fixed": len(self.fixed),
            "flipped": len(self.flipped),
            "not checked any more": len(self.not_checked),
            "suppressed": len(self.suppressed),
            "judge drift": len(self.drifted),
        }

    @property
    def sentence(self) -> str:
        """The difference in one sentence."""
        found = ", ".join(f"{count:,} {name}" for name, count in self.counts.items() if count or name != "suppressed")
        tasks = f"{len(self.added):,} added, {len(self.removed):,} removed, {len(self.changed):,} changed"
        split = "unchanged"
        if self.split_before != self.split_now:
            split = f"{self.split_before or 'none'} → {self.split_now}"
        return (
            f"{plural(self.tasks, 'task')} ({tasks}), {self.checked:,} checked now; findings: {found}; "
            f"{plural(len(self.decided), 'decision')} changed; cleaned split {split}"
        )


def first_audit(now: Path, checked: int, split: str) -> Difference:
    """Describe the first audit of a benchmark: everything in it is new."""
    side = load_side(now)
    new = tuple(_of_finding(finding) for finding in side.audit.findings)
    return Difference(tasks=len(side.contents), checked=checked, added=tuple(side.contents), new=new, split_now=split)


def difference(before: Path, now: Path, *, checked: int, splits: tuple[str, str]) -> Difference:
    """Compare an audit with the one before.

    Args:
        before: run folder of the earlier audit.
        now: run folder of the later audit.
        checked: tasks that the later audit checked.
        splits: ids of the cleaned splits of both.

    Raises:
        ComparisonError: they are audits of different benchmarks.
    """
    first, second = load_side(before), load_side(now)
    found = finding_changes(first, second)
    places = {each.id: _place(each) for side in (first, second) for each in side.audit.findings}
    every = (found.new, found.fixed, found.flipped, found.unchecked, found.suppressed)
    drifted = [each for group in every for each in group if _is_drift(each)]
    new, fixed, flipped, unchecked, suppressed = (
        tuple(_of_change(each, places) for each in group if not _is_drift(each)) for group in every
    )
    return Difference(
        tasks=len(second.contents),
        checked=checked,
        added=_only(second, first),
        removed=_only(first, second),
        changed=tuple(t for t, content in first.contents.items() if second.contents.get(t, content) != content),
        new=new,
        persisted=found.persisted,
        fixed=fixed,
        flipped=flipped,
        not_checked=unchecked,
        suppressed=suppressed,
        drifted=tuple(_of_change(each, places) for each in drifted),
        decided=tuple(
            (each.task_id, each.before, each.after)
            for each in compare_decisions(first.audit.decisions, second.audit.decisions)
        ),
        split_before=splits[0],
        split_now=splits[1],
    )


def _only(one: AuditSide, other: AuditSide) -> tuple[str, ...]:
    return tuple(task_id for task_id in one.contents if task_id not in other.contents)


def _is_drift(change: FindingChange) -> bool:
    return change.check == JudgeCheck.id and change.cause == "other"


def _place(finding: Finding) -> str:
    native = next((item.native for item in finding.evidence if item.native is not None), None)
    return "" if native is None else f"{native.file}:{native.line}"


def _of_finding(finding: Finding) -> ChangedFinding:
    return ChangedFinding(
        **{name: getattr(finding, name) for name in ("id", "check", "severity", "tier", "claim")},
        tasks=finding.task_ids or finding.also_in,
        place=_place(finding),
        cause="task_set",
    )


def _of_change(change: FindingChange, places: Mapping[str, str]) -> ChangedFinding:
    return ChangedFinding(
        **{name: getattr(change, name) for name in ("id", "check", "severity", "tier", "claim", "changes")},
        tasks=change.task_ids,
        place=places.get(change.id, ""),
        cause="judge" if _is_drift(change) else change.cause,
    )


def difference_markdown(title: str, found: Difference, links: Mapping[str, str]) -> str:
    """Write a difference for a comment, a message or an artifact. Text of the benchmark is escaped.

    Args:
        title: name of the schedule.
        found: the difference.
        links: addresses of pages by their title; empty where nothing serves them.
    """
    parts = [f"### {md(title)}: audit", md(found.sentence)]
    groups = (
        ("New findings", found.new),
        ("Fixed", found.fixed),
        ("Flipped", found.flipped),
        ("Not checked any more (not fixed)", found.not_checked),
        ("Suppressed now", found.suppressed),
        ("Judge drift: another verdict on tasks that did not change", found.drifted),
    )
    for head, findings in groups:
        if findings:
            parts.append(f"**{head}: {len(findings):,}**\n\n{_finding_table(findings)}")
    for head, ids in (("Tasks added", found.added), ("removed", found.removed), ("changed", found.changed)):
        if ids:
            parts.append(f"{head}: {_listed(ids)}")
    if links:
        parts.append(" · ".join(f"[{md(name)}]({address})" for name, address in links.items()))
    return "\n\n".join(parts) + "\n"


def _finding_table(findings: Sequence[ChangedFinding]) -> str:
    rows = [
        (f"`{each.id}`", md(each.severity), md(each.tier), md("; ".join((each.claim, *each.changes))), md(each.place))
        for each in findings[:MOST_LISTED]
    ]
    text = table(("finding", "severity", "tier", "what", "where"), rows)
    return text if len(findings) <= MOST_LISTED else f"{text}\n\nand {len(findings) - MOST_LISTED:,} more"


def _listed(ids: Iterable[str]) -> str:
    every = list(ids)
    more = f" and {len(every) - MOST_LISTED:,} more" if len(every) > MOST_LISTED else ""
    return ", ".join(map(md, every[:MOST_LISTED])) + more
