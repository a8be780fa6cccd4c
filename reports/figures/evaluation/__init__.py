"""Figures of the evaluation report: drawn as SVG, each with its caption, description and data."""

from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.figures.evaluation.heat import condition_maps, score_maps
from agenthard.reports.figures.evaluation.lines import measure_lines, slice_lines
from agenthard.reports.figures.evaluation.scores import (
    board_intervals,
    difficulty_lines,
    failure_lines,
    horizon_lines,
    pair_differences,
)
from agenthard.reports.kit.figure import Figure

__all__ = ["Figure", "figures"]


def figures(analysis: EvaluationAnalysis) -> dict[str, Figure]:
    """Draw every figure of the report.

    Args:
        analysis: the analysis.

    Returns:
        Figures by id, in the order of the page.
    """
    drawn = (
        board_intervals(analysis),
        score_maps(analysis),
        condition_maps(analysis),
        slice_lines(analysis),
        measure_lines(analysis),
        horizon_lines(analysis),
        difficulty_lines(analysis),
        failure_lines(analysis),
        pair_differences(analysis),
    )
    return {figure.id: figure for figure in drawn}
