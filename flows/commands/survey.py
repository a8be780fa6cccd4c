"""``agenthard survey``: many benchmarks on one page."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.options import DrawsOption, ResamplesOption, SeedOption
from agenthard.flows.commands.output import JsonOption, print_json, print_table


def survey(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders of audits; several of one benchmark are its history.")
    ],
    out: Annotated[Path, typer.Option(help="Page to write; survey.json and tables/ go into the same folder.")] = Path(
        "survey/index.html"
    ),
    title: Annotated[str, typer.Option(help="Title of the page; default: how many benchmarks it is about.")] = "",
    draws: DrawsOption = 5000,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Put audits side by side: flaws by category, evaluators put to the test, points on flawed tasks, versions.

    Writes one page that opens offline, with the same figures as JSON and Parquet tables. No model is run, and nothing
    is checked again. What was not read or not checked is on the first screen, and an audit that was made with other
    checks or another policy is marked as not comparable.

    Example: `agenthard survey demo-run/demo --out survey/index.html`
    """
    from agenthard.reports.cleaning.inputs import AnalysisSettings
    from agenthard.reports.survey.page import headline, write_survey
    from agenthard.reports.survey.survey import survey as put_together

    settings = AnalysisSettings(seed=seed, draws=draws, resamples=resamples)
    found = put_together(runs, settings, title=title)
    files = write_survey(found, out)
    if as_json:
        print_json(found)
        return
    typer.echo(headline(found))
    rows = [
        (
            f"{each.title} {each.audit.benchmark}",
            *(f"{rate.k:,} of {rate.n:,}" for rate in (each.flagged, each.dropped, each.review)),
            "; ".join([*("audited differently" for _ in each.differences[:1]), *each.unseen.sentences]) or "nothing",
        )
        for each in found.benchmarks
    ]
    columns = ("benchmark", "flagged", "to drop", "to review", "not read, not checked, not comparable")
    print_table("", columns, rows, right=columns[1:4])
    typer.echo(f"page   {files[0]}\ndata   {files[1]}\ntables {files[2].parent}")
