"""Agents without a model by name, such as ``solver``, ``solver+forgetting:0.1`` or ``slot-filter+no-retry``."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from agenthard.ace.agents import strategies
from agenthard.ace.agents.episode import MAX_TURNS, Episode
from agenthard.ace.agents.noise import Noise
from agenthard.ace.agents.player import EpisodeDoneError, Player
from agenthard.ace.environment import Ending, Environment
from agenthard.play.episode import OutOfTurnsError
from agenthard.play.registry import UnknownAgentError, probability
from agenthard.taxonomy.trajectory import Trajectory

LEADERBOARD = (
    "solver",
    "solver+forgetting:0.01",
    "solver+arithmetic:0.05",
    "solver+early-stop:0.02",
    "solver+hallucination:0.05",
    "solver+forgetting:0.05",
    "look-ahead",
    "filter-check",
    "look-ahead+arithmetic:0.2",
    "solver+hallucination:0.2",
    "slot-filter",
    "random",
)
"""Agents that spread from always right to almost never."""

NO_RETRY = "no-retry"
_NOISES = ("forgetting", "arithmetic", "early-stop", "hallucination")
_HANDS = ("early-stop", "hallucination")


@dataclass(frozen=True, slots=True)
class _Base:
    play: Callable[[Player], None]
    noises: tuple[str, ...]
    """What can go wrong with it: an agent that adds nothing up makes no wrong sums."""


_BASES = {
    "random": _Base(strategies.random, _HANDS),
    "slot-filter": _Base(strategies.slot_filter, ("forgetting", *_HANDS)),
    "filter-check": _Base(strategies.filter_check, ("forgetting", *_HANDS)),
    "look-ahead": _Base(strategies.look_ahead, _NOISES),
    "solver": _Base(strategies.solver, _NOISES),
}
BASES = {name: (base.play.__doc__ or "").partition("\n")[0] for name, base in _BASES.items()}
"""What each agent does, by name."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent without a model."""

    name: str
    """Name it is listed under."""
    strategy: Callable[[Player], None]
    """What it does."""
    noise: Noise
    """Its weaknesses."""

    def play(
        self,
        environment: Environment,
        trial: int = 0,
        *,
        seed: int = 42,
        condition: str = "",
        task_id: str | None = None,
        max_turns: int = MAX_TURNS,
    ) -> Trajectory:
        """Plays one episode.

        Args:
            environment: A fresh environment of the instance.
            trial: Number of the repetition, from 0.
            seed: Seed of the run. With the agent's name, the instance and the trial it decides the agent's chance.
            condition: What the run's conditions are called; part of the record's id.
            task_id: Id of the task; None for the id of the instance.
            max_turns: Turns the agent may take.

        Returns:
            The record; the same whenever the arguments are.
        """
        episode = Episode(environment, self.name, trial, condition=condition, task_id=task_id, max_turns=max_turns)
        rng = Random(f"{self.name}/{environment.puzzle.id}/{trial}/{seed}")
        ending = Ending.OPEN
        try:
            self.strategy(Player(episode, self.noise, rng))
        except EpisodeDoneError:
            pass
        except OutOfTurnsError:
            ending = Ending.MAX_STEPS
        return episode.trajectory(ending)


def find(name: str) -> Agent:
    """Returns the agent of a name: a base, then any number of weaknesses.

    Args:
        name: ``BASE``, ``BASE+WEAKNESS:PROBABILITY``, ``BASE+no-retry``, or several of these after one another.

    Returns:
        The agent.

    Raises:
        UnknownAgentError: The name means no agent.
    """
    first, *rest = name.split("+")
    base = _BASES.get(first)
    if base is None:
        raise UnknownAgentError(f"unknown agent {name!r}: it must begin with one of {', '.join(_BASES)}")
    noise = Noise()
    given: set[str] = set()
    for part in rest:
        kind, _, amount = part.partition(":")
        if kind in given:
            raise UnknownAgentError(f"agent {name!r}: {kind} is given twice")
        given.add(kind)
        if part == NO_RETRY:
            noise = replace(noise, retries=0)
        elif kind in base.noises:
            changed: dict[str, Any] = {kind.replace("-", "_"): probability(name, amount)}
            noise = replace(noise, **changed)
        else:
            known = ", ".join([*(f"{noise}:P" for noise in base.noises), NO_RETRY])
            raise UnknownAgentError(f"agent {name!r}: {part!r} does not go with {first}, but: {known}")
    return Agent(name, base.play, noise)
