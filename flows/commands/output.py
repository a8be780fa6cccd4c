"""How commands print: tables for people, one JSON document with ``--json``.

Control characters in what others wrote are shown as escapes, here and in whatever else is printed (`flows.printing`).
"""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from agenthard.flows.printing import unguarded
from agenthard.taxonomy.printable import printable, printable_json, printable_line

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]


class _PrintableConsole(Console):
    """Shows control characters in whatever is printed as escapes; those of rich's own styles are added later."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def console() -> Console:
    """Return the console for results; outside a terminal lines are not wrapped at 80 columns."""
    found = _PrintableConsole(highlight=False, file=unguarded(sys.stdout))
    return found if found.is_terminal else _PrintableConsole(highlight=False, file=unguarded(sys.stdout), width=160)


def error_console() -> Console:
    """Return the console for progress and remarks, so that results can be piped."""
    return _PrintableConsole(highlight=False, file=unguarded(sys.stderr))


def print_json(value: Any) -> None:
    """Print records, or plain JSON data, as one JSON document."""
    typer.echo(printable_json(json.dumps(value, ensure_ascii=False, indent=2, default=_plain)))


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not JSON")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Print a table; cell texts are shown literally, whatever markup they contain."""
    from rich.markup import escape

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(printable_line(cell)) for cell in row))
    console().print(table)
