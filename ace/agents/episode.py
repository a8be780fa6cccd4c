"""One agent at one instance: the environment, the conversation about it, and the record of both."""

from collections.abc import Mapping, Sequence

from agenthard.ace.environment import Ending, Environment
from agenthard.ace.environment.prompts import messages
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import Message, ToolCall
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

MAX_TURNS = 600
"""Turns an agent may take: the limit of the paper."""


class OutOfTurnsError(AgentHardError):
    """The agent has used up its turns."""

    code = "AH601"
    remedy = "Give the agent more turns, or count the episode as failed."


class Episode:
    """The conversation of one agent at one instance. A turn is one message of the agent, however many calls it makes.

    Whether the run passed follows one rule: the final grid is right, and the run did not fail by the paper's rule on
    overruns (more replies cut off at the length limit than are allowed). Running out of turns, never saying `done` or
    overrunning the context does not unmake a right grid. The released code counts a right grid whatever happened, so
    its score is ``score``; the paper's text fails a run that overran, so ours is ``passed``.
    """

    def __init__(
        self,
        environment: Environment,
        agent: str,
        trial: int,
        *,
        condition: str = "",
        task_id: str | None = None,
        max_turns: int = MAX_TURNS,
    ) -> None:
        """Starts an episode.

        Args:
            environment: A fresh environment of the instance.
            agent: Name of the agent or model.
            trial: Number of the repetition, from 0.
            condition: What the run's conditions are called; part of the record's id.
            task_id: Id of the task; None for the id of the instance.
            max_turns: Turns the agent may take.
        """
        self.environment = environment
        self.agent = agent
        self.trial = trial
        self.task_id = task_id or environment.puzzle.id
        self.id = f"{agent}/{self.task_id}/{condition}/{trial}"
        """Id of the episode and of its record."""
        self.turns = 0
        """Turns taken."""
        self.truncations = 0
        """Turns cut off at the length limit."""
        self._max_turns = max_turns
        self._messages = [Message.model_validate(message) for message in messages(environment)]

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
            ending: How it ended, where the agent did not call `done`.
            status: Whether it can be scored.
            reason: Why not.
            usage: Further counts, such as tokens and cost.

        Returns:
            The record; its score is 1 or 0 and about the final grid alone.
        """
        result = self.environment.result(ending)
        counts = {
            "turns": self.turns,
            "messages": len(self._messages),
            "calls": result.calls,
            "malformed": result.malformed,
            "failed_calls": result.failures,
            "queries": result.queries,
            "global_checks": result.global_checks,
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
