"""The flows ``report`` and ``compare``. A server that records them gets artifacts."""

from typing import Any

from agenthard.flows.artifacts import page_address
from agenthard.flows.comparison import CompareSettings, make_comparison
from agenthard.flows.report import (
    ReportOutcome,
    ReportSettings,
    analyse_run,
    conclude_report,
    held,
    report_folder,
    write_report,
)
from agenthard.flows.stages import has_server, run_flow, stage
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.summary import summary_markdown
from agenthard.reports.cleaning.tables import board_rows
from agenthard.reports.comparison.audits import AuditComparison
from agenthard.reports.comparison.scores import ScoreComparison
from agenthard.reports.comparison.summary import comparison_markdown


@stage("analyse", "analyse {settings.run}")
def analyse_task(settings: ReportSettings) -> CleaningAnalysis:
    """Read the tables of the run and analyse them."""
    return analyse_run(settings)


@stage("write-report")
def write_task(settings: ReportSettings, analysis: CleaningAnalysis) -> ReportOutcome:
    """Write the page, the data and the hard split."""
    write_report(settings, analysis)
    return conclude_report(settings, analysis)


def report(settings: ReportSettings) -> ReportOutcome:
    """Report what cleaning does to a leaderboard."""
    analysis = analyse_task(settings)
    outcome = write_task(settings, analysis)
    if has_server():
        _leave_artifacts(settings, analysis)
    return outcome


@stage("compare-sides")
def compare_task(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Read both sides and compare them."""
    return make_comparison(settings)


def compare(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Compare two runs, or two tables of scores."""
    comparison = compare_task(settings)
    if has_server():
        from prefect.artifacts import create_markdown_artifact

        create_markdown_artifact(comparison_markdown(comparison), key="agenthard-comparison")
    return comparison


def run_report(settings: ReportSettings) -> ReportOutcome:
    """Make the report, as a flow where a server records it."""
    with held(settings):
        return run_flow(report, "report", f"report {settings.run}", 1, settings)


def run_comparison(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Compare, as a flow where a server records it."""
    return run_flow(compare, "compare", f"compare {settings.first} {settings.second}", 1, settings)


def _leave_artifacts(settings: ReportSettings, analysis: CleaningAnalysis) -> None:
    from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

    source = "".join(c if c.isalnum() and c.isascii() else "-" for c in analysis.provenance.source.lower())
    rows: list[dict[str, Any]] = [row for board in analysis.leaderboards for row in board_rows(board)]
    create_markdown_artifact(summary_markdown(analysis), key=f"agenthard-report-{source}")
    if rows:
        create_table_artifact(rows, key=f"agenthard-leaderboards-{source}", description=analysis.headline.sentence)
    page = page_address(report_folder(settings) / "report.html")
    if page is not None:
        create_link_artifact(page, link_text="report", key=f"agenthard-page-{source}")
