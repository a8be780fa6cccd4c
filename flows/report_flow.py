"""The Prefect flows ``report`` and ``compare``. With a server they leave artifacts; without one none is started."""

from typing import Any

import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.settings import get_current_settings

from agenthard.flows.comparison import CompareSettings, make_comparison
from agenthard.flows.report import (
    ReportOutcome,
    ReportSettings,
    analyse_run,
    conclude_report,
    held,
    make_report,
    report_folder,
    write_report,
)
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.summary import summary_markdown
from agenthard.reports.cleaning.tables import board_rows
from agenthard.reports.comparison.audits import AuditComparison
from agenthard.reports.comparison.scores import ScoreComparison
from agenthard.reports.comparison.summary import comparison_markdown


@task(name="analyse", task_run_name="analyse {settings.run}", cache_policy=NO_CACHE)
def analyse_task(settings: ReportSettings) -> CleaningAnalysis:
    """Read the tables of the run and analyse them."""
    return analyse_run(settings)


@task(name="write-report", cache_policy=NO_CACHE)
def write_task(settings: ReportSettings, analysis: CleaningAnalysis) -> ReportOutcome:
    """Write the page, the data and the hard split."""
    write_report(settings, analysis)
    return conclude_report(settings, analysis)


@flow(name="report", flow_run_name="report {settings.run}", validate_parameters=False)
def report_flow(settings: ReportSettings) -> ReportOutcome:
    """Report what cleaning does to a leaderboard."""
    analysis = analyse_task(settings)
    outcome = write_task(settings, analysis)
    if has_server():
        _leave_artifacts(settings, analysis)
    return outcome


@task(name="compare-sides", cache_policy=NO_CACHE)
def compare_task(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Read both sides and compare them."""
    return make_comparison(settings)


@flow(name="compare", flow_run_name="compare {settings.first} {settings.second}", validate_parameters=False)
def compare_flow(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Compare two runs, or two tables of scores."""
    comparison = compare_task(settings)
    if has_server():
        create_markdown_artifact(comparison_markdown(comparison), key="agenthard-comparison")
    return comparison


def has_server() -> bool:
    """Tell whether a Prefect server is configured (PREFECT_API_URL or a profile)."""
    return bool(get_current_settings().api.url)


def run_report(settings: ReportSettings) -> ReportOutcome:
    """Make the report, as a flow where a server records it."""
    with held(settings):
        if not has_server():
            return make_report(settings)
        outcome: ReportOutcome = report_flow(settings)
        return outcome


def run_comparison(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Compare, as a flow where a server records it."""
    if not has_server():
        return make_comparison(settings)
    comparison: AuditComparison | ScoreComparison = compare_flow(settings)
    return comparison


def _leave_artifacts(settings: ReportSettings, analysis: CleaningAnalysis) -> None:
    source = "".join(c if c.isalnum() and c.isascii() else "-" for c in analysis.provenance.source.lower())
    rows: list[dict[str, Any]] = [row for board in analysis.leaderboards for row in board_rows(board)]
    create_markdown_artifact(summary_markdown(analysis), key=f"agenthard-report-{source}")
    if rows:
        create_table_artifact(rows, key=f"agenthard-leaderboards-{source}", description=analysis.headline.sentence)
    page = (report_folder(settings) / "report.html").resolve().as_uri()
    create_link_artifact(page, link_text="report.html", key=f"agenthard-page-{source}")
