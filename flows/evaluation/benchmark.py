"""What a benchmark offers so that agents can be evaluated on it; found through the group ``agenthard.benchmarks``."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from agenthard.flows.errors import CommandError
from agenthard.models.estimate import Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model, Request
from agenthard.taxonomy.trajectory import Trajectory

GROUP = "agenthard.benchmarks"


class PlayableTask(Protocol):
    """A task that agents can play. An episode's randomness follows from its own key alone."""

    @property
    def id(self) -> str:
        """Id of the task, the same as in an audit."""
        ...

    @property
    def group(self) -> str:
        """Domain or subtask."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a report sorts by, as JSON values."""
        ...

    def play(self, agent: str, condition: str, failure_rate: float, trial: int) -> Trajectory:
        """Let an agent without a model play one episode.

        A task that cannot be played gives an infrastructure error with the ending ``unplayable``.

        Args:
            agent: Name of the agent.
            condition: What the episode's conditions are called in its id; empty for the usual ones.
            failure_rate: Probability that a tool call fails on purpose.
            trial: Number of the repetition, from 0.
        """
        ...

    async def converse(
        self, agent: str, model: Model, file: ModelFile, condition: str, failure_rate: float, trial: int
    ) -> Trajectory:
        """Let a model play one episode.

        Args:
            agent: Name under which the model is listed.
            model: What answers requests.
            file: How the model is asked.
            condition: What the episode's conditions are called in its id; empty for the usual ones.
            failure_rate: Probability that a tool call fails on purpose.
            trial: Number of the repetition, from 0.

        Raises:
            agenthard.models.errors.Stop: Nothing more can be asked; the episode has not happened.
        """
        ...

    def workload(self, file: ModelFile, failure_rate: float, trial: int) -> tuple[Request, Workload]:
        """Foresee one episode of a model: its first request, and about what it will take."""
        ...


class Benchmark(Protocol):
    """A benchmark opened for evaluation."""

    def tasks(self) -> Iterator[PlayableTask]:
        """Stream the tasks that can be read."""
        ...

    def unreadable(self) -> Sequence[str]:
        """Say which tasks cannot be read and why; complete once the tasks have been streamed."""
        ...

    def content_hash(self) -> str:
        """Identify what is played and how: files, options, and the code that plays."""
        ...

    def conditions(self) -> Mapping[str, Any]:
        """List the conditions that are played under, by name."""
        ...

    def check_agent(self, name: str) -> None:
        """Make sure that there is an agent of this name.

        Raises:
            ValueError: There is none; the message lists those there are.
        """
        ...

    def default_agents(self) -> Sequence[str]:
        """Name the agents without a model that form the default leaderboard."""
        ...


def open_benchmark(name: str, path: str, options: Mapping[str, str], seed: int) -> Benchmark:
    """Open a benchmark.

    Args:
        name: Name of its entry point.
        path: File or folder with its tasks.
        options: Conditions to play under, by name, as the benchmark's documentation lists them.
        seed: Seed of everything that chance decides.

    Raises:
        CommandError: There is no such benchmark, path or option.
    """
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in known:
        raise CommandError(f"no benchmark {name!r} to evaluate on; there are: {', '.join(sorted(known))}")
    if not Path(path).exists():
        raise CommandError(f"{path}: there is nothing at this path")
    try:
        opened: Benchmark = known[name].load()(Path(path), options, seed)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return opened
