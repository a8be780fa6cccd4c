"""Escape rooms behind the interface of environments: their own environment carries the calls out."""

from typing import Any, ClassVar

from agenthard.audit.execution.environment import Attempt, Environment, ToolResponse, UnavailableError, Verdict
from agenthard.audit.sources.formats.suite import MalformedInstanceError
from agenthard.escape.audit_task import INSTANCE
from agenthard.escape.environment import Conditions
from agenthard.escape.environment import Environment as Episode
from agenthard.escape.environment.environment import as_text
from agenthard.escape.proof.structure import structure_problems
from agenthard.escape.room import Instance
from agenthard.escape.storage import from_data
from agenthard.taxonomy.task import AgentTask, ToolCall

_CONDITIONS = Conditions(turns=-1, calls_per_turn=100_000)


class EscapeEnvironment(Environment):
    """Plays rooms without limits on turns and without failing calls."""

    name: ClassVar[str] = "AgentEscapeBench"

    def __init__(self) -> None:
        """Start without a task."""
        self._episode: Episode | None = None
        self._played: tuple[AgentTask, Instance] | None = None

    def version(self) -> str:
        """Name the conditions."""
        return "golden execution, no limits"

    def supports(self, task: AgentTask) -> str | None:
        """Only tasks that carry a room which holds together can be played."""
        if INSTANCE not in task.metadata:
            return "the task carries no room"
        try:
            self._start(task)
        except UnavailableError as reason:
            return str(reason)
        return None

    def reset(self, task: AgentTask) -> None:
        """Start an episode.

        Raises:
            UnavailableError: the room cannot be played.
        """
        self._episode = self._start(task)

    def call(self, call: ToolCall) -> ToolResponse:
        """Carry out one call, in a turn of its own."""
        return _carried_out(self._running(), call)

    def snapshot(self) -> Any:
        """Return what is in sight, what is resolved, and how the episode stands."""
        return self._running().snapshot()

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Play an attempt and tell whether the answer was submitted.

        Raises:
            UnavailableError: the room cannot be played.
        """
        episode = self._start(task)
        for turn in attempt.turns:
            for call in turn:
                _carried_out(episode, call)
        return Verdict(passed=episode.solved, parts={"answer": episode.solved})

    def _running(self) -> Episode:
        if self._episode is None:
            raise UnavailableError("no task was started: call reset first")
        return self._episode

    def _start(self, task: AgentTask) -> Episode:
        """Start an episode; the room is read once for all attempts at it."""
        try:
            if self._played is None or self._played[0] is not task:
                self._played = task, from_data(task.metadata[INSTANCE])
        except MalformedInstanceError as error:
            raise UnavailableError(f"{task.id} cannot be played: {error}") from error
        broken = next(structure_problems(self._played[1]), None)
        if broken:
            raise UnavailableError(f"{task.id} cannot be played: {': '.join(filter(None, broken))}")
        return Episode(self._played[1], _CONDITIONS)


def _carried_out(episode: Episode, call: ToolCall) -> ToolResponse:
    episode.begin_turn()
    answer = episode.call(call.name, call.arguments)
    return ToolResponse(text=as_text(answer), error=None if answer["ok"] else str(answer["message"]))
