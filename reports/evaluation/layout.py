"""The analysis laid out as tables of plain rows, for CSV files."""

from typing import Any

from agenthard.reports.cleaning.tables import Row, flat
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.board import AgentRow
from agenthard.reports.evaluation.rates import Rate


def tables_of(analysis: EvaluationAnalysis) -> dict[str, list[Row]]:
    """Lay out the analysis.

    Args:
        analysis: the analysis.

    Returns:
        Name of the table → rows with equal keys. A number that does not exist is an empty cell, its reason stands in
        the column that ends in ``_undefined``. A table without rows is left out.
    """
    tables: dict[str, list[Row]] = {
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
            _plain(row, "agent", "published", "domain", "passed", "scored") | flat("score", row.score)
            for row in analysis.domains
        ],
        "horizon": [
            _plain(point, "agent", "measure", "hidden_slots") | flat("mean", point.mean) for point in analysis.horizon
        ],
        "score_by_level": [_plain(row, "agent", "factor", "level") | _rate(row.rate) for row in analysis.levels],
        "trends": [_plain(row, "agent", "factor") | flat("rho", row.rho) for row in analysis.trends],
        "failure_rates": [
            _plain(row, "agent", "failure_rate") | _rate(row.rate) | flat("difference", row.difference)
            for row in analysis.failures
        ],
        "pairs": [
            _plain(pair, "first", "second", "family", "adjacent", "n", "of", "test", "p", "adjusted_p", "significant")
            | flat("difference", pair.difference)
            | flat("detectable", pair.detectable)
            | {"reason": pair.reason}
            for pair in analysis.pairs
        ],
        "usage": [row.model_dump() for row in analysis.usage],
        "published": [
            {"model": row.model.model, "sources": "; ".join(row.model.sources)}
            | _plain(row.model, "passed", "n")
            | flat("score", row.score)
            for row in analysis.published
        ],
        "notes": [
            *({"source": "episodes", "note": note} for note in analysis.notes),
            *({"source": file.source, "note": note} for file in analysis.files for note in file.problems),
        ],
    }
    return {name: rows for name, rows in tables.items() if rows}


def _board_row(row: AgentRow) -> Row:
    return (
        _plain(row, "rank", "agent", "family")
        | _rate(row.final)
        | flat("first_attempt", row.first.score)
        | flat("errors_as_failures", row.errors_as_failures)
        | _plain(row, "mean_score", "trials", "agent_errors", "infrastructure_errors", "judge_errors", "no_verdict")
        | _plain(row, "retried", "run", "planned", "missing")
    )


def _rate(rate: Rate) -> Row:
    counts = _plain(rate, "passed", "scored", "episodes", "tasks")
    return counts | flat("wilson", rate.wilson) | flat("clustered", rate.clustered)


def _plain(record: Any, *names: str) -> Row:
    return {name: getattr(record, name) for name in names}
