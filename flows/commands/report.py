"""``agenthard report``: what cleaning does to a leaderboard."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.options import DrawsOption, EmbedderOption, ResamplesOption, SeedOption, VerdictsOption
from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.audit.decisions.difficulty import DifficultyRule
    from agenthard.flows.report import ReportOutcome
    from agenthard.reports.cleaning.compression import StageCompressions


class HardBy(StrEnum):
    """How the hard split is selected."""

    SHARE = "share"
    INFORMATION = "information"


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of audits; several also get a common compression.")],
    experiment: Annotated[
        str | None, typer.Option(help="Experiment to report on; default: the one with the most comparable models.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="A task that more than this share of the models solves is easy.")
    ] = 0.875,
    hard_by: Annotated[
        HardBy, typer.Option(help="Select the hard split by the share of models that solve a task, or by information.")
    ] = HardBy.SHARE,
    abilities: Annotated[
        tuple[float, float],
        typer.Option(help="By information: the range of abilities, as two quantiles of the models."),
    ] = (0.5, 1.0),
    keep: Annotated[
        float | None,
        typer.Option(min=0.01, max=1, help="By information: share of the tasks to keep; default: as many as by share."),
    ] = None,
    min_category_share: Annotated[
        float, typer.Option(min=0, max=1, help="Least share of each category that stays in the hard split.")
    ] = 0.1,
    min_verdicts: VerdictsOption = 0.8,
    draws: DrawsOption = 5000,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    embedder: EmbedderOption = "tfidf",
    baseline: Annotated[Path | None, typer.Option(help="Earlier run folder: its findings are not new.")] = None,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark, for the hard split; default: where it was audited.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Report what cleaning does to a leaderboard, compared with deleting as many random tasks.

    Writes RUN/report (page, JSON, summary, CSV tables) and the hard split in the benchmark's own format. Of several
    runs, each gets its report, and the compression of all benchmarks is given pooled and as their mean.

    Example: `agenthard report demo-run/demo`
    """
    from agenthard.flows.errors import CommandError, ExitCode
    from agenthard.flows.report import Reports, ReportSettings
    from agenthard.flows.report_flow import run_report
    from agenthard.reports.cleaning.compression import compressions
    from agenthard.reports.cleaning.inputs import AnalysisSettings

    rule = _rule(
        by=hard_by.value, threshold=threshold, abilities=abilities, keep=keep, min_category_share=min_category_share
    )
    if benchmark and len(runs) > 1:
        raise CommandError("--benchmark names the folder of one benchmark; report on each run by itself")
    settings = [
        ReportSettings(
            run=str(run),
            experiment=experiment,
            analysis=AnalysisSettings(
                seed=seed,
                draws=draws,
                resamples=resamples,
                difficulty=rule,
                min_verdicts=min_verdicts,
                embedder=embedder,
            ),
            baseline=str(baseline) if baseline else None,
            benchmark=str(benchmark) if benchmark else None,
        )
        for run in dict.fromkeys(runs)
    ]
    with error_console().status("analysing"):
        outcomes = [run_report(each) for each in settings]
    together = compressions({each.run: outcome.stages for each, outcome in zip(settings, outcomes, strict=True)})
    if as_json:
        print_json(outcomes[0] if len(outcomes) == 1 else Reports(reports=tuple(outcomes), compression=together))
    else:
        _show_all(outcomes, together)
    if any(outcome.incomplete for outcome in outcomes):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _rule(**parameters: Any) -> "DifficultyRule":
    from pydantic import ValidationError

    from agenthard.audit.decisions.difficulty import DifficultyRule

    try:
        return DifficultyRule(**parameters)
    except ValidationError as error:
        raise typer.BadParameter(str(error.errors()[0]["msg"]), param_hint="--abilities") from error


COLUMNS = ("compression after", "ran on", "tasks left", "pooled", "mean of benchmarks")


def _show_all(outcomes: "Sequence[ReportOutcome]", together: "Sequence[StageCompressions]") -> None:
    for outcome in outcomes:
        _show(outcome)
    if len(outcomes) > 1:
        print_table("", COLUMNS, [_cells(row) for row in together], right=COLUMNS[1:])


def _show(outcome: "ReportOutcome") -> None:
    for sentence in (outcome.sentence, *outcome.splits, *outcome.price[:1], *outcome.stability):
        typer.echo(f"{sentence}\n")
    folder = Path(outcome.folder)
    typer.echo(f"report     {folder / 'report.html'}\ndata       {folder / 'analysis.json'}")
    typer.echo(f"summary    {folder / 'summary.md'}\ntables     {folder / 'tables'}")
    typer.echo(f"hard split {outcome.hard_split or f'not written: {outcome.no_hard_split}'}")


def _cells(row: "StageCompressions") -> tuple[str, ...]:
    from agenthard.reports.kit.text import result_text

    shares = (result_text(row.pooled, "share"), result_text(row.macro, "share"))
    return (row.title, f"{row.ran} of {row.benchmarks}", f"{row.kept:,} of {row.tasks:,}", *shares)
