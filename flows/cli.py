"""The command line. Each command lives in ``flows/commands``; heavy packages are imported inside the commands."""

import os
import sys

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

DEBUG = "AGENTHARD_DEBUG"
"""Environment variable that brings the traceback of an error back."""

app = typer.Typer(
    name="agenthard",
    help="Audit LLM-agent benchmarks: find flawed tasks with evidence, and write a cleaned split.",
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


def main() -> None:
    """Entry point of the console script.

    An error is one message and exit code 3, never a traceback: exit code 1 is for defects of a benchmark alone.
    """
    from agenthard.flows.commands.output import guarded_output
    from agenthard.flows.errors import ExitCode, error_message
    from agenthard.flows.process import interrupt_on_termination, protect_children
    from agenthard.taxonomy.printable import printable

    protect_children()
    interrupt_on_termination()
    command = typer.main.get_command(app)
    try:
        with guarded_output(command):
            command()
    except SystemExit as leaving:
        # Click ends with 1 when it is aborted, and when nobody reads its output any more.
        if isinstance(leaving.__context__, (typer.Abort, BrokenPipeError)):
            sys.exit(ExitCode.INFRASTRUCTURE)
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the exit code must not speak of defects
        if os.environ.get(DEBUG):
            raise
        typer.echo(f"error: {printable(error_message(error))}", err=True)
        sys.exit(ExitCode.INFRASTRUCTURE)


if __name__ == "__main__":
    main()
