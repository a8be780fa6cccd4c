"""How score and length of episodes follow the benchmark's factors and failing tools."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from agenthard.audit.statistics import Estimate, Result, paired_gap, rank_trend
from agenthard.audit.statistics.resampling import all_bootstrap_means, percentile_interval
from agenthard.audit.statistics.result import undefined
from agenthard.reports.evaluation.episodes import About, Episodes
from agenthard.reports.evaluation.levels import AtLevels
from agenthard.reports.evaluation.rates import Rate, rates
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.record import Record

Length = Literal["turns", "messages", "calls"]
LENGTHS: tuple[Length, ...] = ("turns", "messages", "calls")


class HorizonPoint(AtLevels):
    """Mean length of one agent's episodes at one level of the first factor."""

    agent: str
    """Agent."""
    levels: dict[str, int]
    """The first factor → its level; written as a field of its name."""
    measure: Length
    """turns: replies of the model; messages: what the paper counts as steps; calls: tool calls."""
    mean: Result
    """Mean over episodes with a percentile interval of a bootstrap over tasks."""


class LevelScore(Record):
    """Score of one agent at one level of a factor."""

    agent: str
    """Agent."""
    factor: str
    """Name of the factor."""
    level: int
    """Its value."""
    rate: Rate
    """What passed."""


class Trend(Record):
    """How one agent's score follows a factor."""

    agent: str
    """Agent."""
    factor: str
    """Name of the factor."""
    rho: Result
    """Spearman's ρ over tasks; negative when the score falls as the factor rises."""


def horizon(final: pd.DataFrame, agents: Sequence[str], about: About, declared: Declared) -> tuple[HorizonPoint, ...]:
    """Average the length of episodes per agent and first factor, over attempts that nothing outside the agent broke.

    Args:
        final: final attempts at the reference failure rate.
        agents: agents in the order of the leaderboard.
        about: level, resamples and seed.
        declared: what the benchmark declares.

    Returns:
        Points by agent, measure and level; a measure that no episode of an agent has is left out.
    """
    if not declared.factors:
        return ()
    factor = declared.factors[0].name
    whole = final[final["status"].isin(("ok", "agent_error")) & final[factor].notna()]
    groups: dict[Any, pd.DataFrame] = dict(iter(whole.groupby(["agent", factor], sort=True)))
    points = []
    for (agent, level), part in sorted(groups.items(), key=lambda item: (agents.index(item[0][0]), item[0][1])):
        for measure in LENGTHS:
            if part[measure].notna().any():
                mean = _mean(part[["task_id", measure]], measure, about)
                points.append(HorizonPoint(agent=agent, levels={factor: int(level)}, measure=measure, mean=mean))
    return tuple(sorted(points, key=lambda p: (agents.index(p.agent), LENGTHS.index(p.measure), p.levels[factor])))


def level_scores(
    final: pd.DataFrame, agents: Sequence[str], about: About, declared: Declared
) -> tuple[LevelScore, ...]:
    """Score every agent at every level of each factor."""
    return tuple(
        LevelScore(agent=agent, factor=factor.name, level=int(level), rate=rate)
        for factor in declared.factors
        for (agent, level), rate in sorted(
            rates(final, ["agent", factor.name], about.level).items(),
            key=lambda item: (agents.index(item[0][0]), item[0]),
        )
    )


def trends(final: pd.DataFrame, agents: Sequence[str], about: About, declared: Declared) -> tuple[Trend, ...]:
    """Correlate every agent's score with each factor, over tasks."""
    found = []
    scored = final[final["verdict"].notna()]
    for factor in declared.factors:
        tasks = scored[scored[factor.name].notna()].groupby(["agent", "task_id"], sort=True)
        means = tasks.agg(level=(factor.name, "first"), score=("verdict", "mean")).reset_index()
        parts = dict(iter(means.groupby("agent")))
        for agent in agents:
            part = parts.get(agent)
            rho: Result = undefined(f"no task of this agent has a verdict and a known {factor.letter}", 0, "tasks")
            if part is not None:
                levels, scores = part["level"].tolist(), part["score"].tolist()
                rho = rank_trend(levels, scores, level=about.level, resamples=about.resamples, seed=about.seed)
            found.append(Trend(agent=agent, factor=factor.name, rho=rho))
    return tuple(sorted(found, key=lambda trend: agents.index(trend.agent)))


def _mean(part: pd.DataFrame, measure: Length, about: About) -> Result:
    known = part[part[measure].notna()]
    tasks = int(known["task_id"].nunique())
    values = known[measure].to_numpy(dtype=np.float64)[:, None]
    interval, method, seed = {}, "mean over episodes; no interval from a single task", None
    if tasks > 1:
        names = known["task_id"].tolist()
        drawn = all_bootstrap_means(values, resamples=about.resamples, seed=about.seed, clusters=names)
        interval, seed = percentile_interval(drawn[:, 0], about.level), about.seed
        method = f"mean over episodes, percentile interval of {about.resamples:,} resamples of {tasks:,} tasks"
    return Estimate(
        value=float(values.mean()), **interval, n=len(known), of=len(part), unit="episodes", method=method, seed=seed
    )


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
    final = episodes.at_variant(episodes.final)
    counted = rates(final, ["agent", "failure_rate"], about.level)
    parts = {key: part.set_index(["task_id", "trial"]) for key, part in final.groupby(["agent", "failure_rate"])}
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
