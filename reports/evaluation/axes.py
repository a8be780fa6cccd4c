"""Each agent under each combination of conditions, and its difference to the reference, paired by task and trial."""

from collections.abc import Sequence

import pandas as pd

from agenthard.audit.statistics import Estimate, Result, paired_gap
from agenthard.audit.statistics.result import undefined
from agenthard.reports.evaluation.episodes import About, Episodes
from agenthard.reports.evaluation.rates import Rate, rates
from agenthard.taxonomy.record import Record


class ConditionScore(Record):
    """One agent under one condition, at the reference failure rate."""

    agent: str
    """Agent."""
    condition: str
    """The condition in words: ``scaffold = native``."""
    reference: bool
    """Whether this is the condition that the others are compared with."""
    rate: Rate
    """What passed."""
    mean: float | None
    """Mean of the scores as logged, over episodes with a verdict; None where none was logged."""
    passed_difference: Result
    """Share passed minus that under the reference condition, over episodes of the same task and trial that both have a
    verdict on; clustered by task. Undefined at the reference itself."""
    score_difference: Result
    """The same of the scores as logged."""


def condition_scores(episodes: Episodes, agents: Sequence[str], about: About) -> tuple[ConditionScore, ...]:
    """Score every agent under every condition apart from the failure rate.

    Args:
        episodes: the attempts; final ones count.
        agents: agents in the order of the leaderboard.
        about: level of the intervals.

    Returns:
        Rows by agent and condition, the reference first; none when there is one condition only.
    """
    if len(episodes.variants) < 2:
        return ()
    final = episodes.final
    final = final[final["failure_rate"] == episodes.failure_rates[0]]
    counted = rates(final, ["agent", "variant"], about.level)
    parts = {key: part.set_index(["task_id", "trial"]) for key, part in final.groupby(["agent", "variant"])}
    reference, found = episodes.variants[0], []
    for agent, variant in sorted(parts, key=lambda key: (agents.index(key[0]), episodes.variants.index(key[1]))):
        part, base = parts[agent, variant], parts.get((agent, reference))
        scores = part[part["verdict"].notna()]["score"].dropna()
        gaps = (
            [undefined("this is the reference itself", len(part), "episodes")] * 2
            if variant == reference
            else [_difference(part, base, column, about.level) for column in ("verdict", "score")]
        )
        found.append(
            ConditionScore(
                agent=agent,
                condition=variant,
                reference=variant == reference,
                rate=counted[agent, variant],
                mean=float(scores.mean()) if len(scores) else None,
                passed_difference=gaps[0],
                score_difference=gaps[1],
            )
        )
    return tuple(found)


def _difference(part: pd.DataFrame, base: pd.DataFrame | None, column: str, level: float) -> Result:
    if base is None:
        return undefined("this agent has no episodes under the reference condition", 0, "episodes")
    scored, reference = part[part["verdict"].notna()], base[base["verdict"].notna()]
    both = scored[[column]].join(reference[column].rename("reference"), how="inner").dropna().sort_index()
    if both.empty:
        return undefined("no task and trial has a verdict under both conditions", 0, "episodes")
    tasks = both.index.get_level_values("task_id").tolist()
    found = paired_gap(both[column].tolist(), both["reference"].tolist(), tasks, level)
    if isinstance(found, Estimate):
        return found.model_copy(update={"of": len(part), "unit": "episodes"})
    return found
