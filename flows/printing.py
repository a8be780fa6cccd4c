"""Standard output and standard error of a command: control characters in what is printed are shown as escapes.

Task ids, model names, claims and error messages are text of others (`taxonomy.printable`). The streams are guarded, and
not each call that prints, so that no command, log or warning of a library is left out.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import IO, Any

from agenthard.taxonomy.printable import printable


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
        self.unguarded.write(printable(text) if self.guarding else text)
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
def guarded_output(command: Any) -> Iterator[None]:
    """Guard the output of a command and its subcommands; what the terminal's encoding lacks is escaped too.

    Args:
        command: What typer makes of the application: a command or a group of click, which typer may bring along itself.
    """
    before = sys.stdout, sys.stderr
    guards = []
    for name, stream in zip(("stdout", "stderr"), before, strict=True):
        if stream is not None:  # closed by whoever started us
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
            guards.append(PrintableStream(stream))
            setattr(sys, name, guards[-1])
    _guard(command, guards)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guard(command: Any, guards: list[PrintableStream]) -> None:
    for each in getattr(command, "commands", {}).values():
        _guard(each, guards)
    if command.callback is not None:
        command.callback = _guarding(command.callback, guards)


def _guarding(work: Callable[..., Any], guards: list[PrintableStream]) -> Callable[..., Any]:
    @wraps(work)
    def guarded(*arguments: Any, **options: Any) -> Any:
        for guard in guards:
            guard.guarding = True
        try:
            return work(*arguments, **options)
        finally:
            for guard in guards:
                guard.guarding = False

    return guarded
