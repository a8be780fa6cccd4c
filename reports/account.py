"""The numbers of the first screen, which add up: every task that is there, and every task that is flagged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agenthard.reports.result import AuditResult
from agenthard.reports.totals import Totals
from agenthard.taxonomy.finding import Finding, Level, Severity, Tier


@dataclass(frozen=True)
class Account:
    """Where every task went. ``there`` is the sum of the next five; ``flagged`` that of the three after it."""

    there: int
    """Tasks in the benchmark's folder, as far as their number is known."""
    kept: int
    """Tasks that stay."""
    review: int
    """Tasks that wait for a person."""
    dropped: int
    """Tasks that the policy drops."""
    unchecked: int
    """Tasks that stay although no deciding check could run on them."""
    not_read: int
    """Tasks that could not be read, were not read, or were left out on purpose."""
    left_out: int
    """Of them, those left out on purpose."""
    flagged: int
    """Tasks that a confirmed or suspected finding touches."""
    flagged_dropped: int
    """Of them, those to drop."""
    flagged_review: int
    """Of them, those to review."""
    flagged_kept: int
    """Of them, those that stay."""
    why_kept: tuple[tuple[int, str], ...]
    """Why they stay: how many, and the reason; the counts add up to ``flagged_kept``."""


def account(result: AuditResult, sums: Totals) -> Account:
    """Count where every task went.

    Args:
        result: the audit.
        sums: its totals.
    """
    touching: dict[str, list[Finding]] = {}
    for finding in result.findings:
        if finding.tier is not Tier.SIGNAL:
            for task_id in finding.task_ids:
                touching.setdefault(task_id, []).append(finding)
    actions, reasons = Counter[str](), Counter[str]()
    for task_id, found in touching.items():
        decision = result.decision[task_id]
        actions[decision.action] += 1
        if decision.action not in ("drop", "review"):
            reasons[_why(decision.reasons[0], found)] += 1
    not_read = sums.quarantined_tasks + sums.not_read + sums.left_out
    return Account(
        there=sums.tasks + not_read,
        kept=sums.kept,
        review=sums.review,
        dropped=sums.dropped,
        unchecked=sums.unproven,
        not_read=not_read,
        left_out=sums.left_out,
        flagged=sums.flagged,
        flagged_dropped=actions["drop"],
        flagged_review=actions["review"],
        flagged_kept=reasons.total(),
        why_kept=tuple((count, reason) for reason, count in sorted(reasons.items(), key=lambda row: (-row[1], row[0]))),
    )


def _why(reason: str, found: Sequence[Finding]) -> str:
    if reason.startswith("decided by "):
        return "kept by a person"
    own = [finding for finding in found if finding.severity is not Severity.COSMETIC]
    if not own:
        return "only cosmetic findings"
    if all(finding.level is not Level.TASK for finding in own):
        return "only causes that tasks share (tickets), which decide no recorded score here"
    return "only findings that the policy accepts"


def headline(result: AuditResult, sums: Account) -> str:
    """State the outcome in one sentence.

    Args:
        result: the audit.
        sums: its account.
    """
    parts = [f"{sums.flagged_dropped:,} to drop", f"{sums.flagged_review:,} to review", f"{sums.flagged_kept:,} kept"]
    missing = {"left out on purpose": sums.left_out, "not read": sums.not_read - sums.left_out}
    missing_words = "".join(f"; {count:,} {words}" for words, count in missing.items() if count)
    read = sums.there - sums.not_read
    return f"AgentHard flagged {sums.flagged:,} of {read:,} tasks of {result.title}: {', '.join(parts)}{missing_words}."
