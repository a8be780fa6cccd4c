"""Environments of benchmarks that we play ourselves: one episode at a time, started from the instance of a task."""

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

from agenthard.audit.execution.environment import Environment, UnavailableError
from agenthard.taxonomy.task import AgentTask

E = TypeVar("E")
I = TypeVar("I")  # noqa: E741 - an instance


class PlayedEnvironment(Environment, Generic[E, I]):
    """Plays episodes of the instance that a task carries; the instance is read once for all attempts at it."""

    key: ClassVar[str]
    """Key of a task's metadata that holds the instance."""
    carries: ClassVar[str]
    """What a task carries there, in words."""

    def __init__(self) -> None:
        """Start without a task."""
        self._episode: E | None = None
        self._played: tuple[AgentTask, I] | None = None

    @abstractmethod
    def read(self, task: AgentTask) -> I:
        """Read the instance of a task.

        Raises:
            UnavailableError: it cannot be read.
        """

    @abstractmethod
    def start(self, task: AgentTask, instance: I) -> E:
        """Start an episode.

        Raises:
            UnavailableError: the instance cannot be played.
        """

    def supports(self, task: AgentTask) -> str | None:
        """Only tasks that carry an instance which holds together can be played."""
        if self.key not in task.metadata:
            return f"the task carries no {self.carries}"
        try:
            self._start(task)
        except UnavailableError as reason:
            return str(reason)
        return None

    def reset(self, task: AgentTask) -> None:
        """Start an episode.

        Raises:
            UnavailableError: the instance cannot be played.
        """
        self._episode = self._start(task)

    def _running(self) -> E:
        if self._episode is None:
            raise UnavailableError("no task was started: call reset first")
        return self._episode

    def _start(self, task: AgentTask) -> E:
        if self._played is None or self._played[0] is not task:
            self._played = task, self.read(task)
        return self.start(task, self._played[1])
