"""``agenthard open``: the report of a run in a browser."""

import os
import sys

import typer

from agenthard.flows.commands.options import RunArgument
from agenthard.flows.commands.output import JsonOption, print_json


def open_report(run: RunArgument, as_json: JsonOption = False) -> None:
    """Open the report of a run in a browser; where there is none, print its path.

    Example: `agenthard open demo-run/demo`
    """
    from agenthard.flows.errors import CommandError

    page = run / "report.html"
    if not page.is_file():
        raise CommandError(f"{run}: no finished audit here (report.html is missing); run `agenthard audit` first")
    opened = _has_display() and _open(page.resolve().as_uri())
    if as_json:
        print_json({"report": str(page), "opened": opened})
    else:
        typer.echo(str(page))


def _has_display() -> bool:
    """Tell whether a browser would have a window: one for terminals would take over this one."""
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _open(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)
