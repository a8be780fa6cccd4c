"""How commands print: tables for people, one JSON document with ``--json``, and no control characters of others."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import IO, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]


class _PrintableConsole(Console):
    """Shows control characters in all printed text as escapes; those of rich's own styles are added later."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        from agenthard.taxonomy.printable import printable

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
    from agenthard.taxonomy.printable import printable_json

    typer.echo(printable_json(json.dumps(value, ensure_ascii=False, indent=2, default=_plain)))


def _plain(value: Any) -> Any:
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not JSON")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Print a table; cell texts are shown literally, even if they contain markup."""
    from rich.markup import escape

    from agenthard.taxonomy.printable import printable_line

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(printable_line(cell)) for cell in row))
    console().print(table)


class PrintableStream:
    """A text stream that escapes control characters while a command runs.

    Outside of commands it passes everything on: help and usage errors hold no text of others, and typer styles them.
    """

    def __init__(self, stream: IO[str]) -> None:
        """Guard a stream."""
        self.unguarded = stream
        """The stream itself, for a writer that has escaped what others wrote and adds styles of its own."""
        self.guarding = False
        """Whether control characters are escaped."""

    def write(self, text: str) -> int:
        """Write a text."""
        if self.guarding:
            from agenthard.taxonomy.printable import printable

            self.unguarded.write(printable(text))
        else:
            self.unguarded.write(text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's own, except its bytes: a text that went there would not be escaped."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unguarded, name)


def unguarded(stream: IO[str]) -> IO[str]:
    """Return the stream below the guard, if there is one."""
    return stream.unguarded if isinstance(stream, PrintableStream) else stream


@contextmanager
def protocol_output() -> Iterator[None]:
    """Give a command the bytes of standard output, which carries a protocol instead of text for people."""
    before = sys.stdout
    sys.stdout = unguarded(before)
    try:
        yield
    finally:
        sys.stdout = before


@contextmanager
def guarded_output() -> Iterator[None]:
    """Let commands (see `guard`) escape control characters, and characters that the terminal cannot encode."""
    before = sys.stdout, sys.stderr
    for name, stream in zip(("stdout", "stderr"), before, strict=True):
        if stream is not None:  # closed by the parent process
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, PrintableStream(stream))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def guard(command: Any) -> None:
    """Let a command and its subcommands guard their output while they run, where `guarded_output` is in force.

    Args:
        command: A command or a group of click, which typer may bring along itself.
    """
    for each in getattr(command, "commands", {}).values():
        guard(each)
    if command.callback is not None:
        command.callback = _guarding(command.callback)


def _guarding(work: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(work)
    def guarded(*arguments: Any, **options: Any) -> Any:
        guards = [stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, PrintableStream)]
        for each in guards:
            each.guarding = True
        try:
            return work(*arguments, **options)
        finally:
            for each in guards:
                each.guarding = False

    return guarded
