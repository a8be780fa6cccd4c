"""The command line. Each command lives in ``flows/commands`` and is imported when it is called (`command_table.py`)."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from agenthard.flows.command_table import COMMANDS, MARKUP, LazyGroup
from agenthard.flows.commands.messages import LogJsonOption, QuietOption, VerboseOption
from agenthard.flows.commands.output import guarded_output
from agenthard.flows.process import interrupt_on_termination, protect_children

DEBUG = "AGENTHARD_DEBUG"
"""Environment variable that brings the traceback of an error back."""

COLLECTOR = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""Environment variable with the URL of a collector (`agenthard.flows.telemetry.ENDPOINT`)."""

ARROW_MEMORY = "ARROW_DEFAULT_MEMORY_POOL"
"""Environment variable of pyarrow, whose own allocator keeps 4 to 20 MB that writing a table once never needs."""

INTERRUPTED = 130
"""Exit code with which Typer answers a signal that no command has handled, as long as it is imported for example."""

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
    cls=LazyGroup,
    rich_markup_mode=MARKUP,
    pretty_exceptions_enable=False,
)


@app.callback()
def agenthard(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and exit.")
    ] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    log_json: LogJsonOption = False,
) -> None:
    """Audit LLM-agent benchmarks: find flawed tasks with evidence, and write a cleaned split."""


@contextmanager
def _recorded_command() -> Iterator[None]:
    """Send the command as a span to the collector of OpenTelemetry, where one is configured."""
    if not os.environ.get(COLLECTOR):  # so that `agenthard --help` imports nothing for it
        yield
        return
    from agenthard.flows.telemetry import command_span

    with command_span(next((word for word in sys.argv[1:] if word in COMMANDS), "help")):
        yield


def main() -> None:
    """Entry point of the console script.

    An error is one message and exit code 64 or 3, never a traceback: exit code 1 is for defects of a benchmark alone.
    """
    os.environ.setdefault(ARROW_MEMORY, "system")
    protect_children()
    interrupt_on_termination()
    command = typer.main.get_command(app)
    try:
        with guarded_output(), _recorded_command():
            command()
    except SystemExit as leaving:
        # Click ends with 1 when it is aborted, and when the reader of its output is gone.
        if isinstance(leaving.__context__, (typer.Abort, BrokenPipeError)):
            sys.exit(INFRASTRUCTURE)
        if leaving.code == INTERRUPTED:
            typer.echo("agenthard: interrupted", err=True)
            sys.exit(INFRASTRUCTURE)
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the exit code must not report defects
        from agenthard.flows.errors import error_message, exit_code
        from agenthard.taxonomy.printable import printable

        if os.environ.get(DEBUG):
            raise
        typer.echo(printable(error_message(error)), err=True)
        sys.exit(exit_code(type(error)))


if __name__ == "__main__":
    main()
