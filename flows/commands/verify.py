"""``agenthard verify``: is a run folder what its last command wrote?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import RunArgument
from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.flows.verification import Verification


def verify(
    run: RunArgument,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; default: where it was audited.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a run folder: name every damaged, missing and added file, and look for every quote in its file again.

    Exit codes: 0 everything that could be checked is as it was written, 1 something is not, 2 files could not be
    checked because the last command did not end.

    Example: `agenthard verify demo-run/demo`
    """
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.verification import verify_run

    found = verify_run(run, benchmark)
    if as_json:
        print_json(found)
    else:
        _show(found)
    if not found.intact:
        raise typer.Exit(ExitCode.DEFECTS)
    if found.unfinished or not found.files:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _show(found: "Verification") -> None:
    from agenthard.taxonomy.printable import printable_line

    for fault in found.faults:
        typer.echo(f"{fault.what}: {printable_line(fault.file)}{f' ({fault.detail})' if fault.detail else ''}")
    for quote in found.lost_quotes:
        typer.echo(f"quote not found again: {printable_line(quote)}")
    if found.lost > len(found.lost_quotes):
        typer.echo(f"and {found.lost - len(found.lost_quotes):,} more quotes")
    for gap in found.not_checked:
        typer.echo(f"not checked: {printable_line(gap)}")
    if found.unfinished:
        typer.echo(f"the last command ended early: {printable_line(found.unfinished)}; run it again")
    quotes = "" if found.quotes is None else f", {found.quotes:,} quotes found again"
    typer.echo(f"{found.run}: {found.files:,} files as they were written{quotes}; {len(found.faults):,} faults")
