"""The episodes of an evaluation: one per agent, task, failure rate and trial."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory


class Episode(NamedTuple):
    """One episode; a run folder has one result of it, whatever the number of attempts."""

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
        """Name of its conditions: empty without failures, else such as ``failures 0.3``."""
        return f"failures {self.failure_rate:g}" if self.failure_rate else ""


class Selection(NamedTuple):
    """The planned episodes on every task; the run folder may hold others."""

    agents: tuple[str, ...]
    """Names of the agents."""
    failure_rates: tuple[float, ...]
    """Probabilities that a tool call fails on purpose."""
    trials: int
    """Number of repetitions."""


class EpisodeAttempt(Record):
    """One attempt at an episode, with its duration, which is not in the trajectory since it differs from run to run."""

    number: int = Field(ge=0)
    """Number of the attempt, from 0; another one follows only after an infrastructure error."""
    trajectory: Trajectory
    """The recorded run."""
    seconds: float
    """Wall time."""


class TaskFacts(Record):
    """The data of a task that an evaluation needs without loading it."""

    id: str
    """Id of the task, as the audit source gives it."""
    group: str
    """Domain or subtask."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """Properties that the report groups by, such as the number of hidden slots."""


def episodes_of(task_id: str, agents: Sequence[str], failure_rates: Sequence[float], trials: int) -> Iterator[Episode]:
    """Yield the episodes of one task.

    Yields:
        Episodes: agents, then failure rates, then trials.
    """
    for agent in agents:
        for rate in failure_rates:
            for trial in range(trials):
                yield Episode(agent, task_id, rate, trial)
