"""How commands print: tables for people, one JSON document with ``--json``."""

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]


def console() -> Console:
    """Return the console for results; outside a terminal lines are not wrapped at 80 columns."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=160)


def error_console() -> Console:
    """Return the console for progress and remarks, so that results can be piped."""
    return Console(stderr=True, highlight=False)


def printable(text: str) -> str:
    r"""Return a text whose control characters are written as escapes, so that it is one line and only text.

    >>> printable("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def print_json(value: Any) -> None:
    """Print records, or plain JSON data, as one JSON document."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


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
        table.add_row(*(escape(cell) for cell in row))
    console().print(table)
