"""What can be generated, and writing a suite of it. Other packages register theirs as entry points."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from agenthard.audit.plugins import plugins
from agenthard.audit.sources.formats.suite import Suites
from agenthard.flows.errors import CommandError
from agenthard.flows.progress import current
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

GROUP = "agenthard.generators"
BUILT_IN = {
    "ace": "agenthard.ace.generation:AceGenerator",
    "escape": "agenthard.escape.generator:EscapeGenerator",
}


class Generator(Protocol):
    """A benchmark whose tasks are generated. Equal parameters give equal bytes, whatever the number of processes."""

    @property
    def parameters(self) -> type[BaseModel]:
        """What a suite is asked to be; the defaults are the paper's."""
        ...

    @property
    def suites(self) -> Suites[Any, Any]:
        """Reads and writes suites."""
        ...

    def asked(self, parameters: Any) -> Mapping[str, Any]:
        """Return what ``suite.json`` says about how the suite was made: the parameters and the generator's version."""
        ...

    def count(self, parameters: Any) -> int:
        """Return how many instances the suite has."""
        ...

    def generate(self, parameters: Any, start: int = 0, workers: int = 1) -> Iterator[Any]:
        """Yield the instances from a position on.

        Raises:
            agenthard.play.errors.GenerationError: An instance cannot be made; the message says why.
        """
        ...

    def sound(self, count: int, seed: int) -> Iterator[tuple[AgentTask, list[Trajectory]]]:
        """Yield at least ``count`` small tasks without a flaw, some of them with runs, to plant flaws into."""
        ...


def find_generator(name: str) -> Generator:
    """Return the generator of a benchmark.

    Raises:
        CommandError: There is none.
    """
    known = plugins(GROUP, BUILT_IN)
    if name not in known:
        raise CommandError(f"the benchmark {name!r} cannot be generated; these can: {', '.join(sorted(known))}")
    found: Generator = known[name].load()()
    return found


def write_lines(generator: Generator, parameters: BaseModel, out: Path, workers: int = 1) -> None:
    """Generate a suite into a folder as JSON lines, or the rest of it where an earlier run was interrupted.

    Args:
        generator: The generator.
        parameters: The suite.
        out: The folder; it is made if need be.
        workers: Processes; they change no byte, and neither do interruptions.

    Raises:
        CommandError: The folder holds another suite.
        agenthard.play.errors.GenerationError: An instance cannot be made; those before it are kept.
        OSError: The folder cannot be written.
    """
    asked, suites = generator.asked(parameters), generator.suites
    try:
        start = suites.resumable(out, asked)
    except ValueError as error:
        raise CommandError(str(error)) from error
    count = generator.count(parameters)
    current().start("generating", total=count)
    current().advance(start)
    instances = counted(generator.generate(parameters, start=start, workers=workers))
    suites.write(out, instances, asked, resume=start > 0, count=count)


def counted(instances: Iterator[Any]) -> Iterator[Any]:
    """Yield instances, each counted as progress."""
    for instance in instances:
        yield instance
        current().advance(1)
