"""What a verdict counts for: a vote for a flaw, a vote against one, or no vote."""

from collections.abc import Iterable

from agenthard.audit.judge.verify.checked import CheckedVerdict


def vote(verdict: CheckedVerdict) -> bool | None:
    """Read a verdict as a vote.

    Returns:
        True for a flaw whose evidence stands, False for a sound task, None for no vote: the judge failed, could not
        tell, or sees flaws none of which stands.
    """
    if verdict.outcome == "not_flawed":
        return False
    return True if verdict.outcome == "flawed" and verdict.standing else None


def shares(verdicts: Iterable[CheckedVerdict]) -> dict[str, float]:
    """Return the share of each judge's votes on one task that see a flaw; judges without a vote are left out.

    Several samples of one judge make one share, as they err together: three samples are no three judges.
    """
    cast: dict[str, list[bool]] = {}
    for verdict in verdicts:
        if (voted := vote(verdict)) is not None:
            cast.setdefault(verdict.judge, []).append(voted)
    return {judge: sum(votes) / len(votes) for judge, votes in cast.items()}
