"""Figures of the cleaning report: what each shows, drawn as SVG, with its caption, description and data."""

from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.figures.cleaning.agreement import agreement_maps
from agenthard.reports.figures.cleaning.difficulty import difficulty_scatter
from agenthard.reports.figures.cleaning.information import information_curves
from agenthard.reports.figures.cleaning.ranks import rank_chart
from agenthard.reports.figures.cleaning.separability import separability_curve
from agenthard.reports.figures.cleaning.shares import component_shares, retention_bars
from agenthard.reports.kit.figure import Figure, Key

__all__ = ["Figure", "Key", "figures"]


def figures(analysis: CleaningAnalysis) -> dict[str, Figure]:
    """Draw every figure of the report.

    Args:
        analysis: the analysis.

    Returns:
        Figures by id, in the order of the page.
    """
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # the charts are ours, so that altair need not validate every part of them
        drawn = (
            information_curves(analysis),
            rank_chart(analysis),
            agreement_maps(analysis),
            separability_curve(analysis),
            component_shares(analysis),
            retention_bars(analysis),
            difficulty_scatter(analysis),
        )
    return {figure.id: figure for figure in drawn}
