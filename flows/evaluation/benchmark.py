"""What a benchmark needs so that agents can be evaluated on it. Other packages register theirs as entry points."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agenthard.audit.plugins import plugins
from agenthard.flows.errors import CommandError
from agenthard.models.estimate import Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model, Request
from agenthard.play.chain import PlayedChain, PlayRoom
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.run_page import RunPage
from agenthard.taxonomy.trajectory import Trajectory

GROUP = "agenthard.benchmarks"
BUILT_IN = {
    "ace": "agenthard.ace.evaluation:AceEvaluation",
    "agency": "agenthard.agency.evaluation:AgencyEvaluation",
    "escape": "agenthard.escape.evaluation:EscapeEvaluation",
}


class PlayableTask(Protocol):
    """A task that agents can play. The randomness of an episode depends only on its key."""

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
        """Properties that the report groups by, as JSON values."""
        ...

    def play(self, agent: str, condition: str, failure_rate: float, trial: int) -> Trajectory:
        """Let an agent without a model play one episode.

        A task that cannot be played returns an infrastructure error with the ending ``unplayable``.

        Args:
            agent: Name of the agent.
            condition: Name of the conditions in the id of the episode; empty for the default ones.
            failure_rate: Probability that a tool call fails on purpose.
            trial: Number of the repetition, from 0.
        """
        ...

    async def converse(
        self, agent: str, model: Model, file: ModelFile, condition: str, failure_rate: float, trial: int
    ) -> Trajectory:
        """Let a model play one episode.

        Args:
            agent: Name of the model in reports.
            model: Answers requests.
            file: The model file.
            condition: Name of the conditions in the id of the episode; empty for the default ones.
            failure_rate: Probability that a tool call fails on purpose.
            trial: Number of the repetition, from 0.

        Raises:
            agenthard.models.errors.StopError: The model cannot be asked anything more; the episode was not played.
        """
        ...

    def workload(self, file: ModelFile, failure_rate: float, trial: int) -> tuple[Request, Workload]:
        """Estimate one episode of a model: its first request, and its workload."""
        ...


@runtime_checkable
class ForeseesHelpers(PlayableTask, Protocol):
    """A task that can say what an episode asks of models besides the agent: a simulated user, judges."""

    def helper_workloads(self) -> Sequence[tuple[ModelFile, str, Workload]]:
        """Estimate one episode: each model, its purpose in the ledger, and its workload."""
        ...


@runtime_checkable
class ShowsRuns(PlayableTask, Protocol):
    """A task whose runs can be shown as a graph, call by call."""

    def run_page(self, run: Trajectory) -> RunPage | None:
        """Return what a page of the run shows; None where there is nothing to show."""
        ...


@runtime_checkable
class PlayableChain(Protocol):
    """A task whose play yields several runs, and continues after a kill where it was."""

    async def play_chain(
        self, agent: str, file: ModelFile | None, condition: str, failure_rate: float, trial: int, room: PlayRoom
    ) -> PlayedChain:
        """Play one episode, or continue it.

        Args:
            agent: Name of the agent.
            file: The model file; None for an agent without a model.
            condition: Name of the conditions in the id of the episode; empty for the default ones.
            failure_rate: Probability that a tool call fails on purpose.
            trial: Number of the repetition, from 0.
            room: Journal and folder of the episode, and what answers requests.

        Raises:
            agenthard.models.errors.StopError: A model cannot be asked anything more; the journal keeps the play.
        """
        ...


@runtime_checkable
class AsksModels(Protocol):
    """A benchmark in which models take part besides the agents: a simulated user, a judge."""

    def models(self) -> Sequence[ModelFile]:
        """Return them."""
        ...


class Benchmark(Protocol):
    """A benchmark opened for evaluation."""

    @property
    def declared(self) -> Declared:
        """Factors, facts, counts, measures and axes, by which tables and report are laid out."""
        ...

    def tasks(self) -> Iterator[PlayableTask]:
        """Stream the tasks that can be read."""
        ...

    def unreadable(self) -> Sequence[str]:
        """Return the tasks that cannot be read, with reasons; complete once all tasks have been streamed."""
        ...

    def content_hash(self) -> str:
        """Hash the files, the options, and the code that plays."""
        ...

    def conditions(self) -> Mapping[str, Any]:
        """Return the conditions of all episodes, by name."""
        ...

    def check_agent(self, name: str) -> None:
        """Check that there is an agent with this name.

        Raises:
            ValueError: There is none; the message lists all agents.
        """
        ...

    def default_agents(self) -> Sequence[str]:
        """Return the agents without a model of the default leaderboard."""
        ...


def open_benchmark(name: str, path: str, options: Mapping[str, str], seed: int) -> Benchmark:
    """Open a benchmark.

    Args:
        name: Name under which it is registered.
        path: File or folder with its tasks.
        options: Conditions to play under, by name, as the benchmark's documentation lists them.
        seed: Seed of all randomness.

    Raises:
        CommandError: The benchmark, the path or an option does not exist.
    """
    known = plugins(GROUP, BUILT_IN)
    if name not in known:
        raise CommandError(f"unknown benchmark {name!r}; available: {', '.join(sorted(known))}")
    if not Path(path).exists():
        raise CommandError(f"{path}: no such file or folder")
    try:
        opened: Benchmark = known[name].load()(Path(path), options, seed)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return opened
