"""What holds under each condition: heat maps of the others than the reference, and the benchmark's own measures."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from agenthard.audit.statistics import Estimate, Result
from agenthard.audit.statistics.resampling import all_bootstrap_means, percentile_interval
from agenthard.audit.statistics.result import undefined
from agenthard.reports.evaluation.cells import HeatMap, heat_maps
from agenthard.reports.evaluation.episodes import About, Episodes
from agenthard.reports.evaluation.levels import AtLevels
from agenthard.taxonomy.declared import Declared, Measure
from agenthard.taxonomy.record import Record


class ConditionMaps(Record):
    """Scores per cell under one condition that is not the reference."""

    condition: str
    """The condition in words, such as ``p = 0.3``."""
    heat_maps: tuple[HeatMap, ...]
    """One map per agent that ran under it."""


class MeasurePoint(AtLevels):
    """One declared measure of one agent at one level of the first factor under one condition."""

    agent: str
    """Agent."""
    condition: str
    """The condition in words; empty where there is only one."""
    levels: dict[str, int]
    """The first factor → its level; written as a field of its name."""
    measure: str
    """Name of the measure."""
    mean: Result
    """Mean over episodes, or ratio of sums, with a percentile interval of a bootstrap over tasks; n of the estimate are
    the episodes in which the measure is defined, ``of`` all of them."""


def other_conditions(episodes: Episodes, agents: Sequence[str], declared: Declared) -> tuple[ConditionMaps, ...]:
    """Count the cells of every agent under every condition except the reference."""
    found = []
    for condition, part in list(episodes.conditions())[1:]:
        present = set(part["agent"])
        maps = heat_maps(part, [agent for agent in agents if agent in present], (), declared)
        found.append(ConditionMaps(condition=condition, heat_maps=maps))
    return tuple(found)


def measure_points(
    episodes: Episodes, agents: Sequence[str], about: About, declared: Declared
) -> tuple[MeasurePoint, ...]:
    """Average the declared measures, over final attempts that nothing outside the agent broke.

    Args:
        episodes: the attempts.
        agents: agents in the order of the leaderboard.
        about: level, resamples and seed.
        declared: what the benchmark declares.

    Returns:
        Points by measure, condition, agent and level. One that is not defined in any episode says why.
    """
    if not declared.factors:
        return ()
    factor, points = declared.factors[0].name, []
    for measure in declared.measures:
        for condition, final in episodes.conditions():
            whole = final[final["status"].isin(("ok", "agent_error")) & final[factor].notna()]
            groups: dict[Any, pd.DataFrame] = dict(iter(whole.groupby(["agent", factor], sort=True)))
            for (agent, level), part in sorted(groups.items(), key=lambda item: (agents.index(item[0][0]), item[0][1])):
                points.append(
                    MeasurePoint(
                        agent=agent,
                        condition=condition,
                        levels={factor: int(level)},
                        measure=measure.name,
                        mean=mean_of(part, measure, about),
                    )
                )
    return tuple(points)


def mean_of(part: pd.DataFrame, measure: Measure, about: About) -> Result:
    """Average one measure over episodes; undefined, with the reason, where no episode has it.

    Args:
        part: the episodes.
        measure: the measure.
        about: level, resamples and seed.
    """
    if measure.passed_only:
        part = part[part["verdict"] == 1.0]
    above = part[measure.part]
    below = part[measure.whole] if measure.whole else pd.Series(1.0, index=part.index)
    known = part[above.notna() & (below > 0)]
    if known.empty:
        return undefined(measure.undefined or "no episode says it", 0, "episodes")
    parts, wholes = (column[known.index].to_numpy(dtype=np.float64) for column in (above, below))
    pairs = np.stack([parts, wholes] if measure.pooled else [parts / wholes, np.ones(len(known))], axis=1)
    value = float(pairs[:, 0].sum() / pairs[:, 1].sum())
    names = known["task_id"].tolist()
    tasks = len(set(names))
    interval, method, seed = {}, "ratio of sums" if measure.pooled else "mean over episodes", None
    if tasks > 1:
        drawn = all_bootstrap_means(pairs, resamples=about.resamples, seed=about.seed, clusters=names)
        interval, seed = percentile_interval(drawn[:, 0] / drawn[:, 1], about.level), about.seed
        method += f", percentile interval of {about.resamples:,} resamples of {tasks:,} tasks"
    else:
        method += "; no interval from a single task"
    return Estimate(value=value, **interval, n=len(known), of=len(part), unit="episodes", method=method, seed=seed)
