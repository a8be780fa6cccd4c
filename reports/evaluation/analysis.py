"""The one record behind the evaluation report, and how it is computed from the table of episodes: one pass per part."""

from collections.abc import Sequence

import pandas as pd
from pydantic import Field

from agenthard.audit.statistics import Result, minimum_detectable_difference, wilson_interval
from agenthard.audit.statistics.judges import JudgeAgreement
from agenthard.reports.evaluation.agents import AgentRow, Usage, leaderboard, usage
from agenthard.reports.evaluation.axes import ConditionScore, condition_scores
from agenthard.reports.evaluation.cells import DomainScore, HeatMap, domain_scores, heat_maps
from agenthard.reports.evaluation.conditions import ConditionMaps, MeasurePoint, measure_points, other_conditions
from agenthard.reports.evaluation.episodes import EPISODE, About, Episodes, normalised
from agenthard.reports.evaluation.pairs import PairResult, compare_agents, score_matrix
from agenthard.reports.evaluation.published import Published, merged
from agenthard.reports.evaluation.published_shapes import PublishedModel
from agenthard.reports.evaluation.scaling import (
    FailureScore,
    HorizonPoint,
    LevelScore,
    Trend,
    failure_scores,
    horizon,
    level_scores,
    trends,
)
from agenthard.reports.evaluation.turns import TurnChange, TurnSpan, turn_spans
from agenthard.reports.kit.text import plural, result_text
from agenthard.taxonomy.declared import NOTHING, Declared
from agenthard.taxonomy.record import Record


class PublishedRow(Record):
    """A published model, for comparison with the leaderboard. It has no rank: it was measured on other instances."""

    model: PublishedModel
    """What was published."""
    score: Result
    """Share of its instances solved, with its Wilson interval."""


class Totals(Record):
    """Counts over all failure rates."""

    agents: int
    """Agents that ran or were planned."""
    tasks: int
    """Distinct tasks that were run."""
    episodes: int
    """Episodes that were run."""
    planned: int | None
    """Episodes that were planned; None unless every agent has a plan."""
    attempts: int
    """Attempts at them."""
    retried: int
    """Episodes with more than one attempt."""
    unscored: int
    """Episodes whose final attempt has no verdict."""
    trials: int
    """Most trials of one task by one agent."""
    cost: float | None
    """Sum of the known costs of all attempts; None when no attempt has a price."""
    priced: int
    """Attempts with a price."""


class EvaluationAnalysis(Record):
    """The whole analysis. A number that does not exist is an ``Undefined`` with its reason or None, never NaN or 0."""

    schema_version: str = "1"
    """Version of this layout."""
    about: About
    """What was evaluated, and how."""
    sentence: str
    """The outcome in a few sentences."""
    totals: Totals
    """What there is."""
    notes: tuple[str, ...]
    """Problems of the table of episodes, and how they were handled."""
    failure_rates: tuple[float, ...]
    """Failure rates that were run, rising; everything but ablation and usage is about the first one."""
    board: tuple[AgentRow, ...]
    """The leaderboard, best first."""
    published: tuple[PublishedRow, ...]
    """Published models to compare with, best first."""
    files: tuple[Published, ...]
    """The files they come from, with what is wrong in them."""
    heat_maps: tuple[HeatMap, ...]
    """Score per cell of the factors, in the order of the leaderboard; published ones follow."""
    domains: tuple[DomainScore, ...]
    """Score per domain, in the order of the leaderboard; published ones follow."""
    horizon: tuple[HorizonPoint, ...]
    """Length of episodes against the first factor."""
    levels: tuple[LevelScore, ...]
    """Score against each factor."""
    trends: tuple[Trend, ...]
    """Rank correlation of the score with each factor."""
    failures: tuple[FailureScore, ...]
    """Score against the failure rate; empty when there is only one."""
    pairs: tuple[PairResult, ...]
    """Paired tests inside families and between neighbours."""
    detectable: Result
    """Smallest difference that the tasks with a verdict for every agent would detect."""
    usage: tuple[Usage, ...]
    """Turns, messages, calls, tokens, seconds and money."""
    conditions: tuple[ConditionMaps, ...] = Field(default=(), exclude_if=lambda maps: not maps)
    """Scores per cell under the conditions that are not the reference; not written where there are none."""
    measures: tuple[MeasurePoint, ...] = Field(default=(), exclude_if=lambda points: not points)
    """The measures that the benchmark declares, per condition; not written where it declares none."""
    by_condition: tuple[ConditionScore, ...] = Field(default=(), exclude_if=lambda rows: not rows)
    """Every agent under every condition, paired with the reference; not written where there is one only."""
    turns: tuple[TurnSpan, ...] = Field(default=(), exclude_if=lambda rows: not rows)
    """Calls and outcomes by turn; not written where the benchmark does not ask for them."""
    turn_changes: tuple[TurnChange, ...] = Field(default=(), exclude_if=lambda rows: not rows)
    """Turns from which calls are repeated or fail more often."""
    judges: tuple[JudgeAgreement, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Agreement of models that judged the attempts; not written where no panel did."""
    declared: Declared = Field(default=NOTHING, exclude=True)
    """What the benchmark declares about itself; not written."""


def analyse(
    episodes: pd.DataFrame,
    about: About,
    published: Sequence[Published] = (),
    declared: Declared = NOTHING,
    turns: pd.DataFrame | None = None,
    judges: Sequence[JudgeAgreement] = (),
) -> EvaluationAnalysis:
    """Analyse an evaluation of agents × instances × trials.

    Args:
        episodes: one row per episode and attempt; see docs/evaluation-report.md for the columns.
        about: what was evaluated; its level, resamples and seed govern every interval.
        published: published results to compare with.
        declared: what the benchmark declares: factors, counts, measures and axes.
        turns: one row per agent, condition and turn; None where turns are not counted.
        judges: agreement of the models that judged the attempts, by kind.

    Returns:
        The analysis. Equal input gives an equal analysis; the order of the rows does not matter, except that of two
        rows for one attempt the first one counts.

    Raises:
        EvaluationError: when a required column is missing.
    """
    table = normalised(episodes, declared)
    final = table.at_reference(table.final)
    board = leaderboard(table, about)
    agents = [row.agent for row in board]
    ranked = [row.agent for row in board if row.rank is not None]
    matrix = score_matrix(final[final["agent"].isin(ranked)], ranked)
    models = merged(published)
    pairs = compare_agents(matrix, {row.agent: row.family for row in board}, about)
    totals = _totals(table, board)
    spans, changes = ((), ()) if turns is None or turns.empty else turn_spans(turns, agents, about, declared)
    return EvaluationAnalysis(
        about=about,
        sentence=_sentence(totals, board, pairs),
        totals=totals,
        notes=table.notes,
        failure_rates=table.failure_rates,
        board=board,
        published=tuple(
            PublishedRow(model=model, score=wilson_interval(model.passed, model.n, about.level, "instances"))
            for model in models
        ),
        files=tuple(published),
        heat_maps=heat_maps(final, agents, models, declared),
        domains=domain_scores(final, agents, models, about.level),
        horizon=horizon(final, agents, about, declared),
        levels=level_scores(final, agents, about, declared),
        trends=trends(final, agents, about, declared),
        failures=failure_scores(table, agents, about),
        pairs=pairs,
        detectable=minimum_detectable_difference(matrix),
        usage=usage(table.attempts, agents, declared),
        conditions=other_conditions(table, agents, declared),
        measures=measure_points(table, agents, about, declared),
        by_condition=condition_scores(table, agents, about),
        turns=spans,
        turn_changes=changes,
        judges=tuple(judges),
        declared=declared,
    )


def _totals(table: Episodes, board: Sequence[AgentRow]) -> Totals:
    plans = [row.planned for row in board]
    cost = table.attempts["cost"]
    tries = table.attempts.groupby(EPISODE).size()
    return Totals(
        agents=len(board),
        tasks=int(table.attempts["task_id"].nunique()),
        episodes=len(table.final),
        planned=sum(plan or 0 for plan in plans) if plans and None not in plans else None,
        attempts=len(table.attempts),
        retried=int((tries > 1).sum()),
        unscored=int(table.final["verdict"].isna().sum()),
        trials=max((row.trials for row in board), default=0),
        cost=float(cost.sum()) if cost.notna().any() else None,
        priced=int(cost.notna().sum()),
    )


def _sentence(totals: Totals, board: Sequence[AgentRow], pairs: Sequence[PairResult]) -> str:
    if not board:
        return "No agent was evaluated: the table of episodes is empty."
    of = "" if totals.planned is None else f" of {totals.planned:,} planned"
    text = f"{plural(totals.agents, 'agent')}, {plural(totals.tasks, 'task')}: {totals.episodes:,}{of} episodes ran"
    text += f", {totals.unscored:,} of them without a verdict" if totals.unscored else ", all with a verdict"
    ranked = [row for row in board if row.rank is not None]
    if not ranked:
        return f"{text}. No episode has a verdict, so the leaderboard is empty."
    text += f". {ranked[0].agent} is first with {result_text(ranked[0].final.score, 'share')}"
    if len(ranked) > 1:
        text += f", {ranked[-1].agent} last with {result_text(ranked[-1].final.score, 'share')}"
    tested = [pair for pair in pairs if pair.significant is not None]
    if tested:
        differ = sum(pair.significant is True for pair in tested)
        text += f". {differ:,} of {plural(len(tested), 'tested pair')} differ{'s' if differ == 1 else ''} significantly"
    return f"{text}."
