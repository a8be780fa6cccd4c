"""Scores per cell of the benchmark's factors, and per domain."""

from collections.abc import Sequence

import pandas as pd

from agenthard.audit.statistics import Result, wilson_interval
from agenthard.reports.evaluation.levels import AtLevels
from agenthard.reports.evaluation.published_shapes import PublishedModel
from agenthard.reports.evaluation.rates import rates
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.record import Record


class Cell(AtLevels):
    """One cell of a heat map."""

    levels: dict[str, int]
    """Factor → its level; written as a field for each factor."""
    passed: int
    """Episodes that passed."""
    scored: int
    """Episodes with a verdict; 0 when all of them broke."""

    @property
    def share(self) -> float | None:
        """Share of episodes with a verdict that passed; None without a verdict."""
        return self.passed / self.scored if self.scored else None


class HeatMap(Record):
    """One agent's score over the cells."""

    agent: str
    """Agent, or model of a published result."""
    published: bool
    """Whether the numbers were published by others, on other instances."""
    cells: tuple[Cell, ...]
    """Cells with an episode, by level of the first factor and then the second."""
    outside: int
    """Episodes that belong to no cell, because a factor is unknown."""


class DomainScore(Record):
    """One agent in one domain."""

    agent: str
    """Agent, or model of a published result."""
    published: bool
    """Whether the numbers were published by others, on other instances."""
    domain: str
    """Domain."""
    passed: int
    """Episodes that passed."""
    scored: int
    """Episodes with a verdict."""
    score: Result
    """The share with its interval: clustered by task where trials repeat, else Wilson's."""


def heat_maps(
    final: pd.DataFrame, agents: Sequence[str], published: Sequence[PublishedModel], declared: Declared
) -> tuple[HeatMap, ...]:
    """Count the cells of every agent; published models with cells follow.

    Args:
        final: final attempts under one condition.
        agents: agents in the order of the leaderboard.
        published: published models.
        declared: what the benchmark declares; its first two factors make the cells.

    Returns:
        One map per agent, and per published model whose results have cells.
    """
    names = [factor.name for factor in declared.factors[:2]]
    cells: dict[str, list[Cell]] = {agent: [] for agent in agents}
    outside = final[final[names].isna().any(axis=1)].groupby("agent").size()
    counted = final.groupby(["agent", *names])["verdict"].agg(["sum", "count"]) if names else final.iloc[:0]
    for agent, *places, passed, scored in counted.reset_index().itertuples(index=False) if names else ():
        levels = {name: int(level) for name, level in zip(names, places, strict=True)}
        cells[agent].append(Cell(levels=levels, passed=int(passed), scored=int(scored)))
    ours = [
        HeatMap(agent=agent, published=False, cells=tuple(cells[agent]), outside=int(outside.get(agent, 0)))
        for agent in agents
    ]
    return (*ours, *(_published_map(model) for model in published if model.cells))


def domain_scores(
    final: pd.DataFrame, agents: Sequence[str], published: Sequence[PublishedModel], level: float
) -> tuple[DomainScore, ...]:
    """Score every agent per domain, in the order of agents and then domains; published models follow."""
    counted = rates(final, ["agent", "domain"], level)
    place = {agent: i for i, agent in enumerate(agents)}
    ours = [
        DomainScore(
            agent=agent, published=False, domain=domain, passed=rate.passed, scored=rate.scored, score=rate.score
        )
        for (agent, domain), rate in sorted(counted.items(), key=lambda item: (place[item[0][0]], item[0][1]))
    ]
    theirs = [
        DomainScore(
            agent=model.model,
            published=True,
            domain=count.domain,
            passed=count.passed,
            scored=count.n,
            score=wilson_interval(count.passed, count.n, level, "instances"),
        )
        for model in published
        for count in model.domains
    ]
    return (*ours, *theirs)


def _published_map(model: PublishedModel) -> HeatMap:
    cells = tuple(Cell(levels=c.levels, passed=c.passed, scored=c.n) for c in model.cells)
    return HeatMap(agent=model.model, published=True, cells=cells, outside=0)
