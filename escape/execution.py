"""Escape rooms behind the interface of environments: their own environment carries the calls out."""

from typing import Any, ClassVar

from agenthard.audit.execution.environment import Attempt, ToolResponse, UnavailableError, Verdict
from agenthard.audit.execution.played_environment import PlayedEnvironment
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


class EscapeEnvironment(PlayedEnvironment[Episode, Instance]):
    """Plays rooms without limits on turns and without failing calls."""

    name: ClassVar[str] = "AgentEscapeBench"
    key: ClassVar[str] = INSTANCE
    carries: ClassVar[str] = "room"
    inspect_task: ClassVar[str] = "agenthard/escape_rooms"

    def version(self) -> str:
        """Name the conditions."""
        return "golden execution, no limits"

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

    def read(self, task: AgentTask) -> Instance:
        """Read the room of a task."""
        try:
            return from_data(task.metadata[INSTANCE])
        except MalformedInstanceError as error:
            raise UnavailableError(f"{task.id} cannot be played: {error}") from error

    def start(self, task: AgentTask, instance: Instance) -> Episode:
        """Start an episode."""
        broken = next(structure_problems(instance), None)
        if broken:
            raise UnavailableError(f"{task.id} cannot be played: {', '.join(filter(None, broken))}")
        return Episode(instance, _CONDITIONS)


def _carried_out(episode: Episode, call: ToolCall) -> ToolResponse:
    episode.begin_turn()
    answer = episode.call(call.name, call.arguments)
    return ToolResponse(text=as_text(answer), error=None if answer["ok"] else str(answer["message"]))
