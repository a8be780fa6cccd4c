"""BFCL's own classes and checkers behind the interface of environments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenthard.audit.execution.bfcl import native, protocol
from agenthard.audit.execution.environment import Attempt, ToolResponse, UnavailableError, Verdict
from agenthard.audit.execution.managed_environments import ReleaseOfTask, release_of
from agenthard.audit.execution.worker_environment import WorkerBackedEnvironment
from agenthard.audit.execution.workers import WorkerPool
from agenthard.audit.sources.bfcl.layout import find_layout
from agenthard.audit.sources.bfcl.reader import content_hashes
from agenthard.taxonomy.task import AgentTask, ToolCall

SCRIPT = Path(__file__).with_name("script.py")


def _contents(data: Path) -> Iterator[str]:
    return content_hashes(find_layout(data))


def _release_of(task: AgentTask) -> ReleaseOfTask | str:
    """Return the release that executes a task, or why there is none.

    The reason is remembered as text: an error that is raised again and again keeps the frames of every raise alive.
    """
    try:
        return release_of(task, _contents)
    except UnavailableError as missing:
        return str(missing)


class BfclEnvironment(WorkerBackedEnvironment):
    """Multi-turn tasks on the classes of bfcl-eval; all tasks whose calls are scored before its checkers.

    Each task is executed by the installed release that has it. A task that differs from all is executed by the release
    of its data version, and nothing about it is confirmed: the code that belongs to it may be another.

    A call is run from its arguments; its source text counts only where that could not be read as one call. Attempts
    give values, no any-of nodes; Java and JavaScript values are written as source text of the documented type.
    """

    name = "bfcl-eval"

    def __init__(self, pool: WorkerPool | None = None) -> None:
        """Prepare; nothing is started yet.

        Args:
            pool: where workers come from, whatever release a task is of; None means those of the managed environments,
                which all instances share.
        """
        super().__init__()
        self._own_pool = pool
        self._release = ""

    def version(self) -> str:
        """Return the release that executes the last task that was asked about."""
        return self._release or "no release yet"

    def supports(self, task: AgentTask) -> str | None:
        """Return why a task cannot be executed; None when it can."""
        reason = protocol.not_executed(task)
        if reason is None and self._own_pool is None:
            try:
                self._release_pool(task)
            except UnavailableError as missing:
                return str(missing)
        return reason or self._why_not_contained()

    @classmethod
    def why_not_published(cls, task: AgentTask) -> str | None:
        """Say why no release of the package scores a task; the package needs no checkout."""
        return protocol.not_executed(task)

    def reservation(self, task: AgentTask) -> str | None:
        """Say when the release that executes a task has it otherwise."""
        found = None if self._own_pool else self._execution.remember("bfcl release", task, lambda: _release_of(task))
        if not isinstance(found, ReleaseOfTask) or not found.changed:
            return None
        return f"the task differs from that of {self.name} {found.release.version}, whose code executed it"

    def _pool_for(self, task: AgentTask) -> WorkerPool:
        reason = protocol.not_executed(task)
        if reason:
            raise UnavailableError(f"{task.id}: {reason}")
        return self._own_pool or self._release_pool(task)

    def _release_pool(self, task: AgentTask) -> WorkerPool:
        found = self._execution.remember("bfcl release", task, lambda: _release_of(task))
        if isinstance(found, str):
            raise UnavailableError(found)
        self._release = found.release.version
        if found.changed:
            self._execution.note(f"tasks that {self.name} {self._release} has otherwise: suspected at most")
        return self._execution.worker_pool(found.release.python, SCRIPT)

    def _why_stateless(self, task: AgentTask) -> str | None:
        if protocol.SCORING[task.subtask] == "state":
            return None
        return "a single-turn task has no environment: its functions exist as documentation only"

    def _reset_request(self, task: AgentTask) -> dict[str, Any]:
        return {"do": "reset", "task": protocol.session(task)}

    def _call_request(self, call: ToolCall) -> dict[str, Any]:
        return {"do": "call", "text": native.python_call(call)}

    def _response(self, answer: str) -> ToolResponse:
        """Read the answer to a call; a response with the key ``error``, and a raised exception, are errors."""
        return ToolResponse(text=answer, error=protocol.error(answer))

    def _judge_request(self, task: AgentTask) -> dict[str, Any]:
        return {"do": "evaluate", "task": protocol.question(task)}

    def _encode(self, task: AgentTask, attempt: Attempt) -> Any:
        return protocol.attempted(task, attempt)

    def _verdict(self, task: AgentTask, attempt: Attempt, answer: dict[str, Any]) -> Verdict:
        return protocol.verdict(answer)
