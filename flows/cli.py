"""The command line. Each command lives in ``flows/commands``; heavy packages are imported inside the commands."""

import os
import sys
from typing import Annotated

import typer

from agenthard.flows.commands import (
    ace,
    align,
    audit,
    catalogue,
    compare,
    demo,
    env,
    evaluate,
    explain,
    faults,
    judge,
    leaderboard,
    repair,
    replay,
    report,
    run,
    score,
    sources,
)
from agenthard.flows.commands.output import guarded_output
from agenthard.flows.process import interrupt_on_termination, protect_children

DEBUG = "AGENTHARD_DEBUG"
"""Environment variable that brings the traceback of an error back."""

INFRASTRUCTURE = 3
"""Exit code of a command that could not do its work (`agenthard.flows.errors.ExitCode`)."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"agenthard {version('agenthard')}")
        raise typer.Exit


app = typer.Typer(
    name="agenthard",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command("audit")(audit.audit)
app.command("evaluate")(evaluate.evaluate)
app.command("run")(run.run)
app.command("checks")(catalogue.checks)
app.command("explain")(explain.explain)
app.command("taxonomy")(catalogue.taxonomy)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("replay")(replay.replay)
app.command("repair")(repair.repair)
app.command("fetch")(env.fetch)
app.command("demo")(demo.demo)
app.add_typer(ace.app)
app.add_typer(align.app)
app.add_typer(env.app)
app.add_typer(faults.app)
app.add_typer(judge.app)
app.add_typer(sources.app)


@app.callback()
def agenthard(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and exit.")
    ] = False,
) -> None:
    """Audit LLM-agent benchmarks: find flawed tasks with evidence, and write a cleaned split."""


def main() -> None:
    """Entry point of the console script.

    An error is one message and exit code 3, never a traceback: exit code 1 is for defects of a benchmark alone.
    """
    protect_children()
    interrupt_on_termination()
    command = typer.main.get_command(app)
    try:
        with guarded_output(command):
            command()
    except SystemExit as leaving:
        # Click ends with 1 when it is aborted, and when the reader of its output is gone.
        if isinstance(leaving.__context__, (typer.Abort, BrokenPipeError)):
            sys.exit(INFRASTRUCTURE)
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the exit code must not report defects
        from agenthard.flows.errors import error_message
        from agenthard.taxonomy.printable import printable

        if os.environ.get(DEBUG):
            raise
        typer.echo(printable(error_message(error)), err=True)
        sys.exit(INFRASTRUCTURE)


if __name__ == "__main__":
    main()
