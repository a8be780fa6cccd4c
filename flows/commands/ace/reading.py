"""What the commands that read instances share: the argument, one stream over all paths, and refusals as messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agenthard.ace.instance import Instance

PathsArgument = Annotated[
    list[Path],
    typer.Argument(help="Suites, files in the layout of the paper (.json or .json.gz), or folders with such."),
]


@contextmanager
def one_message() -> Iterator[None]:
    """Turn what ACE refuses into one message without a traceback."""
    from agenthard.ace.environment import UnplayableError
    from agenthard.ace.errors import MalformedInstanceError
    from agenthard.ace.generator import GenerationError, ImpossibleParametersError
    from agenthard.audit.probes import CandidatesError
    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy.errors import MissingExtraError

    try:
        yield
    except (
        CandidatesError,
        FileNotFoundError,
        GenerationError,
        ImpossibleParametersError,
        MalformedInstanceError,
        MissingExtraError,
        UnplayableError,
    ) as error:
        raise CommandError(
            f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        ) from error


def instances(paths: list[Path], unreadable: list[str]) -> "Iterator[Instance]":
    """Stream the instances of all paths, one in memory at a time.

    Args:
        paths: suites, files, or folders.
        unreadable: receives where an instance, or the rest of a file, could not be read, and why.

    Yields:
        The instances, in order.

    Raises:
        CommandError: there is nothing to read at a path, or nothing in any of them could be read.
    """
    from agenthard.ace import files
    from agenthard.ace.errors import MalformedInstanceError, Unreadable
    from agenthard.flows.errors import CommandError

    places = [place for path in paths for place in _places(path)]
    read = 0
    for place in places:
        try:
            for each in files.load(place):
                if isinstance(each, Unreadable):
                    named = f" ({each.id})" if each.id else ""
                    unreadable.append(f"{place}, instance {each.index}{named}: {each.reason}")
                else:
                    read += 1
                    yield each
        except MalformedInstanceError as error:
            unreadable.append(f"{place}: {error}")
    if not read:
        raise CommandError("; ".join(unreadable) or f"{places[0]} holds no instances")


def _places(path: Path) -> list[Path]:
    from agenthard.ace import files
    from agenthard.flows.errors import CommandError

    found = files.find(path)
    if not found:
        raise CommandError(f"{path}: no suite and no file in the layout of the paper here; see docs/ace/formats.md")
    return found
