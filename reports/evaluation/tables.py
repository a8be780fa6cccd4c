"""The files of the evaluation report: page, JSON twin, Markdown summary and a CSV of every table."""

from collections.abc import Sequence
from pathlib import Path

from agenthard.audit.statistics import Result
from agenthard.audit.statistics.judges import JudgeAgreement
from agenthard.reports.evaluation.agents import AgentRow
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.page import ShownRun, write_evaluation_page
from agenthard.reports.evaluation.rates import Rate
from agenthard.reports.evaluation.summary import summary_markdown
from agenthard.reports.kit.files import Row, flat, pick, write_data


def tables_of(analysis: EvaluationAnalysis) -> dict[str, list[Row]]:
    """Lay out the analysis.

    Args:
        analysis: the analysis.

    Returns:
        Name of the table → rows with equal keys. A number that does not exist is an empty cell, its reason is in
        the column that ends in ``_undefined``. A table without rows is left out.
    """
    tables = {
        **_scores(analysis),
        **_conditions(analysis),
        **_episodes(analysis),
        **_published(analysis),
        "judges": [row for each in analysis.judges for row in _agreement(each)],
        "notes": [
            *({"source": "episodes", "note": note} for note in analysis.notes),
            *({"source": file.source, "note": note} for file in analysis.files for note in file.problems),
        ],
    }
    return {name: rows for name, rows in tables.items() if rows}


def _scores(analysis: EvaluationAnalysis) -> dict[str, list[Row]]:
    """Scores of agents by task, cell, domain and level."""
    return {
        "leaderboard": [_board_row(row) for row in analysis.board],
        "endings": [
            {"agent": row.agent, "ending": ending, "episodes": count}
            for row in analysis.board
            for ending, count in row.endings.items()
        ],
        "cells": [
            {"agent": grid.agent, "published": grid.published} | cell.model_dump() | {"share": cell.share}
            for grid in analysis.heat_maps
            for cell in grid.cells
        ],
        "domains": [
            pick(row, "agent", "published", "domain", "passed", "scored") | flat("score", row.score)
            for row in analysis.domains
        ],
        "score_by_level": [pick(row, "agent", "factor", "level") | _rate(row.rate) for row in analysis.levels],
        "trends": [pick(row, "agent", "factor") | flat("rho", row.rho) for row in analysis.trends],
        "failure_rates": [
            pick(row, "agent", "failure_rate") | _rate(row.rate) | flat("difference", row.difference)
            for row in analysis.failures
        ],
        "pairs": [
            pick(pair, "first", "second", "family", "adjacent", "n", "of", "test", "p", "adjusted_p", "significant")
            | flat("difference", pair.difference)
            | flat("detectable", pair.detectable)
            | {"reason": pair.reason}
            for pair in analysis.pairs
        ],
    }


def _conditions(analysis: EvaluationAnalysis) -> dict[str, list[Row]]:
    """What differs between conditions."""
    return {
        "cells_by_condition": [
            {"condition": each.condition, "agent": grid.agent} | cell.model_dump() | {"share": cell.share}
            for each in analysis.conditions
            for grid in each.heat_maps
            for cell in grid.cells
        ],
        "measures": [
            pick(point, "measure", "condition", "agent") | point.levels | flat("mean", point.mean)
            for point in analysis.measures
        ],
        "conditions": [
            pick(row, "agent", "condition", "reference", "mean")
            | _rate(row.rate)
            | flat("passed_difference", row.passed_difference)
            | flat("score_difference", row.score_difference)
            for row in analysis.by_condition
        ],
    }


def _episodes(analysis: EvaluationAnalysis) -> dict[str, list[Row]]:
    """What happens in episodes, and what they cost."""
    return {
        "turns": [
            pick(row, "agent", "condition", "first", "last", "replies", "calls")
            | flat("repeated", row.repeated)
            | flat("failed", row.failed)
            | flat("changed", row.changed)
            | flat("passed", row.passed)
            for row in analysis.turns
        ],
        "turn_changes": [
            pick(row, "agent", "condition", "what", "turn") | flat("before", row.before) | flat("after", row.after)
            for row in analysis.turn_changes
        ],
        "horizon": [
            pick(point, "agent", "measure") | point.levels | flat("mean", point.mean) for point in analysis.horizon
        ],
        "usage": [row.model_dump() for row in analysis.usage],
    }


def _published(analysis: EvaluationAnalysis) -> dict[str, list[Row]]:
    """Published results, to compare with."""
    return {
        "published": [
            {"model": row.model.model, "sources": "; ".join(row.model.sources)}
            | pick(row.model, "passed", "n")
            | flat("score", row.score)
            for row in analysis.published
        ],
        "published_measures": [
            {"model": row.model.model} | each.model_dump() for row in analysis.published for each in row.model.measures
        ],
    }


def _agreement(found: JudgeAgreement) -> list[Row]:
    """Lay out the agreement of judges of a kind: all together, each pair, and each with itself."""
    compared: list[tuple[str, str, str, Result, Result | None]] = [
        ("all", "", "", found.judges, None),
        *(("pair", each.first, each.second, each.alpha, each.kappa) for each in found.pairs),
        *(("repetitions", name, "", alpha, None) for name, alpha in found.repeats.items()),
    ]
    return [
        {"kind": found.kind, "compared": what, "first": first, "second": second}
        | flat("alpha", alpha)
        | flat("kappa", kappa)
        for what, first, second, alpha, kappa in compared
    ]


def _board_row(row: AgentRow) -> Row:
    return (
        pick(row, "rank", "agent", "family")
        | _rate(row.final)
        | flat("first_attempt", row.first.score)
        | flat("errors_as_failures", row.errors_as_failures)
        | pick(row, "mean_score", "trials", "agent_errors", "infrastructure_errors", "judge_errors", "no_verdict")
        | pick(row, "retried", "run", "planned", "missing")
    )


def _rate(rate: Rate) -> Row:
    counts = pick(rate, "passed", "scored", "episodes", "tasks")
    return counts | flat("wilson", rate.wilson) | flat("clustered", rate.clustered)


def write_evaluation(analysis: EvaluationAnalysis, folder: Path, shown: Sequence[ShownRun] = ()) -> list[Path]:
    """Write ``evaluation.html``, ``evaluation.json``, ``summary.md`` and ``tables/*.csv``; equal analyses, equal bytes.

    Args:
        analysis: the analysis.
        folder: where the files go; made when absent.
        shown: runs with a page of their own.

    Returns:
        The files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "evaluation.html"
    write_evaluation_page(analysis, page, shown)
    return [page, *write_data(analysis, summary_markdown(analysis), tables_of(analysis), folder / "evaluation.json")]
