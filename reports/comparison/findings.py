"""Findings of two audits by stable id: new, persisted, fixed, no longer checked, flipped, suppressed; and why."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from agenthard.audit.decisions.policy import Action, Decision
from agenthard.audit.decisions.suppressions import SuppressedFinding
from agenthard.taxonomy.finding import Finding, Severity, Tier
from agenthard.taxonomy.record import Record

Cause = Literal["check", "task", "task_set", "other"]
"""check: the check is new, gone or has another version; task: the content of a task changed; task_set: its tasks are
new or gone; other: neither, so look at the runs, the shared state or other tasks."""


class FindingChange(Record):
    """A finding that only one audit has, or that differs between the two."""

    id: str
    """Stable id."""
    check: str
    """Check."""
    category: str
    """Category."""
    severity: Severity
    """Severity, in the later audit where both have it."""
    tier: Tier
    """How sure the check is."""
    claim: str
    """What is wrong."""
    task_ids: tuple[str, ...]
    """Tasks it touches."""
    cause: Cause
    """What changed between the audits that can explain it."""
    changes: tuple[str, ...] = ()
    """For a flipped finding what differs, such as "severity: cosmetic → affects_score"; for one that is or was
    suppressed, the reason and the last day."""


class FindingChanges(Record):
    """All findings of two audits."""

    new: tuple[FindingChange, ...]
    """In the later audit only."""
    persisted: int
    """In both, reading the same."""
    flipped: tuple[FindingChange, ...]
    """In both, with another severity, tier or decision."""
    fixed: tuple[FindingChange, ...]
    """In the earlier audit only, and the check looked at its tasks again and found nothing."""
    unchecked: tuple[FindingChange, ...]
    """In the earlier audit only, but the later one did not look again: not checked never reads as fixed."""
    suppressed: tuple[FindingChange, ...] = ()
    """Findings, or their parts in some tasks, that the later audit suppresses and the earlier one did not."""


class DecisionChange(Record):
    """A task that is decided differently."""

    task_id: str
    """Task."""
    before: Action
    """Decision of the earlier audit."""
    after: Action
    """Decision of the later audit."""
    reasons: tuple[str, ...]
    """Reasons of the later audit."""


class AuditDelta(Record):
    """What is known about the change from one audit to the other, to name causes."""

    versions_before: dict[str, str]
    """Version of every check of the earlier audit."""
    versions_after: dict[str, str]
    """Version of every check of the later audit."""
    tasks_before: frozenset[str]
    """Tasks of the earlier audit."""
    tasks_after: frozenset[str]
    """Tasks of the later audit."""
    changed_tasks: frozenset[str]
    """Common tasks whose content differs."""

    def cause(self, finding: Finding) -> Cause:
        """Name what can explain that a finding is in one audit only, or reads differently."""
        if self.versions_before.get(finding.check) != self.versions_after.get(finding.check):
            return "check"
        touched = {*finding.task_ids, *finding.also_in}
        if touched & self.changed_tasks:
            return "task"
        return "task_set" if touched - (self.tasks_before & self.tasks_after) else "other"


def compare_findings(
    before: Sequence[Finding],
    after: Sequence[Finding],
    known: AuditDelta,
    decided: Mapping[str, tuple[Action, Action]],
    looked_again: Callable[[str, str], bool],
    suppressed_before: Sequence[SuppressedFinding] = (),
    suppressed_after: Sequence[SuppressedFinding] = (),
) -> FindingChanges:
    """Compare findings by their id.

    Args:
        before: findings of the earlier audit.
        after: findings of the later audit.
        known: what changed between the audits.
        decided: (earlier, later) decision of every common task.
        looked_again: (check, task id) → whether the check ran on the task in the later audit.
        suppressed_before: findings of the earlier audit that do not count there.
        suppressed_after: findings of the later audit that do not count there.

    Returns:
        The changes, each list worst severity first.
    """
    earlier, later = ({finding.id: finding for finding in side} for side in (before, after))
    flipped = []
    for identity, finding in later.items():
        changes = _differences(earlier[identity], finding, decided) if identity in earlier else ()
        if changes:
            flipped.append(_change(finding, known, changes))
    accepted = [each for each in suppressed_after if not _holds(suppressed_before, each.finding)]
    counting_or_accepted = later.keys() | {each.finding.id for each in accepted}
    gone = [finding for identity, finding in earlier.items() if identity not in counting_or_accepted]
    checked = [any(looked_again(f.check, t) for t in (*f.task_ids, *f.also_in)) for f in gone]
    return FindingChanges(
        new=_sorted(
            _change(finding, known, _said_before(identity, suppressed_before))
            for identity, finding in later.items()
            if identity not in earlier
        ),
        persisted=len(earlier.keys() & later.keys()) - len(flipped),
        flipped=_sorted(flipped),
        fixed=_sorted(_change(finding, known) for finding, again in zip(gone, checked, strict=True) if again),
        unchecked=_sorted(_change(finding, known) for finding, again in zip(gone, checked, strict=True) if not again),
        suppressed=_sorted(_change(each.finding, known, (each.because,)) for each in accepted),
    )


def _said_before(identity: str, suppressed: Iterable[SuppressedFinding]) -> tuple[str, ...]:
    return tuple(f"was suppressed: {each.because}" for each in suppressed if each.finding.id == identity)


def _holds(suppressed: Iterable[SuppressedFinding], finding: Finding) -> bool:
    """Tell whether all tasks of a finding were suppressed before."""
    same = [each.finding for each in suppressed if each.finding.id == finding.id]
    return bool(same) and {task for each in same for task in each.task_ids} >= set(finding.task_ids)


def compare_decisions(before: Sequence[Decision], after: Sequence[Decision]) -> tuple[DecisionChange, ...]:
    """List the common tasks that are decided differently, in the order of the later audit."""
    earlier = {decision.task_id: decision.action for decision in before}
    return tuple(
        DecisionChange(
            task_id=decision.task_id,
            before=earlier[decision.task_id],
            after=decision.action,
            reasons=decision.reasons,
        )
        for decision in after
        if earlier.get(decision.task_id, decision.action) != decision.action
    )


def _differences(before: Finding, after: Finding, decided: Mapping[str, tuple[Action, Action]]) -> tuple[str, ...]:
    changes = [
        f"{name}: {one} → {other}"
        for name, one, other in (
            ("severity", before.severity.value, after.severity.value),
            ("tier", before.tier.value, after.tier.value),
        )
        if one != other
    ]
    for task in after.task_ids:
        one, other = decided.get(task, (None, None))
        if one != other:
            changes.append(f"decision on {task}: {one} → {other}")
    return tuple(changes)


def _change(finding: Finding, known: AuditDelta, changes: tuple[str, ...] = ()) -> FindingChange:
    shared = {name: getattr(finding, name) for name in FindingChange.model_fields if name in Finding.model_fields}
    return FindingChange(**shared, cause=known.cause(finding), changes=changes)


def _sorted(changes: Iterable[FindingChange]) -> tuple[FindingChange, ...]:
    severity, tier = list(Severity), list(Tier)
    return tuple(sorted(changes, key=lambda c: (tier.index(c.tier), severity.index(c.severity), c.check, c.id)))
