"""Votes: what each verdict counts for, and the judges' error rates estimated from all votes without labels."""

from collections.abc import Iterable

import numpy as np
from pydantic import Field

from agenthard.audit.judge.aggregate.dawid_skene import FEWEST_JUDGES, TooFewVotesError, estimate, log_odds
from agenthard.audit.judge.verdict import CheckedVerdict
from agenthard.taxonomy.record import Record


def vote(verdict: CheckedVerdict) -> bool | None:
    """Read a verdict as a vote.

    Returns:
        True for a flaw with verified evidence, False for a sound task, None for no vote: the judge failed, could not
        tell, or reports only flaws that are not verified.
    """
    if verdict.outcome == "not_flawed":
        return False
    return True if verdict.outcome == "flawed" and verdict.standing else None


def shares(verdicts: Iterable[CheckedVerdict]) -> dict[str, float]:
    """Return the share of each judge's votes on one task that see a flaw; judges without a vote are left out.

    Several samples of one judge make one share, since they err together: three samples do not replace three judges.
    """
    cast: dict[str, list[bool]] = {}
    for verdict in verdicts:
        if (voted := vote(verdict)) is not None:
            cast.setdefault(verdict.judge, []).append(voted)
    return {judge: sum(votes) / len(votes) for judge, votes in cast.items()}


FEWEST_TASKS = 20
"""Tasks on which at least three judges have to have voted."""


class ErrorRates(Record):
    """How often one judge is right."""

    sensitivity: float = Field(gt=0, lt=1)
    """Probability that it sees a flaw where there is one."""
    specificity: float = Field(gt=0, lt=1)
    """Probability that it sees none where there is none."""
    tasks: int
    """Tasks that it voted on."""


class PanelRates(Record):
    """The error rates of a panel, estimated over all its tasks."""

    prevalence: float = Field(gt=0, lt=1)
    """Share of flawed tasks."""
    judges: dict[str, ErrorRates]
    """Rates by judge; empty when they cannot be estimated."""
    tasks: int
    """Tasks with at least one vote."""
    note: str = ""
    """Why rates are missing, or what is wrong with them; to be shown with every figure that rests on them."""

    def probability(self, votes: dict[str, float]) -> float:
        """Return the probability that a task is flawed.

        Args:
            votes: Share of votes for a flaw by judge, at least one; a judge without rates is an error.
        """
        known = [self.judges[judge] for judge in votes]
        sensitivity = np.array([rates.sensitivity for rates in known])
        specificity = np.array([rates.specificity for rates in known])
        odds = log_odds(np.array(list(votes.values())), sensitivity, specificity, self.prevalence)
        return float(0.5 * (1 + np.tanh(0.5 * odds)))


def error_rates(verdicts: Iterable[CheckedVerdict]) -> PanelRates:
    """Estimate the error rates of all judges from all their verdicts on all tasks.

    Where fewer than three judges voted, or on too few tasks, no rates are computed, and the note says so.

    Args:
        verdicts: All verdicts of a run, in any order.
    """
    by_task: dict[str, list[CheckedVerdict]] = {}
    for verdict in verdicts:
        by_task.setdefault(verdict.task_id, []).append(verdict)
    votes = {task_id: shares(by_task[task_id]) for task_id in sorted(by_task)}
    votes = {task_id: cast for task_id, cast in votes.items() if cast}
    judges = sorted({judge for cast in votes.values() for judge in cast})
    table = np.array([[cast.get(judge, np.nan) for judge in judges] for cast in votes.values()])
    shared = sum(len(cast) >= FEWEST_JUDGES for cast in votes.values())
    try:
        if 0 < shared < FEWEST_TASKS:
            raise TooFewVotesError(
                f"{FEWEST_JUDGES} judges voted together on {shared} tasks; {FEWEST_TASKS} are needed"
            )
        if not shared:
            raise TooFewVotesError(f"{len(judges)} judges voted, and on no task {FEWEST_JUDGES} of them")
        found = estimate(table)
    except TooFewVotesError as reason:
        flagged = sum(sum(cast.values()) / len(cast) for cast in votes.values())
        note = f"error rates of the judges cannot be estimated, and the majority decides: {reason}"
        return PanelRates(prevalence=(flagged + 1) / (len(votes) + 2), judges={}, tasks=len(votes), note=note)
    rates = {
        judge: ErrorRates(
            sensitivity=float(found.sensitivity[column]),
            specificity=float(found.specificity[column]),
            tasks=sum(judge in cast for cast in votes.values()),
        )
        for column, judge in enumerate(judges)
    }
    note = "" if found.converged else f"the estimate had not settled after {found.iterations} steps"
    return PanelRates(prevalence=found.prevalence, judges=rates, tasks=len(votes), note=note)
