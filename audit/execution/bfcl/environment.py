"""BFCL's own classes and checkers behind the interface of environments."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agenthard.audit.execution.bfcl import native, questions
from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    Observation,
    UnavailableError,
    Verdict,
)
from agenthard.audit.execution.managed_environments import release_of
from agenthard.audit.execution.workers import WorkerPool, WorkerSession, why_not_contained
from agenthard.audit.sources.bfcl.layout import find_layout
from agenthard.audit.sources.bfcl.reader import content_hashes
from agenthard.taxonomy.task import AgentTask, ToolCall

SCRIPT = Path(__file__).with_name("script.py")


@cache
def _pool(python: Path) -> WorkerPool:
    return WorkerPool(python, SCRIPT)


def _contents(data: Path) -> Iterator[str]:
    return content_hashes(find_layout(data))


class BfclEnvironment(Environment):
    """Multi-turn tasks on the classes of bfcl-eval; all tasks whose calls are scored before its checkers.

    Each task is executed by the installed release that has it; one that is in none is not executed.

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
        self._own_pool = pool
        self._release = ""
        self._session = WorkerSession()

    def version(self) -> str:
        """Say which release runs the task that was asked about last."""
        return self._release or "no release yet"

    def supports(self, task: AgentTask) -> str | None:
        """Say why a task cannot be executed; None when it can."""
        reason = questions.not_executed(task)
        if reason is None and self._own_pool is None:
            try:
                self._pool_of(task)
            except UnavailableError as missing:
                return str(missing)
        return reason or why_not_contained()

    def reset(self, task: AgentTask) -> None:
        """Build the involved classes with the task's initial configuration.

        Raises:
            UnavailableError: the task is single-turn: its functions are documented but do not exist.
            ExecutionError: the classes refuse the configuration.
        """
        self._open(task)
        if questions.SCORING[task.subtask] != "state":
            raise UnavailableError("a single-turn task has no environment: its functions exist as documentation only")
        self._session.reset({"do": "reset", "task": questions.session(task)})

    def call(self, call: ToolCall) -> Observation:
        """Carry out one call. A response with the key ``error``, and a raised exception, are errors."""
        text = self._session.ask({"do": "call", "text": native.python_call(call)})
        return Observation(text=text, error=questions.error(text))

    def snapshot(self) -> Any:
        """Return the public attributes of each class, as the state check compares them."""
        return self._session.ask({"do": "snapshot"})

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Let the package's checker judge an attempt; one with fewer turns did nothing in the rest."""
        [verdict] = self.evaluate_many(task, [attempt])
        if isinstance(verdict, ExecutionError):
            raise verdict
        return verdict

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionError]:
        """Judge many attempts at one task in one round trip; one that breaks the checker costs only its own verdict.

        Raises:
            UnavailableError: the task is not supported.
        """
        self._open(task)
        tries = [questions.attempted(task, attempt) for attempt in attempts]
        answers = self._session.judge({"do": "evaluate", "task": questions.question(task)}, tries)
        return [a if isinstance(a, ExecutionError) else questions.verdict(a) for a in answers]

    def close(self) -> None:
        """Give the worker back."""
        self._session.close()

    def _open(self, task: AgentTask) -> None:
        reason = questions.not_executed(task)
        if reason:
            raise UnavailableError(f"{task.id}: {reason}")
        self._session.open(task, self._own_pool or self._pool_of(task))

    def _pool_of(self, task: AgentTask) -> WorkerPool:
        release = release_of(task, _contents)
        self._release = release.version
        return _pool(release.python)
