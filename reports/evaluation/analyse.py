"""From the table of episodes to the analysis: pure, deterministic, one pass per part."""

from collections.abc import Sequence

import pandas as pd

from agenthard.audit.statistics import wilson_interval
from agenthard.reports.amounts import plural, said
from agenthard.reports.evaluation.ablation import failure_scores
from agenthard.reports.evaluation.analysis import EvaluationAnalysis, PublishedRow, Totals
from agenthard.reports.evaluation.board import AgentRow, leaderboard
from agenthard.reports.evaluation.cells import domain_scores, heat_maps
from agenthard.reports.evaluation.frame import Episodes, normalised
from agenthard.reports.evaluation.inputs import About
from agenthard.reports.evaluation.pairs import PairResult, compare_agents, detectable_overall, score_matrix
from agenthard.reports.evaluation.published import Published, merged
from agenthard.reports.evaluation.scaling import horizon, level_scores, trends
from agenthard.reports.evaluation.usage import usage


def analyse(episodes: pd.DataFrame, about: About, published: Sequence[Published] = ()) -> EvaluationAnalysis:
    """Analyse an evaluation of agents × instances × trials.

    Args:
        episodes: one row per episode and attempt; see docs/evaluation-report.md for the columns.
        about: what was evaluated; its level, resamples and seed govern every interval.
        published: published results to compare with.

    Returns:
        The analysis. Equal input gives an equal analysis; the order of the rows does not matter, except that of two
        rows for one attempt the first one counts.

    Raises:
        EvaluationError: when the table lacks a column without which nothing can be counted.
    """
    table = normalised(episodes)
    final = table.at_reference(table.final)
    board = leaderboard(table, about)
    agents = [row.agent for row in board]
    ranked = [row.agent for row in board if row.rank is not None]
    matrix = score_matrix(final[final["agent"].isin(ranked)], ranked)
    models = merged(published)
    pairs = compare_agents(matrix, {row.agent: row.family for row in board}, about)
    totals = _totals(table, board)
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
        heat_maps=heat_maps(final, agents, models),
        domains=domain_scores(final, agents, models, about.level),
        horizon=horizon(final, agents, about),
        levels=level_scores(final, agents, about),
        trends=trends(final, agents, about),
        failures=failure_scores(table, agents, about),
        pairs=pairs,
        detectable=detectable_overall(matrix),
        usage=usage(table.attempts, agents),
    )


def _totals(table: Episodes, board: Sequence[AgentRow]) -> Totals:
    plans = [row.planned for row in board]
    cost = table.attempts["cost"]
    tries = table.attempts.groupby(["agent", "task_id", "failure_rate", "trial"]).size()
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
        return f"{text}. No episode has a verdict, so there is no leaderboard."
    text += f". {ranked[0].agent} is first with {said(ranked[0].final.score, 'share')}"
    if len(ranked) > 1:
        text += f", {ranked[-1].agent} last with {said(ranked[-1].final.score, 'share')}"
    tested = [pair for pair in pairs if pair.significant is not None]
    if tested:
        differ = sum(pair.significant is True for pair in tested)
        text += f". {differ:,} of {plural(len(tested), 'tested pair')} differ{'s' if differ == 1 else ''} significantly"
    return f"{text}."
