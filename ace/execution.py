"""ACE-Bench behind the interface of environments: its own environment carries the calls out."""

from typing import Any, ClassVar

from agenthard.ace.audit_task import INSTANCE
from agenthard.ace.environment import Budgets, UnplayableError
from agenthard.ace.environment import Environment as Episode
from agenthard.ace.environment.environment import as_text
from agenthard.ace.errors import MalformedInstanceError
from agenthard.ace.instance import Puzzle
from agenthard.ace.reference_entry import decode
from agenthard.audit.execution.environment import Attempt, Environment, ToolResponse, UnavailableError, Verdict
from agenthard.taxonomy.task import AgentTask, ToolCall


class AceEnvironment(Environment):
    """Plays instances in paper mode, without limits on queries and checks and without failing calls."""

    name: ClassVar[str] = "ACE-Bench"

    def __init__(self) -> None:
        """Start without a task."""
        self._episode: Episode | None = None
        self._played: tuple[AgentTask, Puzzle] | None = None

    def version(self) -> str:
        """Name the mode."""
        return "paper mode, no limits"

    def supports(self, task: AgentTask) -> str | None:
        """Only tasks that carry an instance which holds together can be played."""
        if INSTANCE not in task.metadata:
            return "the task carries no ACE-Bench instance"
        try:
            self._start(task)
        except UnavailableError as reason:
            return str(reason)
        return None

    def reset(self, task: AgentTask) -> None:
        """Start an episode with the grid as the task gives it.

        Raises:
            UnavailableError: the instance cannot be played.
        """
        self._episode = self._start(task)

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

    def _running(self) -> Episode:
        if self._episode is None:
            raise UnavailableError("no task was started: call reset first")
        return self._episode

    def _start(self, task: AgentTask) -> Episode:
        """Start an episode; the instance is read once for all attempts at it."""
        try:
            if self._played is None or self._played[0] is not task:
                self._played = task, decode(task.metadata[INSTANCE]).puzzle
            return Episode(self._played[1], budgets=Budgets.UNLIMITED)
        except (MalformedInstanceError, UnplayableError) as error:
            raise UnavailableError(f"{task.id} cannot be played: {error}") from error
