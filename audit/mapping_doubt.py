"""Doubts about a mapping: what hits most tasks at once is a mistake in reading them, not a flaw of each of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agenthard.audit.decisions.policy import Decision, is_confirmed_defect
from agenthard.taxonomy.finding import Finding, Tier

MOST = 0.5
"""A check that confirms flaws in a larger share of all tasks is doubted, and so is the mapping."""
FEWEST = 3
"""Confirmed flaws in fewer tasks say nothing about the mapping, however few tasks there are."""

LONGEST = 300
"""Of a longer claim, the beginning and the end are quoted."""


@dataclass(frozen=True)
class Doubted:
    """Findings after doubts about the mapping."""

    findings: list[Finding]
    """All findings; where the mapping is doubted, none is confirmed."""
    doubts: tuple[str, ...]
    """Why the mapping looks wrong, one sentence each; empty when it does not."""


def doubt_mapping(
    findings: Sequence[Finding], tasks: int, decide: Callable[[list[Finding]], Sequence[Decision]]
) -> Doubted:
    """Take back what a wrong mapping alone may have confirmed.

    The mapping is doubted when one check confirms flaws in more than half of all tasks, or every task would be dropped.
    Then all findings are suspected at most.

    Args:
        findings: findings of a benchmark that is read as its user described it.
        tasks: how many tasks were read.
        decide: turns findings into one decision per task.
    """
    doubts, by_check = list[str](), dict[str, list[Finding]]()
    for finding in filter(is_confirmed_defect, findings):
        by_check.setdefault(finding.check, []).append(finding)
    for check, found in by_check.items():
        hit = len({task_id for finding in found for task_id in finding.task_ids})
        if hit >= FEWEST and hit > MOST * tasks:
            doubts.append(f"{check} finds flaws in {hit:,} of {tasks:,} tasks. The first: {_short(found[0].claim)}")
    if not doubts and tasks >= FEWEST and all(decision.action == "drop" for decision in decide(list(findings))):
        doubts.append(f"all {tasks:,} tasks would be dropped")
    if not doubts:
        return Doubted(list(findings), ())
    return Doubted([_suspected(finding) for finding in findings], tuple(doubts))


def _suspected(finding: Finding) -> Finding:
    if finding.tier is not Tier.CONFIRMED:
        return finding
    why = f"Not confirmed, because the mapping looks wrong. {finding.why}".strip()
    return finding.model_copy(update={"tier": Tier.SUSPECTED, "why": why})


def _short(claim: str) -> str:
    return claim if len(claim) <= LONGEST else f"{claim[: LONGEST // 2]} ... {claim[-LONGEST // 2 :]}"
