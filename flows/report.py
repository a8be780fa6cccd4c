"""The report on what cleaning does to a leaderboard, and the hard split, as plain functions."""

import json
import shutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.decisions.split import SplitManifest, write_hard_split
from agenthard.audit.sources.base import Source, SourceError, Version
from agenthard.audit.sources.registry import open_source
from agenthard.audit.statistics import Undefined
from agenthard.audit.statistics.embedders import LEDGER
from agenthard.audit.statistics.result import PREFIX
from agenthard.flows.judging.settings import JudgingFolder
from agenthard.flows.run_folder import RunFolder
from agenthard.models.ledger import Ledger
from agenthard.reports.cleaning.analysis import analyse
from agenthard.reports.cleaning.compression import StageCompressions, stage_sizes
from agenthard.reports.cleaning.inputs import AnalysisSettings, load_run
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.stages import StageName
from agenthard.reports.cleaning.tables import write_analysis
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.record import Record

SETTINGS = "report.json"
"""File in ``work/`` with the settings of the last report."""


class ReportSettings(Record):
    """What to report on and how."""

    run: str
    """Run folder of a finished audit."""
    experiment: str | None = None
    """Which runs; None = those of the experiment with most comparable models."""
    analysis: AnalysisSettings = AnalysisSettings()
    """Parameters of the analysis."""
    baseline: str | None = None
    """Run folder of an earlier audit, whose findings are not new."""
    benchmark: str | None = None
    """Folder of the benchmark, from which the hard split is written; None = where it was when it was audited."""


class ReportOutcome(Record):
    """The report in a few lines, and where its files are."""

    sentence: str
    """The headline."""
    stability: tuple[str, ...]
    """What cleaning does to the ranking, one sentence per step."""
    splits: tuple[str, ...]
    """The cards of the splits, one sentence each."""
    price: tuple[str, ...]
    """What hard splits cost and gain on models that did not select them, the one of this report first."""
    folder: str
    """Folder of the report: report.html, analysis.json, summary.md, tables/."""
    hard_split: str | None
    """Folder of the hard split; None when it was not written."""
    no_hard_split: str = ""
    """Why it was not written; empty when it was."""
    incomplete: bool
    """Whether there is a hard split that could not be written."""
    stages: dict[StageName, int] = {}
    """Tasks that each stage leaves, the initial ones first; stages that did not run are left out."""


class Reports(Record):
    """Reports on several runs."""

    reports: tuple[ReportOutcome, ...]
    """One per run."""
    compression: tuple[StageCompressions, ...]
    """What the stages remove of all benchmarks together."""


def make_report(settings: ReportSettings) -> ReportOutcome:
    """Analyse a run and write everything.

    Raises:
        CommandError: when the folder holds no finished audit, or the parameters do not fit it.
    """
    analysis = analyse_run(settings)
    write_report(settings, analysis)
    return conclude_report(settings, analysis)


def analyse_run(settings: ReportSettings) -> CleaningAnalysis:
    """Read the tables of a run and analyse them.

    Raises:
        CommandError: when the folder holds no finished audit, or the parameters do not fit it.
    """
    run = Path(settings.run)
    found = load_run(run, Path(settings.baseline) if settings.baseline else None)
    return analyse(replace(found, spent=partial(spent_on_models, run)), settings.analysis, settings.experiment)


def spent_on_models(run: Path) -> float | None:
    """Add up what judges and the vectors of prompts cost, from the ledgers of a run folder; None without a price."""
    total = 0.0
    for path in (JudgingFolder(run).ledger, RunFolder(run).work / LEDGER):
        if not path.is_file():
            continue
        ledger = Ledger(path)
        try:
            for row in ledger.totals([]):
                if row.unpriced or row.cost is None:
                    return None
                total += row.cost + row.possible_cost
        finally:
            ledger.close()
    return total


def write_report(settings: ReportSettings, analysis: CleaningAnalysis) -> Path:
    """Write the page, its JSON twin, the summary and the tables into ``RUN/report``."""
    from agenthard.reports.cleaning.page import write_cleaning_page

    folder = report_folder(settings)
    work = RunFolder(Path(settings.run)).work
    if work.is_dir():  # so that `agenthard decide` can write the same report again
        write_atomically(work / SETTINGS, settings.model_dump_json().encode("utf-8"))
    write_analysis(analysis, folder)
    write_cleaning_page(analysis, folder / "report.html")
    return folder


def conclude_report(settings: ReportSettings, analysis: CleaningAnalysis) -> ReportOutcome:
    """Write the hard split and sum up."""
    written, reason = _write_hard(settings, analysis)
    return ReportOutcome(
        sentence=analysis.headline.sentence,
        stability=tuple(row.sentence for row in analysis.stability if row.reading == "errors_missing"),
        splits=tuple(split.sentence for split in analysis.splits),
        price=_price(analysis),
        folder=str(report_folder(settings)),
        hard_split=str(written) if written else None,
        no_hard_split=reason,
        incomplete=written is None and not isinstance(analysis.hard, Undefined),
        stages=stage_sizes(analysis),
    )


def _price(analysis: CleaningAnalysis) -> tuple[str, ...]:
    if isinstance(analysis.hard, Undefined):
        return ()
    if isinstance(analysis.unseen, Undefined):
        return (f"What the hard split does for models that did not select it is {analysis.unseen.reason}.",)
    return tuple(row.sentence for row in analysis.unseen.rows)


def held(settings: ReportSettings) -> AbstractContextManager[None]:
    """Lock the run folder, if it is one: the report and the hard split are written into it.

    Raises:
        RunFolderError: Another process works in it.
    """
    folder = RunFolder(Path(settings.run))
    finished = folder.root / "manifest.json"
    return folder.hold(finished) if finished.is_file() else nullcontext()


def report_folder(settings: ReportSettings) -> Path:
    """Folder of the report within the run folder."""
    return Path(settings.run) / "report"


def _write_hard(settings: ReportSettings, analysis: CleaningAnalysis) -> tuple[Path | None, str]:
    """Write ``split/hard``; return its folder, or why it was not written."""
    if isinstance(analysis.hard, Undefined):
        return None, f"no hard split: {analysis.hard.reason.removeprefix(PREFIX)}"
    run = Path(settings.run)
    opened = _open_benchmark(settings)
    if isinstance(opened, str):
        return None, opened
    source, version = opened
    try:
        cleaned = SplitManifest.model_validate_json((run / "split" / "cleaned" / "manifest.json").read_bytes())
    except (OSError, ValidationError) as error:
        return None, f"the manifest of the cleaned split cannot be read ({str(error)[:200]}); audit again"
    if version.content_hash != cleaned.benchmark.content_hash:
        return None, (
            f"{source.root} holds content {version.content_hash}, but {cleaned.benchmark.content_hash} was audited; "
            "give the audited release with --benchmark PATH"
        )
    if [task.task_id for task in analysis.hard.tasks] != list(cleaned.kept_ids):
        return None, "the cleaned split in the run folder is not that of its decisions; audit again"
    target, partial = run / "split" / "hard", run / "split" / ".hard.partial"
    shutil.rmtree(partial, ignore_errors=True)
    split = next(split for split in analysis.splits if split.name == "hard")
    write_hard_split(
        source,
        partial,
        cleaned,
        analysis.hard.tasks,
        rule=analysis.hard.rule,
        selection_models=analysis.hard.selection_models,
        experiment="" if isinstance(analysis.runs, Undefined) else analysis.runs.experiment,
        tasks_id=split.split_id,
        minimum_detectable_difference=split.sentence,
    )
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return target, ""


def _open_benchmark(settings: ReportSettings) -> tuple[Source, Version] | str:
    """Open the audited benchmark, or say why it cannot be opened."""
    run = RunFolder(Path(settings.run))
    manifest = json.loads((run.root / "manifest.json").read_text(encoding="utf-8"))
    path = settings.benchmark
    if path is None:
        try:
            path = json.loads((run.work / "settings.json").read_text(encoding="utf-8"))["path"]
        except (OSError, ValueError, KeyError):
            return "the run folder does not tell where the benchmark is; give its folder with --benchmark PATH"
    try:
        source = open_source(manifest["source"], Path(path), tuple(manifest["domains"]))
        return source, source.version()
    except (SourceError, OSError) as error:
        return f"the benchmark cannot be read ({error}); give its folder with --benchmark PATH"
