"""``agenthard agency tables``: the tables and figures of AgencyBench's paper from runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import SeedOption
from agenthard.flows.commands.output import JsonOption

if TYPE_CHECKING:
    from agenthard.agency.run_groups import RunGroup
    from agenthard.reports.kit.figure import Figure


def tables(
    evaluations: Annotated[
        list[Path],
        typer.Argument(
            help="Folder of `agenthard evaluate agency`, file of runs, or the benchmark's folder with its released run."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as CSV, and a page with figures.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Compare with the numbers that the paper prints.")] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of the bootstrap over scenarios.")] = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Show scores, attempts and passes, scaffolds, effort and calls of tools: tables 2, 3, 4, 5, 7, 8, figures 4, 5.

    One row per run folder, or per agent and conditions. A number that the log does not count is empty.
    Exit codes: 0 shown, 64 nothing to read.

    Example: `agenthard agency tables AgencyBench-v2 --out agency-tables --compare`
    """
    from agenthard.agency.paper import published_measures, published_rows
    from agenthard.agency.paper_tables import compared, paper_tables, tool_shares
    from agenthard.agency.run_groups import run_groups
    from agenthard.flows.agency_runs import read_runs
    from agenthard.flows.commands.evaluation_tables import show_paper
    from agenthard.flows.errors import CommandError
    from agenthard.reports.evaluation.paper_tables import EvaluationTable
    from agenthard.reports.kit.text import plural

    runs, left_out = read_runs(evaluations)
    groups = run_groups(runs, resamples=resamples, seed=seed)
    if not groups:
        raise CommandError(f"{', '.join(map(str, evaluations))}: no attempt with a score")
    found = [*paper_tables(groups), tool_shares(groups)]
    if compare:
        found += compared(groups, published_rows(), published_measures())
    laid_out = [EvaluationTable(each.title, each.columns, each.rows, each.note) for each in found]
    attempts = sum(group.measures.attempts for group in groups)
    note = " ".join(
        [f"{plural(attempts, 'attempt')} in {plural(len(groups), 'run')}; '-': the log does not tell.", *left_out]
    )
    show_paper("AgencyBench: tables of the paper", note, laid_out, lambda: _figures(groups), out, as_json)


def _figures(groups: "Sequence[RunGroup]") -> "list[Figure]":
    from agenthard.agency.run_groups import OTHER, TOOL_GROUPS
    from agenthard.reports.figures.agency import efficiency_figure, shares_figure

    efficiency = [(group.name, group.measures.e_att, group.measures.e_tok) for group in groups]
    shares = [(group.name, found, group.calls.total()) for group in groups if (found := group.shares()) is not None]
    return [efficiency_figure(efficiency), shares_figure(shares, (*TOOL_GROUPS, OTHER))]
