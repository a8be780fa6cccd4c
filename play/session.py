"""What a benchmark gives so that its tasks can be played: a session, one running episode without a player."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agenthard.models.request import Tool
from agenthard.play.ending import Ending
from agenthard.taxonomy.task import Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an episode came to."""

    solved: bool
    """Whether the task is solved."""
    ending: Ending
    """How the episode ended."""
    counts: Mapping[str, float]
    """What the benchmark counts, by name; it goes into the record of the episode."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Everything that the outcome says, as JSON data, for the servers that write it to a file or a log."""


class Session(Protocol):
    """One running episode. State belongs to the session; nothing that a player sends raises an error."""

    @property
    def id(self) -> str:
        """Id of the instance."""
        ...

    @property
    def title(self) -> str:
        """Name of the benchmark and its task in a few words."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the player has ended the episode, or the episode has ended itself."""
        ...

    @property
    def cut_off(self) -> str:
        """Notice after a reply that was cut off at the length limit."""
        ...

    @property
    def go_on(self) -> str:
        """Notice after a reply without a tool call."""
        ...

    def messages(self) -> Sequence[Message]:
        """Return the system message and the user message that the episode begins with."""
        ...

    def tools(self, shuffle: int | None = None) -> Sequence[Tool]:
        """Return the tools in the order of the declaration, or shuffled by a seed."""
        ...

    def schemas(self, shuffle: int | None = None) -> Sequence[Tool]:
        """Return the tools as a model is told of them, which old harnesses do in ways of their own."""
        ...

    def begin_turn(self) -> None:
        """Begin a turn: one reply of the player, with any number of calls."""
        ...

    def message(self, name: str, arguments: str) -> str:
        """Carry out a call as a model wrote it, with JSON text as arguments, and answer in text."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> tuple[str, bool]:
        """Carry out a call; return the answer in text, and whether it failed."""
        ...

    def changes_answers(self, name: str) -> bool:
        """Tell whether a call of this tool can change what the other tools answer."""
        ...

    def result(self, ending: Ending = Ending.OPEN) -> Outcome:
        """Return what the episode has come to; the ending counts where the player did not end it."""
        ...
