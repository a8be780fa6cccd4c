"""``agenthard rerun``: repeat an audit, and compare."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import RunArgument
from agenthard.flows.commands.output import JsonOption, error_console, print_json

if TYPE_CHECKING:
    from agenthard.flows.rerun import RerunOutcome


def rerun(
    run: RunArgument,
    out: Annotated[Path | None, typer.Option(help="Run folder of the repetition; default: RUN-rerun.")] = None,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; default: where it was audited.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: one per core.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Repeat the audit of a run folder with the settings that it records, and compare all that a reader gets.

    Verdicts of a review are decided with again; a report on cleaning is written again. Exit codes: 0 every file is
    equal byte for byte, 1 some are not; what has changed since (checks, benchmark, policy) is named.

    Example: `agenthard rerun demo-run/demo --out demo-run/again`
    """
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.progress import show_progress
    from agenthard.flows.rerun import default_out
    from agenthard.flows.rerun import rerun as repeat

    with show_progress(error_console()):
        found = repeat(run, out or default_out(run), benchmark, workers)
    if as_json:
        print_json(found)
    else:
        _show(found)
    if found.differences:
        raise typer.Exit(ExitCode.DEFECTS)


def _show(found: "RerunOutcome") -> None:
    from agenthard.taxonomy.printable import printable_line

    for each in found.differences:
        typer.echo(f"{each.what}: {printable_line(each.file)}")
    for reason in found.reasons:
        typer.echo(f"since then: {printable_line(reason)}")
    if found.differences and not found.reasons:
        typer.echo("nothing is known to have changed since: a damaged run folder (`agenthard verify`), or a defect")
    for gap in found.not_compared:
        typer.echo(f"not compared: {printable_line(gap)}")
    typer.echo(f"{found.out}: {found.equal:,} files equal to {found.run}, {len(found.differences):,} not")
