"""One row per agent: the leaderboard, and turns, tool calls, tokens, seconds and money used."""

from collections.abc import Mapping, Sequence

import pandas as pd

from agenthard.audit.statistics import Estimate, Result, ordinal_ranks
from agenthard.reports.evaluation.episodes import About, Episodes, usage_measures
from agenthard.reports.evaluation.rates import Rate, rate_of, rates
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.record import Record

NO_ENDING = "not said"


class AgentRow(Record):
    """One agent on the leaderboard, at the reference failure rate unless a field says otherwise."""

    agent: str
    """Agent."""
    family: str
    """Family: agents that are variants of one another."""
    rank: int | None
    """Ordinal rank by the score of final attempts, ties in order of name; None without a verdict."""
    final: Rate
    """Final attempt of every episode: the score."""
    first: Rate
    """First attempt of every episode; it differs from the final one where a broken attempt was repeated."""
    errors_as_failures: Result
    """Share of all final attempts that passed, those without a verdict counted as failures; interval as the score's."""
    mean_score: float | None
    """Mean of the scores as logged, over final attempts with a verdict; None when no score was logged."""
    trials: int
    """Most episodes of one task."""
    agent_errors: int
    """Final attempts that the agent broke: failures."""
    infrastructure_errors: int
    """Final attempts that the infrastructure broke: no failure of the agent."""
    judge_errors: int
    """Final attempts that the judge broke: no failure of the agent."""
    no_verdict: int
    """Final attempts without a verdict for no stated reason."""
    retried: int
    """Episodes with more than one attempt."""
    endings: dict[str, int]
    """How final attempts ended → how many; an ending is not a verdict."""
    run: int
    """Episodes that were run, over all failure rates."""
    planned: int | None
    """Episodes that were planned, over all failure rates; None without a plan."""

    @property
    def missing(self) -> int | None:
        """Planned episodes that were not run; None without a plan."""
        return None if self.planned is None else max(self.planned - self.run, 0)


def leaderboard(episodes: Episodes, about: About) -> tuple[AgentRow, ...]:
    """Make the leaderboard, best score first; an agent that was planned and never ran comes last.

    Args:
        episodes: the attempts.
        about: plan, families and level.

    Returns:
        One row per agent.
    """
    final, first = episodes.at_reference(episodes.final), episodes.at_reference(episodes.first)
    last, early = rates(final, ["agent"], about.level), rates(first, ["agent"], about.level)
    as_failures = rates(final.assign(verdict=final["verdict"].fillna(0.0)), ["agent"], about.level)
    agents = sorted(set(episodes.attempts["agent"]) | set(about.planned))
    scores = {a: last[a,].score for a in agents if (a,) in last}
    ranks = ordinal_ranks({a: s.value for a, s in scores.items() if isinstance(s, Estimate)}) if scores else {}
    run = episodes.final.groupby("agent").size()
    tries = episodes.at_reference(episodes.attempts).groupby(["agent", "task_id", "trial"]).size()
    retried = (tries > 1).groupby("agent").sum()
    parts = dict(iter(final.groupby("agent")))
    nothing = rate_of([], 0, about.level)
    rows = [
        _row(
            agent,
            parts.get(agent, final.iloc[:0]),
            last.get((agent,), nothing),
            early.get((agent,), nothing),
            as_failures.get((agent,), nothing).score,
            about,
            {"rank": ranks.get(agent), "run": int(run.get(agent, 0)), "retried": int(retried.get(agent, 0))},
        )
        for agent in agents
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.agent)))


def _row(
    agent: str,
    part: pd.DataFrame,
    last: Rate,
    early: Rate,
    as_failures: Result,
    about: About,
    known: Mapping[str, int | None],
) -> AgentRow:
    status, unscored = part["status"].value_counts(), part["verdict"].isna()
    endings = part["ending"].fillna(NO_ENDING).value_counts()
    scores = part.loc[~unscored, "score"].dropna()
    return AgentRow(
        agent=agent,
        family=about.family(agent),
        final=last,
        first=early,
        errors_as_failures=as_failures,
        mean_score=float(scores.mean()) if len(scores) else None,
        trials=int(part.groupby("task_id").size().max()) if len(part) else 0,
        agent_errors=int(status.get("agent_error", 0)),
        infrastructure_errors=int(status.get("infrastructure_error", 0)),
        judge_errors=int(status.get("judge_error", 0)),
        no_verdict=int((unscored & (part["status"] == "ok")).sum()),
        endings={str(name): int(endings[name]) for name in sorted(endings.index)},
        planned=about.planned.get(agent),
        **known,
    )


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
    """Sum over the attempts that have it: a lower bound when some do not, None when none does."""
    mean: float | None
    """Mean over the attempts that say it; None when none does."""
    median: float | None
    """Median over them."""
    highest: float | None
    """Largest of them."""


def usage(attempts: pd.DataFrame, agents: Sequence[str], declared: Declared) -> tuple[Usage, ...]:
    """Sum up every measure of every agent.

    Args:
        attempts: every attempt.
        agents: agents in the order of the leaderboard.
        declared: what the benchmark declares.

    Returns:
        Rows by agent and measure. A measure that no attempt has is None, never 0.
    """
    names = list(usage_measures(declared))
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
