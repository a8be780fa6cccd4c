"""The hands of an agent without a model: calls in turns, failed calls repeated, weaknesses applied."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, NamedTuple

from agenthard.ace.agents.brief import brief
from agenthard.ace.agents.episode import Episode
from agenthard.ace.agents.noise import Noise
from agenthard.ace.environment.environment import ToolAnswer, as_text
from agenthard.ace.environment.tools import Kind
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import ToolCall

Data = dict[str, Any]
Choice = Sequence[str | None]
"""Item id by slot; None where the agent knows none."""

_LOST = "Tool call failed"


class EpisodeDoneError(AgentHardError):
    """The agent has called `done`."""

    code = "AH602"
    remedy = "Nothing: the episode is over, and further calls are not carried out."


class Call(NamedTuple):
    """A call to make."""

    kind: Kind
    """The tool."""
    arguments: dict[str, Any]
    """Its arguments."""


class Player:
    """Plays one episode through its tools. All chance comes from one generator."""

    def __init__(self, episode: Episode, noise: Noise, rng: Random) -> None:
        self.brief = brief(episode.environment)
        """What the agent was told at the start."""
        self.noise = noise
        """Its weaknesses."""
        self.rng = rng
        """Its chance."""
        self._episode = episode
        self._domain = episode.environment.domain.name
        self._placed: list[str | None] = [None] * len(self.brief.puzzle.slots)
        self._calls = 0

    def happens(self, probability: float) -> bool:
        """Tells whether something of a probability happens now; what is impossible draws nothing.

        Args:
            probability: From 0 to 1.

        Returns:
            True when it does.
        """
        return probability > 0 and self.rng.random() < probability

    def ask(self, calls: Sequence[Call]) -> list[Data | None]:
        """Makes calls in one turn, and those that fail for no reason of the agent's again in further turns.

        Args:
            calls: The calls.

        Returns:
            The data of each answer; None where the tool refused, or kept failing.
        """
        answers = self._turn(calls)
        for _ in range(self.noise.retries):
            lost = [index for index, answer in enumerate(answers) if answer["messages"] == _LOST]
            if not lost:
                break
            for index, answer in zip(lost, self._turn([calls[index] for index in lost]), strict=True):
                answers[index] = answer
        return [answer["data"] if answer["status"] == "success" else None for answer in answers]

    def try_until_accepted(self, choices: Iterable[Choice]) -> None:
        """Fills the grid in one way after the other until the global check accepts one or may not be asked again.

        Args:
            choices: Ways to fill the slots, best first. The last one tried stays in the grid.
        """
        for choice in choices:
            if self.place(choice, check=True) is not False:
                return

    def place(self, choice: Choice, *, check: bool = False) -> bool | None:
        """Fills the slots, and asks for the global check in the same turn.

        Args:
            choice: What to put where; slots that hold it already are left alone.
            check: Whether to check.

        Returns:
            The verdict; None when there is none.
        """
        slots = self.brief.puzzle.slots
        changed = [n for n, id in enumerate(choice) if id is not None and id != self._placed[n]]
        puts = [
            Call(Kind.SET_SLOT, {"row": slots[n].row, "col": slots[n].col, "id": self._spelt(choice[n])})
            for n in changed
        ]
        for n in changed:
            self._placed[n] = choice[n]
        checks = [Call(Kind.CHECK_GLOBAL, {})] if check else []
        calls = puts + checks
        if not calls:
            return None
        answers = self._turn(calls)
        lost = [call for call, answer in zip(calls, answers, strict=True) if answer["messages"] == _LOST]
        if lost and self.noise.retries:
            # A check beside a put that failed was about another grid.
            self.ask([call for call in lost if call.kind is Kind.SET_SLOT])
            verdicts = self.ask(checks)
        else:
            verdicts = [answers[-1]["data"]] if check else []
        return verdicts[0].get("is_valid") if verdicts and verdicts[0] else None

    def hand_in(self) -> None:
        """Calls `done`.

        Raises:
            EpisodeDoneError: Always.
        """
        self.ask([Call(Kind.DONE, {})])
        raise EpisodeDoneError

    def _spelt(self, id: str | None) -> str:
        return f"{id}{self.rng.randrange(10)}" if self.happens(self.noise.hallucination) else str(id)

    def _turn(self, calls: Sequence[Call]) -> list[ToolAnswer]:
        if not calls:
            return []
        first = self._calls
        self._calls += len(calls)
        made = [
            ToolCall(name=kind.of(self._domain), arguments=arguments, id=f"call_{first + number}")
            for number, (kind, arguments) in enumerate(calls)
        ]
        self._episode.say(calls=made)
        carry_out: Callable[[str, dict[str, Any]], ToolAnswer] = self._episode.environment.call
        answers = []
        for call in made:
            answer = carry_out(call.name, call.arguments)
            self._episode.hear(as_text(answer), call)
            answers.append(answer)
        if calls[-1].kind is not Kind.DONE and self.happens(self.noise.early_stop):
            self.hand_in()
        return answers
