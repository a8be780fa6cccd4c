"""Thirty seconds: one sentence, five numbers, three findings."""

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.analysis import Headline, TopFinding
from agenthard.reports.cleaning.inputs import CleaningInput
from agenthard.reports.cleaning.splits import Split
from agenthard.reports.cleaning.stability import RankingStability
from agenthard.taxonomy.finding import Severity, Tier

TOP = 3
_SEVERITY = list(Severity)
_TIER = list(Tier)


def headline(
    found: CleaningInput, splits: tuple[Split, ...], stability: tuple[RankingStability, ...] | Undefined
) -> Headline:
    """Say the outcome.

    Args:
        found: tasks, decisions and findings.
        splits: the splits there are.
        stability: ranking stability, the default reading first; or why no model can be compared.

    Returns:
        The headline.
    """
    counted = [finding for finding in found.findings if finding.tier is not Tier.SIGNAL]
    fresh = None if found.known is None else [finding for finding in counted if finding.id not in found.known]
    ordered = sorted(
        counted,
        key=lambda f: (
            found.known is not None and f.id in found.known,
            _TIER.index(f.tier),
            _SEVERITY.index(f.severity),
            -len(f.task_ids),
            f.id,
        ),
    )
    review = len(found.with_action("review"))
    return Headline(
        sentence=_sentence(found, splits, stability, review),
        checked=found.checked,
        tasks=len(found.tasks),
        flagged=len(found.flagged),
        new=None if fresh is None else len(fresh),
        undecided=review,
        cost=0.0,
        top=tuple(
            TopFinding(
                id=finding.id,
                category=finding.category,
                tier=finding.tier.value,
                severity=finding.severity.value,
                claim=finding.claim,
                task_id=finding.task_ids[0] if finding.task_ids else "",
                tasks=len(finding.task_ids),
            )
            for finding in ordered[:TOP]
        ),
    )


def _sentence(
    found: CleaningInput, splits: tuple[Split, ...], stability: tuple[RankingStability, ...] | Undefined, review: int
) -> str:
    dropped = len(found.with_action("drop"))
    cleaned = next(split for split in splits if split.name == "cleaned")
    text = (
        f"AgentHard checked {found.checked:,} of {len(found.tasks):,} tasks of {found.title} and flagged "
        f"{len(found.flagged):,}; the issue-cleaned split leaves out {dropped:,} and keeps {cleaned.n:,}, of which "
        f"{review:,} wait for a person"
    )
    if isinstance(stability, Undefined):
        return f"{text}. What that does to a leaderboard is {stability.reason}."
    return " ".join([f"{text}.", *(row.sentence for row in stability[:1])])
