"""``agenthard leaderboard``: the runs that audits read, scored on every split; or a plain table of scores."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import DrawsOption, ResamplesOption, SeedOption, VerdictsOption
from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.reports.cleaning.inputs import AnalysisSettings
    from agenthard.reports.cleaning.leaderboard import Board
    from agenthard.reports.leaderboard.record import Leaderboards
    from agenthard.reports.leaderboard.scored import BenchmarkBoards, ScoredName


class SplitWord(StrEnum):
    """A split of a benchmark."""

    ORIGINAL = "original"
    CLEAN = "clean"
    HARD = "hard"
    REPAIRED = "repaired"


def leaderboard(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Run folders of audits that were given model runs.", metavar="[RUN]...")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(help="Table of scores instead: CSV, JSON, JSON Lines (also .gz) or Parquet.")
    ] = None,
    drop: Annotated[
        Path | None, typer.Option(help="With --matrix: file with the ids of tasks to leave out, one per line.")
    ] = None,
    split: Annotated[
        list[SplitWord] | None, typer.Option(help="Split to score the runs on; repeatable. Default: original, clean.")
    ] = None,
    repaired: Annotated[
        list[Path] | None, typer.Option(help="Folder that `agenthard repair` wrote, for --split repaired; repeatable.")
    ] = None,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark, for --split repaired; default: where it was audited.")
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Only tasks of this domain, such as one that all models ran; repeatable.")
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(help="Experiment of the runs; default: the one with the most comparable models.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page, the fragments for iframes and leaderboard.json.")
    ] = None,
    min_verdicts: VerdictsOption = 0.8,
    draws: DrawsOption = 5000,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Rank models with intervals, rank ranges and tied sets, from the runs that audits read or from a table of scores.

    No model runs again. On the repaired split the evaluator judges the recorded runs of changed tasks again; where it
    cannot be executed, they count nowhere, and the output says so.

    A table (`--matrix`) is wide (one row per model, one column per task, first column `model`) or long (columns
    `model`, `task_id`, `score`; a `domain` precedes the id). With `--drop`, the ranking without these tasks is shown
    next to it, with the null distribution of deleting as many random tasks.

    Example: `agenthard leaderboard demo-run/demo --split original --split clean --out board`
    """
    from agenthard.flows.errors import CommandError
    from agenthard.reports.cleaning.inputs import AnalysisSettings

    settings = AnalysisSettings(seed=seed, draws=draws, resamples=resamples, min_verdicts=min_verdicts)
    if (matrix is None) == (not runs):
        raise CommandError("give run folders of audits, or a table of scores with --matrix: one of the two")
    if matrix is not None:
        if split or repaired or benchmark or domain or experiment or out:
            raise CommandError(
                "--split, --repaired, --benchmark, --domain, --experiment and --out are for run folders of audits"
            )
        _of_table(matrix, drop, settings, as_json)
        return
    if drop is not None:
        raise CommandError("--drop is for a table of scores (--matrix); an audit has its own decisions")
    splits: list[ScoredName] = [each.value for each in dict.fromkeys(split or (SplitWord.ORIGINAL, SplitWord.CLEAN))]
    if ("repaired" in splits) != bool(repaired):
        raise CommandError("--split repaired needs --repaired FOLDER, which `agenthard repair` writes, and the reverse")
    found = _scored(runs or [], splits, settings, domain or [], experiment, repaired or [], benchmark)
    files = _written(found, out) if out else []
    if as_json:
        print_json(found)
        return
    for each in found.benchmarks:
        _show_benchmark(each)
    for path in files:
        typer.echo(path)


def _scored(
    runs: Sequence[Path],
    splits: "Sequence[ScoredName]",
    settings: "AnalysisSettings",
    domains: Sequence[str],
    experiment: str | None,
    repaired: Sequence[Path],
    benchmark: Path | None,
) -> "Leaderboards":
    from agenthard.flows.rescoring import rescored_runs
    from agenthard.reports.leaderboard.record import leaderboards

    again = rescored_runs(runs, repaired, benchmark)
    return leaderboards(runs, splits, settings, domains=domains, experiment=experiment, repaired=again)


def _written(found: "Leaderboards", folder: Path) -> list[Path]:
    from agenthard.reports.leaderboard.page import write_leaderboards

    return write_leaderboards(found, folder)


def _show_benchmark(each: "BenchmarkBoards") -> None:
    from agenthard.audit.statistics import Undefined

    typer.echo(f"\n{each.title} {each.version} ({each.run})")
    typer.echo(each.runs.reason if isinstance(each.runs, Undefined) else each.runs.sentence)
    for split in each.splits:
        if isinstance(split.card, Undefined):
            typer.echo(f"\n{split.name}: no such split; it is {split.card.reason}")
            continue
        typer.echo(f"\n{split.card.sentence}")
        if split.rescoring is not None:
            typer.echo(split.rescoring.sentence)
        if isinstance(split.board, Undefined):
            typer.echo(f"{split.name}: no leaderboard; it is {split.board.reason}")
        else:
            _show_board(split.board)
    if each.stability:
        typer.echo(f"\n{each.stability}")


def _of_table(matrix: Path, drop: Path | None, settings: "AnalysisSettings", as_json: bool) -> None:
    from agenthard.audit.statistics import Undefined
    from agenthard.flows.comparison import make_leaderboard
    from agenthard.reports.cleaning.measures import MEASURE_COLUMNS, measure_cells
    from agenthard.reports.cleaning.missing import MISSING_COLUMNS, missing_cells
    from agenthard.reports.kit.text import result_text

    found = make_leaderboard(matrix, drop, settings)
    if as_json:
        print_json(found)
        return
    typer.echo(found.runs.sentence)
    for model in found.runs.models:
        if not model.comparable:
            typer.echo(f"  not comparable: {model.model} {model.reason}")
    for split, board, measures in zip(found.splits, found.leaderboards, found.measures, strict=True):
        typer.echo(f"\n{split.sentence}")
        _show_board(board)
        for measure in measures:
            alone = split.name == "initial"
            text = f"{measure.title}: {result_text(measure.observed, measure.unit)}" if alone else measure.sentence
            typer.echo(text)
    for each in found.missing[:1]:
        typer.echo(f"\n{each.sentence}")
        if not isinstance(each.found, Undefined):
            print_table("missing runs", MISSING_COLUMNS, missing_cells(each.found))
    if found.stability is not None:
        typer.echo(f"\n{found.stability.sentence}")
        cells = [measure_cells(measure) for measure in found.stability.measures]
        print_table("compared with deleting as many random tasks", MEASURE_COLUMNS, cells)


def _show_board(board: "Board") -> None:
    from agenthard.audit.statistics import Undefined
    from agenthard.reports.cleaning.summary import BOARD_COLUMNS, board_cells
    from agenthard.reports.cleaning.trials import reliability_text, trial_cells, trial_columns
    from agenthard.reports.kit.text import result_text

    print_table("", BOARD_COLUMNS[:-1], [cells[:-1] for cells in board_cells(board)], right=("rank", "passed"))
    if isinstance(board.tied_sets, Undefined):
        typer.echo(f"tied sets: {board.tied_sets.reason}")
    else:
        tied = [f"{' to '.join(dict.fromkeys((s[0], s[-1])))} ({len(s)})" for s in board.tied_sets]
        typer.echo(f"tied sets, best first: {'; '.join(tied)}")
    typer.echo(f"leads in bootstrap resamples: {result_text(board.top_unchanged, 'share')}")
    typer.echo(reliability_text(board.reliability))
    if board.trials is not None:
        print_table("", trial_columns(board.trials), trial_cells(board.trials))
