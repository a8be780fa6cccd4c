"""What the episodes took: turns, messages, tool calls, tokens, seconds and money, with how many attempts say so."""

from collections.abc import Sequence

import pandas as pd

from agenthard.reports.evaluation.frame import MEASURES
from agenthard.taxonomy.record import Record


class Usage(Record):
    """One measure of one agent, over every attempt at every failure rate: a broken attempt costs, too."""

    agent: str
    """Agent."""
    measure: str
    """turns (replies of the model), messages (what the paper counts as steps), calls, tokens, seconds, cost …"""
    known: int
    """Attempts that say it."""
    attempts: int
    """Attempts there are."""
    total: float | None
    """Sum over the attempts that say it: a lower bound when some do not, None when none does."""
    mean: float | None
    """Mean over the attempts that say it; None when none does."""
    median: float | None
    """Median over them."""
    highest: float | None
    """Largest of them."""


def usage(attempts: pd.DataFrame, agents: Sequence[str]) -> tuple[Usage, ...]:
    """Sum up every measure of every agent.

    Args:
        attempts: every attempt.
        agents: agents in the order of the leaderboard.

    Returns:
        Rows by agent and measure. What no attempt says is None, never 0.
    """
    names = list(MEASURES)
    groups = attempts.groupby("agent")
    sizes, known = groups.size(), groups[names].count().to_dict("index")
    totals, means, medians, most = (getattr(groups[names], name)() for name in ("sum", "mean", "median", "max"))
    rows = []
    for agent in agents:
        for name in names:
            count = known.get(agent, {}).get(name, 0)
            values = [float(table.at[agent, name]) for table in (totals, means, medians, most)] if count else [None] * 4
            rows.append(
                Usage(
                    agent=agent,
                    measure=name,
                    known=count,
                    attempts=int(sizes.get(agent, 0)),
                    **dict(zip(("total", "mean", "median", "highest"), values, strict=True)),
                )
            )
    return tuple(rows)
