"""Tasks for training loops: an object with ``reset`` and ``step``, the same for every benchmark."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from agenthard.models.request import Call, Tool
from agenthard.play.session import Session
from agenthard.taxonomy.task import Message


class Start(NamedTuple):
    """What an episode begins with."""

    messages: tuple[Message, ...]
    """System message and user message."""
    tools: tuple[Tool, ...]
    """What the agent may call."""


class Step(NamedTuple):
    """What a reply of the agent brings about."""

    messages: tuple[Message, ...]
    """What the agent is told: the answer to each call, or what it is asked next; empty at the end."""
    reward: float
    """What the reply has earned, from 0 to 1."""
    done: bool
    """Whether the episode is over."""


class Training(Protocol):
    """An episode that can be played again and again. It belongs to one thread."""

    def reset(self) -> Start:
        """Begin an episode; one that is running ends."""
        ...

    def step(self, text: str = "", calls: Sequence[Call] = ()) -> Step:
        """Take a reply of the agent: its text and its calls.

        Raises:
            RuntimeError: no episode is running.
        """
        ...

    def close(self) -> None:
        """Remove what an episode holds on the disk."""
        ...


class SessionTraining:
    """Plays sessions (ACE-Bench, escape rooms). The reward is 1 with the reply that ends a solved episode."""

    def __init__(self, start: Callable[[], Session], max_turns: int) -> None:
        """Prepare.

        Args:
            start: starts an episode, each time the same.
            max_turns: replies after which an episode is over.
        """
        self._start, self._max_turns = start, max_turns
        self._session: Session | None = None
        self._turns = 0

    def reset(self) -> Start:
        """Begin an episode."""
        self._session, self._turns = self._start(), 0
        return Start(tuple(self._session.messages()), tuple(self._session.schemas()))

    def step(self, text: str = "", calls: Sequence[Call] = ()) -> Step:
        """Take a reply of the agent."""
        session = self._session
        if session is None:
            raise RuntimeError("no episode is running: call reset first")
        session.begin_turn()
        self._turns += 1
        told = [
            Message(
                role="tool",
                content=session.message(call.name, call.arguments),
                tool_call_id=call.id,
                tool_name=call.name,
            )
            for call in calls
        ]
        done = session.finished or self._turns >= self._max_turns
        if not done and not told:
            told.append(Message(role="user", content=session.go_on))
        if not done:
            return Step(tuple(told), 0.0, False)
        self._session = None
        return Step(tuple(told), float(session.result().solved), True)

    def close(self) -> None:
        """Do nothing: an episode holds nothing on the disk."""
