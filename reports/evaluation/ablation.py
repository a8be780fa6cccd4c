"""What failing tools cost: the score at each failure rate, paired by task and trial with no failures."""

from collections.abc import Sequence

import pandas as pd

from agenthard.audit.statistics import Estimate, Result, paired_difference
from agenthard.audit.statistics.result import undefined
from agenthard.reports.evaluation.frame import Episodes
from agenthard.reports.evaluation.inputs import About
from agenthard.reports.evaluation.rates import Rate, rates
from agenthard.taxonomy.record import Record


class FailureScore(Record):
    """One agent at one failure rate."""

    agent: str
    """Agent."""
    failure_rate: float
    """Share of tool calls that were made to fail, 0..1."""
    rate: Rate
    """What passed."""
    difference: Result
    """Score minus the score without failures, over episodes of the same task and trial that both have a verdict on;
    clustered by task. Undefined at the failure rate 0 itself."""


def failure_scores(episodes: Episodes, agents: Sequence[str], about: About) -> tuple[FailureScore, ...]:
    """Score every agent at every failure rate.

    Args:
        episodes: the attempts; final ones count.
        agents: agents in the order of the leaderboard.
        about: level of the intervals.

    Returns:
        Rows by agent and failure rate; none when there is one failure rate only.
    """
    if len(episodes.failure_rates) < 2:
        return ()
    counted = rates(episodes.final, ["agent", "failure_rate"], about.level)
    parts = {
        key: part.set_index(["task_id", "trial"]) for key, part in episodes.final.groupby(["agent", "failure_rate"])
    }
    return tuple(
        FailureScore(
            agent=agent,
            failure_rate=float(p),
            rate=rate,
            difference=_difference(parts[agent, p], parts.get((agent, 0.0)), about.level)
            if p
            else undefined("this is the reference itself", rate.scored, "episodes"),
        )
        for (agent, p), rate in sorted(counted.items(), key=lambda item: (agents.index(item[0][0]), item[0][1]))
    )


def paired_gap(first: Sequence[float], second: Sequence[float], clusters: Sequence[str], level: float) -> Result:
    """Mean of first − second; where all gaps are equal, that gap without an interval, for its spread is unknown."""
    found = paired_difference(first, second, clusters, level)
    gaps = {a - b for a, b in zip(first, second, strict=True)}
    if isinstance(found, Estimate) or len(gaps) != 1:
        return found
    method = f"all {len(first):,} pairs differ by the same; no spread, so no interval"
    return Estimate(value=gaps.pop(), n=len(first), of=len(first), unit="episodes", method=method)


def _difference(part: pd.DataFrame, reference: pd.DataFrame | None, level: float) -> Result:
    if reference is None:
        return undefined("this agent has no episodes without failures", 0, "episodes")
    both = part[["verdict"]].join(reference["verdict"].rename("without"), how="inner").dropna().sort_index()
    if both.empty:
        return undefined("no task and trial has a verdict with and without failures", 0, "episodes")
    tasks = both.index.get_level_values("task_id").tolist()
    found = paired_gap(both["verdict"].tolist(), both["without"].tolist(), tasks, level)
    if isinstance(found, Estimate):
        return found.model_copy(update={"of": len(part), "unit": "episodes"})
    return found
