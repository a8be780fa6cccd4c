"""Figures of the cleaning report: what each shows, drawn as SVG, with its caption, description and data."""

from agenthard.reports.cleaning.analysis import CleaningAnalysis
from agenthard.reports.figures.agreement import agreement_maps
from agenthard.reports.figures.components import component_shares
from agenthard.reports.figures.difficulty import difficulty_scatter
from agenthard.reports.figures.figure import Figure, Key
from agenthard.reports.figures.ranks import rank_chart
from agenthard.reports.figures.retention import retention_bars
from agenthard.reports.figures.separability import separability_curve

__all__ = ["Figure", "Key", "figures"]


def figures(analysis: CleaningAnalysis) -> dict[str, Figure]:
    """Draw every figure of the report.

    Args:
        analysis: the analysis.

    Returns:
        Figures by id, in the order of the page.
    """
    drawn = (
        rank_chart(analysis),
        agreement_maps(analysis),
        separability_curve(analysis),
        component_shares(analysis),
        retention_bars(analysis),
        difficulty_scatter(analysis),
    )
    return {figure.id: figure for figure in drawn}
