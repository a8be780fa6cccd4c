"""``agenthard compare``: two audits, or two tables of scores, side by side."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.options import DrawsOption, ResamplesOption, SeedOption, VerdictsOption
from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table


def compare(
    first: Annotated[Path, typer.Argument(help="Run folder of the earlier audit, or a table of scores.")],
    second: Annotated[Path, typer.Argument(help="Run folder of the later audit, or a table of scores.")],
    experiment: Annotated[
        str | None, typer.Option(help="Experiment to compare; default: the one with the most comparable models.")
    ] = None,
    common_models: Annotated[
        bool,
        typer.Option("--common-models", help="Compare the models that both have; otherwise a difference is refused."),
    ] = False,
    min_verdicts: VerdictsOption = 0.8,
    draws: DrawsOption = 5000,
    resamples: ResamplesOption = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare two audits: findings new, fixed and flipped, decisions, leaderboards with paired intervals.

    Two tables of scores, such as one set of outputs under two answer keys, are compared task by task. Sides that
    are not comparable are refused with the reason. Exit code 1 when the second audit has new confirmed defects.

    Example: `agenthard compare demo-run/demo demo-run/demo`
    """
    from agenthard.flows.comparison import CompareSettings
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.report_flow import run_comparison
    from agenthard.reports.cleaning.inputs import AnalysisSettings
    from agenthard.reports.comparison.audits import AuditComparison
    from agenthard.reports.comparison.summary import comparison_sections

    settings = CompareSettings(
        first=str(first),
        second=str(second),
        experiment=experiment,
        common_models=common_models,
        analysis=AnalysisSettings(seed=seed, draws=draws, resamples=resamples, min_verdicts=min_verdicts),
    )
    with error_console().status("comparing"):
        found = run_comparison(settings)
    if as_json:
        print_json(found)
    else:
        for section in comparison_sections(found):
            if section.text:
                typer.echo(section.text)
            if section.rows:
                print_table(section.title, section.columns, section.rows)
            typer.echo("")
    if isinstance(found, AuditComparison) and found.new_defects:
        raise typer.Exit(ExitCode.DEFECTS)
