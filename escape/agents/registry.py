"""Agents without a model by name, such as ``story``, ``greedy`` or ``oracle+premature:0.2``."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from agenthard.escape.agents import strategies
from agenthard.escape.agents.explorer import EpisodeOverError, Explorer
from agenthard.escape.agents.oracle import KNOBS, Noise, Oracle
from agenthard.escape.agents.reader import read_story
from agenthard.escape.room import Instance
from agenthard.play.ending import Ending
from agenthard.play.episode import Episode, OutOfTurnsError
from agenthard.play.registry import UnknownAgentError, probability
from agenthard.play.replay import REPLAY, Runs, play_again, recorded_runs
from agenthard.taxonomy.trajectory import Trajectory

LEADERBOARD = (
    "oracle",
    "story",
    "clue-first",
    "oracle+premature:0.2",
    "oracle+wrong-wire:0.2+stubborn:0.2",
    "oracle+forgetting:0.02+stubborn:0.5",
    "oracle+give-up:0.03",
    "greedy",
    "random",
)
"""Agents that spread from always out to almost never."""

_STRATEGIES: dict[str, Callable[[Explorer], None]] = {
    "story": read_story,
    "hints": strategies.hints,
    "clue-first": strategies.clue_first,
    "greedy": strategies.greedy,
    "random": strategies.random,
    "answer-only": strategies.answer_only,
}
ORACLE = "oracle"
BASES = {ORACLE: "Knows the graph and all values."} | {
    name: (play.__doc__ or "").partition("\n")[0] for name, play in _STRATEGIES.items()
}
"""What each agent does, by name."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent without a model."""

    name: str
    """Name it is listed under."""
    strategy: Callable[[Explorer], None] | None
    """What it does; None for the oracle."""
    noise: Noise
    """Weaknesses of the oracle."""
    recorded: Runs | None = None
    """Runs that are played again, in place of a strategy."""

    def play(self, episode: Episode, instance: Instance, seed: int) -> Trajectory:
        """Play one episode.

        Args:
            episode: The episode, before its first turn.
            instance: The whole room; only the oracle looks at more than an agent may see.
            seed: Seed of the run. With the agent's name, the room and the trial it decides the agent's chance.

        Returns:
            The record; the same whenever the arguments are.
        """
        if self.recorded is not None:
            return play_again(episode, self.recorded)
        rng = Random(f"{self.name}/{instance.id}/{episode.trial}/{seed}")
        explorer = Explorer(episode, rng)
        ending = Ending.OPEN
        try:
            if self.strategy is None:
                Oracle(explorer, instance, self.noise).play()
            else:
                self.strategy(explorer)
        except EpisodeOverError:
            pass
        except OutOfTurnsError:
            ending = Ending.MAX_STEPS
        return episode.trajectory(ending)


def find(name: str) -> Agent:
    """Return the agent of a name: a base, and for the oracle any number of weaknesses; or a file of recorded runs.

    Raises:
        UnknownAgentError: The name means no agent; the message says which there are.
    """
    if name.startswith(REPLAY):
        return Agent(name, None, Noise(), recorded_runs(name))
    first, *rest = name.split("+")
    if first not in BASES:
        raise UnknownAgentError(f"unknown agent {name!r}: it must begin with one of {', '.join(BASES)}, {REPLAY}FILE")
    noise = Noise()
    for part in rest:
        kind, _, amount = part.partition(":")
        knob = kind.replace("-", "_")
        if first != ORACLE or knob not in KNOBS:
            known = ", ".join(f"{each.replace('_', '-')}:P" for each in KNOBS)
            raise UnknownAgentError(f"agent {name!r}: {part!r} is not known; `{ORACLE}` goes with {known}")
        changed: dict[str, Any] = {knob: probability(name, amount)}
        noise = replace(noise, **changed)
    return Agent(name, _STRATEGIES.get(first), noise)
