"""One agent at one instance: the session, the conversation about it, and the record of both."""

from collections.abc import Mapping, Sequence

from agenthard.play.ending import Ending
from agenthard.play.session import Session
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import Message, ToolCall
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

MAX_TURNS = 600
"""Turns an agent may take, where a benchmark does not say: the limit of the ACE-Bench paper."""


class OutOfTurnsError(AgentHardError):
    """The agent has used up its turns."""

    code = "AH601"
    remedy = "Give the agent more turns, or count the episode as failed."


class Episode:
    """The conversation of one agent at one instance. A turn is one message of the agent, however many calls it makes.

    Whether the run passed follows one rule: the task is solved, and the run did not overrun (more replies cut off at
    the length limit than are allowed). Running out of turns, never ending the episode or overrunning the context does
    not unmake a solution. ``score`` counts a solution whatever happened.
    """

    def __init__(
        self,
        session: Session,
        agent: str,
        trial: int,
        *,
        condition: str = "",
        task_id: str | None = None,
        max_turns: int = MAX_TURNS,
    ) -> None:
        """Starts an episode.

        Args:
            session: A fresh session of the instance.
            agent: Name of the agent or model.
            trial: Number of the repetition, from 0.
            condition: What the run's conditions are called; part of the record's id.
            task_id: Id of the task; None for the id of the instance.
            max_turns: Turns the agent may take.
        """
        self.session = session
        self.agent = agent
        self.trial = trial
        self.task_id = task_id or session.id
        self.id = f"{agent}/{self.task_id}/{condition}/{trial}"
        """Id of the episode and of its record."""
        self.turns = 0
        """Turns taken."""
        self.truncations = 0
        """Turns cut off at the length limit."""
        self._max_turns = max_turns
        self._messages = list(session.messages())

    @property
    def prompt(self) -> tuple[Message, ...]:
        """The messages that the episode began with: system and user."""
        return tuple(self._messages[:2])

    def require_turn(self) -> None:
        """Makes sure that the agent may take another turn.

        Raises:
            OutOfTurnsError: It may not.
        """
        if self.turns >= self._max_turns:
            raise OutOfTurnsError

    def say(self, text: str = "", calls: Sequence[ToolCall] = ()) -> None:
        """Notes a turn of the agent.

        Args:
            text: What it says.
            calls: What it calls, each with an id.

        Raises:
            OutOfTurnsError: It has used up its turns; nothing is noted.
        """
        self.require_turn()
        self.turns += 1
        self.session.begin_turn()
        self._messages.append(Message(role="assistant", content=text, tool_calls=tuple(calls)))

    def hear(self, text: str, call: ToolCall | None = None) -> None:
        """Notes what the agent is told.

        Args:
            text: The words.
            call: The call that they answer; None for a notice to the agent.
        """
        if call is None:
            self._messages.append(Message(role="user", content=text))
        else:
            self._messages.append(Message(role="tool", content=text, tool_call_id=call.id, tool_name=call.name))

    def trajectory(
        self,
        ending: Ending = Ending.OPEN,
        *,
        status: RunStatus = "ok",
        reason: str = "",
        usage: Mapping[str, float] | None = None,
    ) -> Trajectory:
        """Returns the record of the episode. It holds no times, so equal episodes have equal records.

        Args:
            ending: How it ended, where the agent did not end it.
            status: Whether it can be scored.
            reason: Why not.
            usage: Further counts, such as tokens and cost.

        Returns:
            The record; its score is 1 or 0.
        """
        result = self.session.result(ending)
        counts = {
            "turns": self.turns,
            "messages": len(self._messages),
            **result.counts,
            "truncations": self.truncations,
        }
        passed = result.solved and result.ending is not Ending.TRUNCATIONS
        return Trajectory(
            id=self.id,
            task_id=self.task_id,
            model=self.agent,
            trial=self.trial,
            status=status,
            status_reason=reason,
            ending=result.ending.value,
            score=float(result.solved),
            passed=None if status == "infrastructure_error" else passed,
            messages=tuple(self._messages),
            usage=counts | dict(usage or {}),
        )
