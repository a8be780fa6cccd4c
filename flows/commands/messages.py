"""Options about messages on standard error, which every command has."""

from typing import Annotated, Any

import typer

from agenthard.flows.logs import Level, configure, log

_PANEL = "Messages"


def _quiet(value: bool) -> bool:
    if value:
        configure("warning")
    return value


def _verbose(value: bool) -> bool:
    if value:
        configure("debug")
    return value


def _level(value: Level | None) -> Level | None:
    if value:
        configure(value)
    return value


def _json(value: bool) -> bool:
    if value:
        configure(log.getEffectiveLevel(), as_json=True)
    return value


QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_quiet, rich_help_panel=_PANEL, help="No progress and notes on stderr."),
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", callback=_verbose, rich_help_panel=_PANEL, help="Also name every stage.")
]
LogLevelOption = Annotated[
    Level | None,
    typer.Option("--log-level", callback=_level, rich_help_panel=_PANEL, help="Least level of messages on stderr."),
]
LogJsonOption = Annotated[
    bool, typer.Option("--log-json", callback=_json, rich_help_panel=_PANEL, help="Messages as JSON, one a line.")
]


def _options(
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    log_level: LogLevelOption = None,
    log_json: LogJsonOption = False,
) -> None:
    """Carry the options."""


def add_message_options(command: Any) -> None:
    """Give a command, or every command of a group, the options about messages."""
    if hasattr(command, "commands"):
        for each in command.commands.values():
            add_message_options(each)
        return
    carrier = typer.Typer(add_completion=False)
    carrier.command()(_options)
    for option in typer.main.get_command(carrier).params:
        option.expose_value = False
        command.params.append(option)
