"""ACE-Bench behind the interface of environments: its own environment carries the calls out."""

from typing import Any, ClassVar

from agenthard.ace.audit_task import INSTANCE
from agenthard.ace.environment import Budgets, UnplayableError
from agenthard.ace.environment import Environment as Episode
from agenthard.ace.environment.environment import as_text
from agenthard.ace.errors import MalformedInstanceError
from agenthard.ace.instance import Puzzle
from agenthard.ace.reference_entry import decode
from agenthard.audit.execution.environment import Attempt, ToolResponse, UnavailableError, Verdict
from agenthard.audit.execution.played_environment import PlayedEnvironment
from agenthard.taxonomy.task import AgentTask, ToolCall


class AceEnvironment(PlayedEnvironment[Episode, Puzzle]):
    """Plays instances in paper mode, without limits on queries and checks and without failing calls."""

    name: ClassVar[str] = "ACE-Bench"
    key: ClassVar[str] = INSTANCE
    carries: ClassVar[str] = "ACE-Bench instance"
    inspect_task: ClassVar[str] = "agenthard/ace_bench"

    def version(self) -> str:
        """Name the mode."""
        return "paper mode, no limits"

    def call(self, call: ToolCall) -> ToolResponse:
        """Carry out one call."""
        answer = self._running().call(call.name, call.arguments)
        failed = answer["status"] != "success"
        return ToolResponse(text=as_text(answer), error=str(answer["messages"]) if failed else None)

    def snapshot(self) -> Any:
        """Return the grid, and whether the agent has called `done`."""
        episode = self._running()
        return {"grid": episode.grid, "done": episode.finished}

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Play an attempt and tell whether its grid is a solution.

        Raises:
            UnavailableError: the instance cannot be played.
        """
        episode = self._start(task)
        for turn in attempt.turns:
            for call in turn:
                episode.call(call.name, call.arguments)
        solved = episode.result().solved
        return Verdict(passed=solved, parts={"grid": solved})

    def read(self, task: AgentTask) -> Puzzle:
        """Read the puzzle of a task."""
        try:
            return decode(task.metadata[INSTANCE]).puzzle
        except MalformedInstanceError as error:
            raise UnavailableError(f"{task.id} cannot be played: {error}") from error

    def start(self, task: AgentTask, instance: Puzzle) -> Episode:
        """Start an episode."""
        try:
            return Episode(instance, budgets=Budgets.UNLIMITED)
        except (MalformedInstanceError, UnplayableError) as error:
            raise UnavailableError(f"{task.id} cannot be played: {error}") from error
