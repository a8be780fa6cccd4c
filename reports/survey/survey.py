"""Puts several audits side by side."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.kit.load import RunTablesError
from agenthard.reports.leaderboard.boards import score_splits
from agenthard.reports.leaderboard.scored import apart
from agenthard.reports.survey.audits import SurveyedAudit, differences, load_audit, reference_of
from agenthard.reports.survey.categories import category_counts
from agenthard.reports.survey.evaluators import evaluator_tests
from agenthard.reports.survey.history import histories
from agenthard.reports.survey.points import model_points
from agenthard.reports.survey.record import Survey, SurveyedBenchmark, Unseen
from agenthard.taxonomy.categories import Taxonomy, load_taxonomy
from agenthard.taxonomy.errors import AgentHardError


class SurveyError(AgentHardError, ValueError):
    """The audits cannot be put on one page; the message says why."""

    code = "AH710"
    remedy = "Name each run folder once; give folders with the same name other names."


def survey(runs: Sequence[Path], settings: AnalysisSettings | None = None, *, title: str = "") -> Survey:
    """Read finished audits and put them side by side.

    Args:
        runs: run folders; several of one benchmark are its history.
        settings: level, seed, resamples and draws; the defaults when None.
        title: title of the page.

    Returns:
        The survey.

    Raises:
        SurveyError: when no run is given, or two have the same name.
        RunTablesError: when a folder holds no finished audit of a known layout.
    """
    settings = settings or AnalysisSettings()
    folders = named_folders(runs)
    audits = [load_audit(folder) for folder in folders.values()]
    reference, taxonomy = reference_of(audits), load_taxonomy()
    benchmarks = apart([_benchmark(audit, reference, taxonomy, settings) for audit in audits])
    anchors = {each.run: each.anchor for each in benchmarks}
    return Survey(
        title=title or _title(audits),
        agenthard=package_version("agenthard"),
        level=settings.level,
        seed=settings.seed,
        resamples=settings.resamples,
        draws=settings.draws,
        reference=reference.run,
        benchmarks=benchmarks,
        histories=histories(audits, folders, anchors, settings.level),
    )


def _title(audits: Sequence[SurveyedAudit]) -> str:
    names = dict.fromkeys(audit.found.title for audit in audits)
    return f"{len(names)} benchmarks audited" if len(names) > 1 else f"{next(iter(names))}, audited"


def named_folders(runs: Sequence[Path]) -> Mapping[str, Path]:
    """Name run folders as pages do, by their last part.

    Raises:
        SurveyError: when there is none, or two have the same name, so that a reader could not tell them apart.
    """
    if not runs:
        raise SurveyError("no run folder was given")
    named: dict[str, Path] = {}
    for run in runs:
        name = run.resolve().name
        if name in named:
            raise SurveyError(
                f"{named[name]} and {run} have the same name, {name!r}, so a reader cannot tell them apart"
            )
        named[name] = run
    return named


def _benchmark(
    audit: SurveyedAudit, reference: SurveyedAudit, taxonomy: Taxonomy, settings: AnalysisSettings
) -> SurveyedBenchmark:
    found, level = audit.found, settings.level
    boards = score_splits(audit.run, found, ("original", "clean"), settings, domains=audit.manifest["domains"])
    board = boards.splits[0].board
    return SurveyedBenchmark(
        anchor=boards.anchor,
        title=found.title,
        run=audit.run,
        audit=found.audit,
        domains=tuple(audit.manifest["domains"]),
        differences=() if audit is reference else differences(audit, reference),
        unseen=unseen(audit),
        flagged=audit.rate(found.flagged, audit.checked, level),
        dropped=audit.rate(found.with_action("drop"), audit.checked, level),
        review=audit.rate(found.with_action("review"), audit.checked, level),
        tickets=audit.tickets,
        categories=category_counts(audit, taxonomy, level),
        evaluator=evaluator_tests(audit, level),
        runs=boards.runs.reason if isinstance(boards.runs, Undefined) else boards.runs.sentence,
        points=model_points(found, boards),
        board=board.reason if isinstance(board, Undefined) else "",
        stability=boards.stability,
    )


def unseen(audit: SurveyedAudit) -> Unseen:
    """Count what an audit did not read or did not check.

    Raises:
        RunTablesError: when the manifest is one of another layout.
    """
    try:
        return _unseen(audit, audit.manifest["outcome"])
    except KeyError as error:
        raise RunTablesError(f"{audit.run}: manifest.json has no {error}; audit again with this version") from error


def _unseen(audit: SurveyedAudit, outcome: Mapping[str, Any]) -> Unseen:
    found = audit.found
    return Unseen(
        there=outcome["tasks_there"],
        read=len(found.tasks),
        quarantined=outcome["quarantined"],
        not_read=outcome["tasks_not_read"],
        unknown=sum(item["tasks"] is None for item in audit.not_read),
        left_out=outcome["tasks_left_out"],
        checked=len(audit.checked),
        undecided=len(found.with_action("unchecked")),
        check_errors=outcome["check_errors"],
        checks=len(audit.checks),
        idle=tuple(check for check, row in audit.checks.items() if not row["ran"]),
        not_asked=tuple(outcome["not_asked"]),
        suppressed=len(found.suppressed),
        runs=outcome["runs"],
        runs_without_verdict=outcome["infrastructure_errors"],
        quarantined_runs=outcome["quarantined_runs"],
        code=outcome["isolation"],
        places=(
            *(f"{item['file']}: {item['reason']}" for item in audit.not_read),
            *outcome["quarantine_reasons"],
        ),
    )
