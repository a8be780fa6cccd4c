"""Scores per cell of hidden slots × decoy budget, and per domain."""

from collections.abc import Sequence

import pandas as pd

from agenthard.audit.statistics import Result, wilson_interval
from agenthard.reports.evaluation.published import PublishedModel
from agenthard.reports.evaluation.rates import rates
from agenthard.taxonomy.record import Record


class Cell(Record):
    """One cell of a heat map."""

    hidden_slots: int
    """H: slots to fill."""
    decoy_budget: int
    """B: decoys in the whole instance."""
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
    """Cells with an episode, by H and then B."""
    outside: int
    """Episodes that belong to no cell, because H or B is unknown."""


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


def heat_maps(final: pd.DataFrame, agents: Sequence[str], published: Sequence[PublishedModel]) -> tuple[HeatMap, ...]:
    """Count the cells of every agent; published models with cells follow.

    Args:
        final: final attempts at the reference failure rate.
        agents: agents in the order of the leaderboard.
        published: published models.

    Returns:
        One map per agent, and per published model whose results have cells.
    """
    counted = final.groupby(["agent", "hidden_slots", "decoy_budget"])["verdict"].agg(["sum", "count"])
    outside = final[final["hidden_slots"].isna() | final["decoy_budget"].isna()].groupby("agent").size()
    cells: dict[str, list[Cell]] = {agent: [] for agent in agents}
    for agent, hidden, budget, passed, scored in counted.reset_index().itertuples(index=False):
        cell = Cell(hidden_slots=int(hidden), decoy_budget=int(budget), passed=int(passed), scored=int(scored))
        cells[agent].append(cell)
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
    cells = tuple(
        Cell(hidden_slots=c.hidden_slots, decoy_budget=c.decoy_budget, passed=c.passed, scored=c.n) for c in model.cells
    )
    return HeatMap(agent=model.model, published=True, cells=cells, outside=0)
