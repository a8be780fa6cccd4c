"""The review queue: tasks ordered by evidence first, then by signals from model responses."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import Field

from agenthard.taxonomy.finding import Finding, Severity, Tier
from agenthard.taxonomy.record import Record

_TIERS, _SEVERITIES = list(Tier), list(Severity)


class Priority(Record):
    """Place of one task in the review queue, and why."""

    task_id: str
    """Task."""
    place: int = Field(ge=1)
    """Place in the queue; 1 comes first."""
    tier: Tier
    """The surest evidence against the task."""
    severity: Severity
    """The worst that a finding of this tier does to the score."""
    checks: tuple[str, ...]
    """Checks of confirmed and suspected findings."""
    signals: tuple[str, ...]
    """Checks of signals."""


def review_order(task_ids: Sequence[str], findings: Iterable[Finding]) -> list[Priority]:
    """Order the tasks that have findings or signals.

    A task comes before another when its surest finding is of a higher tier; then when a finding of that tier does worse
    to the score; then when more different checks found something; then when more different signals point at it; then
    as the benchmark has them. So signals decide among tasks of equal evidence, and a task with nothing but signals
    comes after every task with evidence. Cosmetic findings do not call for a review, cosmetic signals (all models
    pass) do.

    Args:
        task_ids: all tasks, in the benchmark's order.
        findings: all findings; one may touch many tasks.

    Returns:
        The tasks to look at, the most urgent first.
    """
    by_task: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.tier is Tier.SIGNAL or finding.severity is not Severity.COSMETIC:
            for task_id in finding.task_ids:
                by_task[task_id].append(finding)
    queue = [(*_summary(by_task[task_id]), task_id) for task_id in task_ids if task_id in by_task]
    queue.sort(key=lambda item: (_TIERS.index(item[0]), _SEVERITIES.index(item[1]), -len(item[2]), -len(item[3])))
    return [
        Priority(task_id=task_id, place=place, tier=tier, severity=severity, checks=checks, signals=signals)
        for place, (tier, severity, checks, signals, task_id) in enumerate(queue, start=1)
    ]


def _summary(found: Sequence[Finding]) -> tuple[Tier, Severity, tuple[str, ...], tuple[str, ...]]:
    tier = min((finding.tier for finding in found), key=_TIERS.index)
    severity = min((finding.severity for finding in found if finding.tier is tier), key=_SEVERITIES.index)
    signals = {finding.check for finding in found if finding.tier is Tier.SIGNAL}
    checks = {finding.check for finding in found if finding.tier is not Tier.SIGNAL}
    return tier, severity, tuple(sorted(checks)), tuple(sorted(signals))
