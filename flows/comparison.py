"""Comparing two runs, or two tables of scores, as plain functions."""

from pathlib import Path

from agenthard.audit.statistics import DifferentModelsError, ScoreMatrix, read_matrix
from agenthard.flows.errors import CommandError
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings
from agenthard.reports.cleaning.models import MatrixAnalysis, analyse_matrix
from agenthard.reports.cleaning.runs import reorder_models
from agenthard.reports.comparison.audits import AuditComparison, compare_audits, load_side
from agenthard.reports.comparison.scores import ScoreComparison, compare_scores
from agenthard.taxonomy.record import Record


class CompareSettings(Record):
    """What to compare and how."""

    first: str
    """Run folder, or table of scores."""
    second: str
    """Run folder, or table of scores: the same kind as ``first``."""
    experiment: str | None = None
    """Which runs; None = those of the experiment with most comparable models of the first side."""
    common_models: bool = False
    """Compare the models that both sides have, instead of refusing different ones."""
    analysis: AnalysisSettings = AnalysisSettings()
    """Parameters."""


def make_comparison(settings: CompareSettings) -> AuditComparison | ScoreComparison:
    """Compare two run folders, or two tables.

    Raises:
        CommandError: when a side cannot be read, or the sides may not be compared.
    """
    first, second = Path(settings.first), Path(settings.second)
    for path in (first, second):
        if not path.exists():
            raise CommandError(f"{path}: there is nothing at this path")
    if first.is_dir() != second.is_dir():
        raise CommandError("compare two run folders, or two tables of scores: here one is a folder and one is a file")
    if not first.is_dir():
        return _compare_tables(settings, read_scores(first), read_scores(second))
    return compare_audits(
        load_side(first),
        load_side(second),
        settings.analysis,
        experiment=settings.experiment,
        common_models=settings.common_models,
    )


def make_leaderboard(matrix: Path, drop: Path | None, settings: AnalysisSettings) -> MatrixAnalysis:
    """Rank the models of a table, and compare with the ranking without the dropped tasks.

    Args:
        matrix: table of scores.
        drop: file with one task id per line; empty lines and lines that start with # do not count.
        settings: parameters.

    Raises:
        CommandError: when a file cannot be read or used.
    """
    scores = read_scores(matrix)
    dropped: list[str] = []
    if drop is not None:
        if not drop.is_file():
            raise CommandError(f"{drop}: no file at this path")
        try:
            lines = [line.strip() for line in drop.read_text(encoding="utf-8-sig").splitlines()]
        except UnicodeDecodeError as error:
            raise CommandError(f"{drop}: not a text file ({error})") from error
        dropped = [line for line in lines if line and not line.startswith("#")]
        if not dropped:
            raise CommandError(f"{drop}: no task id in it; give one per line")
    try:
        return analyse_matrix(scores, dropped, settings)
    except AnalysisError as error:
        raise CommandError(f"{matrix}: {error}") from error


def read_scores(path: Path) -> ScoreMatrix:
    """Read a table of scores.

    Raises:
        CommandError: when it is not a table of scores.
    """
    if not path.is_file():
        raise CommandError(f"{path}: no file at this path")
    try:
        return read_matrix(path)
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from error


def _compare_tables(settings: CompareSettings, first: ScoreMatrix, second: ScoreMatrix) -> ScoreComparison:
    if settings.common_models:
        shared = [model for model in first.models if model in set(second.models)]
        if not shared:
            raise CommandError("the two tables have no model in common")
        first, second = reorder_models(first, shared), reorder_models(second, shared)
    try:
        return compare_scores(first, second, settings.analysis)
    except DifferentModelsError as error:
        raise CommandError(f"{error} (--common-models)") from error
