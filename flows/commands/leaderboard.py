"""``agenthard leaderboard``: an honest leaderboard from a plain table of scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import DrawsOption, ResamplesOption, SeedOption, VerdictsOption
from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.reports.cleaning.boards import Board


def leaderboard(
    matrix: Annotated[Path, typer.Option(help="Table of scores: CSV, JSON, JSON Lines (also .gz) or Parquet.")],
    drop: Annotated[Path | None, typer.Option(help="File with the ids of tasks to leave out, one per line.")] = None,
    min_verdicts: VerdictsOption = 0.8,
    draws: DrawsOption = 500,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Rank the models of a table of scores, with intervals, rank intervals and tied sets; no audit is needed.

    The table is wide (one row per model, one column per task, first column `model`) or long (columns `model`,
    `task_id`, `score`; a `domain` precedes the id). With `--drop`, the ranking without these tasks stands beside it,
    and the null of deleting as many random tasks.

    Example: `agenthard leaderboard --matrix demo-run/demo-benchmark/scores.csv`
    """
    from agenthard.flows.comparison import make_leaderboard
    from agenthard.reports.amounts import said
    from agenthard.reports.cleaning.cells import MEASURE_COLUMNS, measure_cells
    from agenthard.reports.cleaning.inputs import AnalysisSettings

    settings = AnalysisSettings(seed=seed, draws=draws, resamples=resamples, min_verdicts=min_verdicts)
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
            text = f"{measure.title}: {said(measure.observed, measure.unit)}" if alone else measure.sentence
            typer.echo(text)
    if found.stability is not None:
        typer.echo(f"\n{found.stability.sentence}")
        cells = [measure_cells(measure) for measure in found.stability.measures]
        print_table("beside deleting as many random tasks", MEASURE_COLUMNS, cells)


def _show_board(board: "Board") -> None:
    from agenthard.audit.statistics import Undefined
    from agenthard.reports.amounts import said
    from agenthard.reports.cleaning.cells import BOARD_COLUMNS, board_cells

    print_table("", BOARD_COLUMNS[:-1], [board_cells(row)[:-1] for row in board.rows], right=("rank", "passed"))
    if isinstance(board.tied_sets, Undefined):
        typer.echo(f"tied sets: {board.tied_sets.reason}")
    else:
        tied = [f"{' to '.join(dict.fromkeys((s[0], s[-1])))} ({len(s)})" for s in board.tied_sets]
        typer.echo(f"tied sets, best first: {'; '.join(tied)}")
    typer.echo(f"P(top-1 unchanged): {said(board.top_unchanged, 'share')}")
