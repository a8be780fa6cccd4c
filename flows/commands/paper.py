"""``agenthard paper``: every table and figure of the audit paper from finished audits."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.options import DrawsOption, EmbedderOption, ResamplesOption, SeedOption, VerdictsOption
from agenthard.flows.commands.output import JsonOption, error_console, print_json


def paper(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of audits, as they are or after a judge.")],
    out: Annotated[Path, typer.Option(help="Folder for the page, tables and figures.")] = Path("paper"),
    experiment: Annotated[
        str | None, typer.Option(help="Experiment of the runs; default: the one with the most comparable models.")
    ] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="What `agenthard align score --json` printed: for Tables 4, 6 and 8.")
    ] = None,
    embedder: EmbedderOption = "tfidf",
    min_verdicts: VerdictsOption = 0.8,
    draws: DrawsOption = 5000,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Make every table and figure of the audit paper, and say which of its published figures are met.

    Writes one page, Markdown, CSV tables and SVG figures, with the paper's numbering next to ours. Nothing is checked
    or run again. A published figure that is not known is said to be unknown.

    Example: `agenthard paper demo-run/demo --out paper`
    """
    from agenthard.flows.paper import read_alignment
    from agenthard.reports.cleaning.inputs import AnalysisSettings
    from agenthard.reports.paper.page import sentence, write_paper

    settings = AnalysisSettings(
        seed=seed, draws=draws, resamples=resamples, min_verdicts=min_verdicts, embedder=embedder
    )
    labels = read_alignment(alignment) if alignment else None
    with error_console().status("analysing"):
        written = write_paper(runs, out, settings, experiment=experiment, alignment=labels)
    if as_json:
        print_json(written.paper)
        return
    typer.echo(sentence(written.paper))
    for each in written.paper.tables:
        typer.echo(f"{each.paper:32} {each.title}: {f'{len(each.rows):,} rows' if each.rows else each.missing}")
    typer.echo(f"page    {written.files[0]}\ntables  {out / 'tables'}\nfigures {out / 'figures'}")
