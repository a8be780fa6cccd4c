"""Where a check that proves what it says finds the same as a judge."""

from collections.abc import Sequence

from agenthard.audit.detectors.base import SuiteDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.judge.verify.case import Case, Ruling
from agenthard.audit.judge.verify.cited import same_place
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.finding import Coverage, Finding, Status, Tier

DECIDED_BY: dict[str, tuple[str, ...]] = {
    "malformed-tool-call": ("call-schema",),
    "insufficient-toolset": ("call-schema",),
    "incorrect-tool-call": ("gold-fails",),
    "redundant-tool-call": ("gold-changes-nothing",),
    "environment-drift": ("gold-nondeterministic",),
    "unreachable-score": ("gold-rejected",),
    "too-strict": ("right-answer-rejected",),
}
"""Checks that are asked about an issue of a category even when the audit did not run them."""


def agreement(case: Case, findings: Sequence[Finding], coverage: Sequence[Coverage]) -> Ruling | None:
    """Prove an issue that a confirmed check of its category shares: both quote the same place of the same task.

    The check looks at this task again, because a finding that many tasks share quotes only one of them. One that ended
    in an error here is not asked.

    Args:
        case: the issue.
        findings: what the audit found.
        coverage: what each check did.
    """
    task, category = case.task, case.issue.issue.category
    confirmed = [f for f in findings if f.tier is Tier.CONFIRMED and f.category == category and task.id in f.task_ids]
    for finding in confirmed:
        own = [e for e in finding.evidence if e.task_id == task.id and e.trajectory_id is None]
        if own and same_place(own, case.issue):
            said = f"{finding.check} finds it too: {finding.claim}"
            return Ruling("proved", said, finding.severity, finding.proof)
    failed = {row.check for row in coverage if row.task_id == task.id and row.status is Status.ERROR}
    asked = {*DECIDED_BY.get(category, ()), *(finding.check for finding in confirmed)} - failed
    for check in detectors():
        if check.id not in asked or isinstance(check, SuiteDetector):
            continue
        for item in check_shard([task], {}, [check]).hits:
            hit = item.hit
            if (hit.tier or check.tier) is Tier.CONFIRMED and (hit.category or check.category) == category:
                if same_place(hit.evidence, case.issue):
                    said = f"{check.id} finds it too: {hit.claim}"
                    return Ruling("proved", said, hit.severity or check.severity, hit.proof)
    return None
