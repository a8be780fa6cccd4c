"""An episode of ACE-Bench as players see it: its environment behind the interface of :mod:`agenthard.play.session`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agenthard.ace.environment import Ending, Environment
from agenthard.ace.environment.environment import as_text
from agenthard.ace.environment.prompts import CUT_OFF, GO_ON, messages
from agenthard.ace.environment.schemas import openai, parameters
from agenthard.ace.environment.tools import Kind
from agenthard.models.request import Tool
from agenthard.play.session import Outcome
from agenthard.taxonomy.task import Message


class AceSession:
    """One episode. The environment is given the public part of an instance only, so nothing said here can leak more."""

    cut_off = CUT_OFF
    go_on = GO_ON

    def __init__(self, environment: Environment) -> None:
        """Wraps a fresh environment."""
        self._environment = environment

    @property
    def id(self) -> str:
        """Id of the instance; it tells the number of decoys, so it is not shown to players."""
        return self._environment.puzzle.id

    @property
    def title(self) -> str:
        """The benchmark and what the domain plans."""
        return f"ACE-Bench: {self._environment.domain.wording.task}"

    @property
    def finished(self) -> bool:
        """Whether the player has called `done`."""
        return self._environment.finished

    def messages(self) -> Sequence[Message]:
        """Returns the first two messages."""
        return [Message.model_validate(message) for message in messages(self._environment)]

    def tools(self, shuffle: int | None = None) -> Sequence[Tool]:
        """Returns the tools with closed schemas."""
        tools = self._environment.tools(shuffle)
        return [Tool(name=tool.name, description=tool.description, parameters=parameters(tool)) for tool in tools]

    def schemas(self, shuffle: int | None = None) -> Sequence[Tool]:
        """Returns the tools in the schemas of the mode."""
        tools = self._environment.tools(shuffle)
        return [Tool.model_validate(openai(tool, self._environment.mode)["function"]) for tool in tools]

    def begin_turn(self) -> None:
        """Turns are not limited by the environment."""

    def message(self, name: str, arguments: str) -> str:
        """Carries out a call as a model wrote it."""
        return self._environment.message(name, arguments)

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> tuple[str, bool]:
        """Carries out a call; returns the answer and whether it failed."""
        answer = self._environment.call(name, arguments)
        return as_text(answer), answer["status"] == "failed"

    def changes_answers(self, name: str) -> bool:
        """Only filling a slot changes what the other tools answer."""
        return name == Kind.SET_SLOT

    def result(self, ending: Ending = Ending.OPEN) -> Outcome:
        """Returns what the episode has come to: the score is about the final grid alone."""
        result = self._environment.result(ending)
        counts = {
            "calls": result.calls,
            "malformed": result.malformed,
            "failed_calls": result.failures,
            "queries": result.queries,
            "global_checks": result.global_checks,
        }
        return Outcome(solved=result.solved, ending=result.ending, counts=counts, details=asdict(result))
