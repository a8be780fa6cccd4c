"""Makes suites of rooms (entry-point group ``agenthard.generators``)."""

import platform
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from random import Random
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agenthard.escape.graph.distinct import first_graphs, further_graphs
from agenthard.escape.graph.skeleton import Skeleton
from agenthard.escape.narrative.tell import tell, theme_for
from agenthard.escape.narrative.written import Writer, Written
from agenthard.escape.proof.verify import certified, verify
from agenthard.escape.room import Instance, Provenance
from agenthard.escape.storage import SUITES
from agenthard.escape.templates.template import UnfillableError
from agenthard.escape.values import fill_graph
from agenthard.play.errors import GenerationError, ImpossibleParametersError
from agenthard.play.stream import in_order
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

GENERATOR = "agenthard-escape 2"
"""Name and version: another version may make other rooms from the same parameters."""
PAPER_SIZES = (5, 10, 15, 20, 25)
PAPER_ROOMS = (60, 60, 60, 60, 30)
_DRAWS = 12
"""How often values are drawn for a graph. Some graphs can never be filled, such as one that encodes what it decoded."""
_PASSES = 8
"""How often a room gets other graphs when none of its own can be filled."""


class Parameters(BaseModel):
    """A suite: rooms by number of parts. The default is the paper's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: tuple[int, ...] = Field(default=PAPER_SIZES, min_length=1)
    """Numbers of parts."""
    rooms: tuple[int, ...] = Field(default=PAPER_ROOMS, min_length=1)
    """Rooms of each size; one number is for all sizes."""
    decoys: int = Field(default=2, ge=0, le=10)
    """Values of the same shape that accompany each told value."""
    seed: int = 0
    """Seed of the suite; keep that of a private suite secret."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if len(set(self.sizes)) < len(self.sizes):
            raise ImpossibleParametersError(f"a size is listed twice: {', '.join(map(str, self.sizes))}")
        if not all(2 <= size <= 100 for size in self.sizes):
            raise ImpossibleParametersError("a room has 2 to 100 parts")
        if len(self.rooms) not in (1, len(self.sizes)) or not all(count >= 1 for count in self.rooms):
            given = ", ".join(map(str, self.rooms))
            raise ImpossibleParametersError(f"give one number of rooms, or one for each size, each at least 1: {given}")
        return self

    def tiers(self) -> Iterator[tuple[int, int]]:
        """Yield each size with its number of rooms."""
        counts = self.rooms if len(self.rooms) > 1 else self.rooms * len(self.sizes)
        yield from zip(self.sizes, counts, strict=True)

    @property
    def count(self) -> int:
        """Number of rooms in the suite."""
        return sum(count for _, count in self.tiers())


class Job(NamedTuple):
    """A room to make: graphs that no other room of the suite has, and what its values follow from."""

    nodes: int
    """Number of parts."""
    number: int
    """Number among those of its size, from 0."""
    graphs: tuple[Skeleton, ...]
    """Graphs to try."""
    written: Written = Written()
    """What a model wrote for it."""


def jobs(parameters: Parameters) -> Iterator[Job]:
    """Yield what to make. Graphs are grown one after the other, because no two of a suite may be isomorphic.

    Raises:
        GenerationError: A size has too few graphs.
    """
    for nodes, count in parameters.tiers():
        for number, graphs in enumerate(first_graphs(parameters.seed, nodes, count)):
            yield Job(nodes, number, graphs)


def make(parameters: Parameters, job: Job) -> Instance:
    """Make one room, and prove it.

    Raises:
        GenerationError: No draw met all conditions; the message says which were missed.
    """
    misses = Counter[str]()
    for attempt, skeleton in enumerate(skeleton for each in _graphs(parameters, job) for skeleton in [each] * _DRAWS):
        seed = f"{parameters.seed}/{job.nodes}/{job.number}/{attempt}"
        try:
            return _draw(parameters, job, skeleton, seed, attempt + 1)
        except UnfillableError as error:
            misses[str(error)] += 1
    reasons = "; ".join(f"{reason} ({times} times)" for reason, times in misses.items())
    raise GenerationError(f"room {job.number} of {job.nodes} parts: no draw met all conditions: {reasons}")


def _graphs(parameters: Parameters, job: Job) -> Iterator[Skeleton]:
    """Yield the graphs to try: those of the job, then others, which are grown only when they are needed."""
    yield from job.graphs
    rooms = dict(parameters.tiers())[job.nodes]
    for again in range(1, _PASSES):
        yield from further_graphs(parameters.seed, job.nodes, rooms, job.number, again)


def generate(
    parameters: Parameters, start: int = 0, workers: int = 1, writer: Writer | None = None
) -> Iterator[Instance]:
    """Yield the rooms of a suite, each proved; neither the number of processes nor the start changes a byte.

    Args:
        parameters: The suite.
        start: How many rooms to skip.
        workers: Processes, this one included.
        writer: Asks a model for texts of each room; None for those of the grammar alone.

    Raises:
        GenerationError: A room cannot be made.
    """
    asked: Iterator[Job] = islice(jobs(parameters), start, None)
    if writer is not None:
        asked = (job._replace(written=writer(theme_for(job.number), job.nodes, job.number)) for job in asked)
    return in_order(partial(make, parameters), asked, workers)


def _draw(parameters: Parameters, job: Job, skeleton: Skeleton, seed: str, attempt: int) -> Instance:
    filled = fill_graph(skeleton, seed, parameters.decoys, job.written.phrases)
    id = f"escape_n{job.nodes}_{job.number:03d}"
    theme, notes = job.written.theme or theme_for(job.number), job.written.notes
    instance = Instance(*tell(skeleton, filled, id, theme, Random(f"{seed}/text")))
    # The second execution: everything is computed again from what is stored.
    report = verify(instance)
    if job.written.theme is not None and not report.ok:
        problem = report.problems[0]
        notes += (f"narrative rejected by the proof: {problem.kind}: {problem.message}; the grammar's is used",)
        instance = Instance(*tell(skeleton, filled, id, theme_for(job.number), Random(f"{seed}/text")))
        report = verify(instance)
    if not report.ok:
        raise UnfillableError(f"{report.problems[0].kind}: {report.problems[0].message}")
    if report.certificate.min_calls != skeleton.min_calls():
        raise UnfillableError("the oracle needs other calls than the graph says")
    made = Provenance(GENERATOR, parameters.seed, job.number, attempt, versions(), notes)
    return replace(certified(instance, report), provenance=made)


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of what values depend on."""
    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        "implementation": platform.python_implementation(),
        "unicode": unicodedata.unidata_version,
        **{name: _version(name) for name in ("rapidfuzz", "jmespath", "regex", "cryptography", "tzdata")},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


class EscapeGenerator:
    """Generates suites of proved rooms."""

    parameters = Parameters
    suites = SUITES

    def __init__(self, writer: Writer | None = None, written_by: Mapping[str, str] | None = None) -> None:
        """Set up.

        Args:
            writer: Asks a model for texts of each room.
            written_by: What is written, and by which model; ``suite.json`` says so.
        """
        self._writer = writer
        self._written_by = dict(written_by or {})

    def asked(self, parameters: Parameters) -> Mapping[str, Any]:
        """Return what ``suite.json`` says about how the suite was made."""
        return {"generator": GENERATOR, **parameters.model_dump(mode="json"), **self._written_by}

    def count(self, parameters: Parameters) -> int:
        """Return how many rooms a suite has."""
        return parameters.count

    def generate(self, parameters: Parameters, start: int = 0, workers: int = 1) -> Iterator[Instance]:
        """Yield the rooms of a suite from a position on."""
        return generate(parameters, start, workers, self._writer)

    def sound(self, count: int, seed: int) -> Iterator[tuple[AgentTask, list[Trajectory]]]:
        """Yield at least ``count`` small proved rooms."""
        from agenthard.escape.audit_task import task_of

        parameters = Parameters(sizes=(5, 8), rooms=(-(-count // 2),), seed=seed)
        for instance in generate(parameters):
            yield task_of("escape", instance.id, instance, {}), []
