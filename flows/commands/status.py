"""``agenthard status``: what is happening in a run folder."""

from typing import TYPE_CHECKING

import typer

from agenthard.flows.commands.options import RunArgument
from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.flows.run_status import RunStatus


def status(run: RunArgument, as_json: JsonOption = False) -> None:
    """Show what a run folder holds and what is happening in it: stage, shards, throughput, time left, last error.

    It disturbs no process that works there. Exit codes: 0 working or finished, 2 the last command failed or was
    killed before it had finished.

    Example: `agenthard status demo-run/demo`
    """
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.run_status import run_status

    found = run_status(run)
    if as_json:
        print_json(found)
    else:
        _show(found)
    if found.state in ("failed", "interrupted"):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _show(found: "RunStatus") -> None:
    from agenthard.taxonomy.printable import printable_line

    holder = f" by pid {found.pid} on {found.host or 'this machine'}" if found.pid else ""
    typer.echo(f"{found.run}: {found.kind}, {found.state}{holder}")
    if found.stage:
        of = f": {found.done:,} of {found.total:,}" if found.total is not None else ""
        typer.echo(f"  {'stage' if found.state == 'working' else 'ended in stage'} {printable_line(found.stage)}{of}")
    if found.shards is not None:
        typer.echo(f"  shards {found.shards_done:,} of {found.shards:,}")
    if found.per_second is not None:
        left = "" if found.remaining_seconds is None else f", about {found.remaining_seconds:,.0f} s left in this stage"
        typer.echo(f"  {found.per_second:,.1f} per second{left}")
    if found.silent_seconds is not None:
        typer.echo(f"  last report {found.silent_seconds:,.0f} s ago")
    if found.error:
        typer.echo(f"  error: {printable_line(found.error)}")
    for gap in found.gaps:
        typer.echo(f"  {gap}")
    if found.state in ("failed", "interrupted"):
        typer.echo("  finished work is kept: the same command continues from there")
