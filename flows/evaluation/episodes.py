"""What there is to play: one episode per agent, task, failure rate and trial."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory


class Episode(NamedTuple):
    """One episode; within a run folder it happens once, however often it has to be tried."""

    agent: str
    """Name of the agent."""
    task_id: str
    """Id of the task."""
    failure_rate: float
    """Probability that a tool call fails on purpose."""
    trial: int
    """Number of the repetition, from 0."""

    @property
    def condition(self) -> str:
        """What its conditions are called: empty without failures, else such as ``failures 0.3``."""
        return f"failures {self.failure_rate:g}" if self.failure_rate else ""


class Selection(NamedTuple):
    """The episodes that an evaluation asks for, on every task; its folder may hold others."""

    agents: tuple[str, ...]
    """Names of the agents."""
    failure_rates: tuple[float, ...]
    """Probabilities that a tool call fails on purpose."""
    trials: int
    """Number of repetitions."""


class Attempt(Record):
    """One try at an episode, with how long it took (which no trajectory holds, as it differs from run to run)."""

    number: int = Field(ge=0)
    """0 for the first; another one follows only an infrastructure error."""
    trajectory: Trajectory
    """What happened."""
    seconds: float
    """Wall time."""


class TaskFacts(Record):
    """What an evaluation needs to know of a task without loading it."""

    id: str
    """Id of the task, as the audit source gives it."""
    group: str
    """Domain or subtask."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """What the report sorts by, such as the number of hidden slots."""


def episodes_of(task_id: str, agents: Sequence[str], failure_rates: Sequence[float], trials: int) -> Iterator[Episode]:
    """List the episodes of one task.

    Yields:
        Episodes: agents, then failure rates, then trials.
    """
    for agent in agents:
        for rate in failure_rates:
            for trial in range(trials):
                yield Episode(agent, task_id, rate, trial)
