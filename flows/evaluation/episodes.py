"""The episodes of an evaluation: one per agent, task, failure rate, trial and variant of the conditions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from agenthard.play.chain import Part
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
    variant: str = ""
    """What differs between the conditions of the evaluation, such as ``feedback=none``; empty where nothing does."""

    @property
    def condition(self) -> str:
        """Name of its conditions: such as ``failures 0.3, feedback=none``; empty without failures and variants.

        >>> Episode("a", "t", 0.3, 0, "feedback=none").condition, Episode("a", "t", 0.0, 0).condition
        ('failures 0.3, feedback=none', '')
        """
        return ", ".join(filter(None, (f"failures {self.failure_rate:g}" if self.failure_rate else "", self.variant)))


def name_of(options: Mapping[str, str]) -> str:
    """Name a variant of the conditions by its options.

    >>> name_of({"feedback": "none", "turns": "20"})
    'feedback=none, turns=20'
    """
    return ", ".join(f"{name}={value}" for name, value in options.items())


def options_of(variant: str) -> dict[str, str]:
    """Return the options of a variant.

    >>> options_of("feedback=none, turns=20"), options_of("")
    ({'feedback': 'none', 'turns': '20'}, {})
    """
    pairs = (each.partition("=") for each in variant.split(", ") if each)
    return {name: value for name, _, value in pairs}


class Selection(NamedTuple):
    """The planned episodes on every task; the run folder may hold others."""

    agents: tuple[str, ...]
    """Names of the agents."""
    failure_rates: tuple[float, ...]
    """Probabilities that a tool call fails on purpose."""
    trials: int
    """Number of repetitions."""
    variants: tuple[str, ...] = ("",)
    """Variants of the conditions."""

    @property
    def per_task(self) -> int:
        """Number of episodes per task."""
        return len(self.agents) * len(self.failure_rates) * self.trials * len(self.variants)

    def holds(self, episode: Episode) -> bool:
        """Whether an episode is planned."""
        return (
            episode.agent in self.agents
            and episode.failure_rate in self.failure_rates
            and episode.trial < self.trials
            and episode.variant in self.variants
        )


class EpisodeAttempt(Record):
    """One attempt at an episode, with its duration, which is not in the trajectory since it differs from run to run."""

    number: int = Field(ge=0)
    """Number of the attempt, from 0; another one follows only after an infrastructure error."""
    trajectory: Trajectory
    """The recorded run."""
    seconds: float
    """Wall time."""
    parts: tuple[Part, ...] = ()
    """Its runs, where one play has several; the trajectory then sums them up."""


class TaskFacts(Record):
    """The data of a task that an evaluation needs without loading it."""

    id: str
    """Id of the task, as the audit source gives it."""
    group: str
    """Domain or subtask."""
    facts: dict[str, Any] = Field(default_factory=dict)
    """Properties that the report groups by, such as the number of hidden slots."""


def episodes_of(
    task_id: str, agents: Sequence[str], failure_rates: Sequence[float], trials: int, variant: str = ""
) -> Iterator[Episode]:
    """Yield the episodes of one task under one variant of the conditions.

    Yields:
        Episodes: agents, then failure rates, then trials.
    """
    for agent in agents:
        for rate in failure_rates:
            for trial in range(trials):
                yield Episode(agent, task_id, rate, trial, variant)
