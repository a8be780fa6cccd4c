"""What the commands that read rooms share: the argument, one stream over all paths, and refusals as messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agenthard.escape.room import Instance

PathsArgument = Annotated[list[Path], typer.Argument(help="Suites of rooms, or folders with such.")]


@contextmanager
def one_message() -> Iterator[None]:
    """Turn what is refused about rooms into one message without a traceback."""
    from agenthard.audit.sources.formats.suite import MalformedInstanceError
    from agenthard.flows.errors import CommandError
    from agenthard.play.errors import GenerationError, ImpossibleParametersError
    from agenthard.taxonomy.errors import MissingExtraError

    try:
        yield
    except (GenerationError, ImpossibleParametersError, MalformedInstanceError, MissingExtraError) as error:
        raise CommandError(str(error)) from error


def instances(paths: list[Path], unreadable: list[str]) -> "Iterator[Instance]":
    """Stream the rooms of all paths, one in memory at a time.

    Args:
        paths: suites, or folders.
        unreadable: receives where a room, or the rest of a file, could not be read, and why.

    Raises:
        CommandError: there is nothing to read at a path, or nothing in any of them could be read.
    """
    from agenthard.audit.sources.formats.suite import MalformedInstanceError, Unreadable
    from agenthard.escape.source import find_suites
    from agenthard.escape.storage import SUITES
    from agenthard.flows.errors import CommandError

    read = 0
    for path in paths:
        suites = find_suites(path)
        if not suites:
            raise CommandError(f"{path}: no suite of rooms here; make one with `agenthard escape generate`")
        for suite in suites:
            try:
                for each in SUITES.scan(suite):
                    if isinstance(each, Unreadable):
                        named = f" ({each.id})" if each.id else ""
                        unreadable.append(f"{suite}, room {each.index}{named}: {each.reason}")
                    else:
                        read += 1
                        yield each
            except MalformedInstanceError as error:
                unreadable.append(f"{suite}: {error}")
    if not read:
        raise CommandError("; ".join(unreadable) or "no room is in this folder")


def find_room(path: Path, id: str) -> "Instance":
    """Return one room of a suite.

    Raises:
        CommandError: the room does not exist, or it does not hold together.
    """
    from agenthard.escape.proof.structure import structure_problems
    from agenthard.flows.errors import CommandError

    unreadable: list[str] = []
    others: list[str] = []
    for each in instances([path], unreadable):
        if each.id == id:
            broken = next(structure_problems(each), None)
            if broken:
                raise CommandError(f"{path}: the room {id!r} does not hold together: {broken[1]}")
            return each
        others.append(each.id)
    more = f" and {len(others) - 5} more" if len(others) > 5 else ""
    raise CommandError(f"{path}: no room {id!r}; there are {', '.join(others[:5])}{more}")
