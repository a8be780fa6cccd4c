"""BFCL's own classes and checkers behind the interface of environments."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from audit.execution import venvs
from audit.execution.bfcl import native, questions
from audit.execution.environment import Attempt, Environment, ExecutionFailed, Observation, Unavailable, Verdict
from audit.execution.workers import WorkerPool, WorkerSession, why_not_contained
from taxonomy.task import AgentTask, ToolCall

RELEASE = "2025.7.17"
SCRIPT = Path(__file__).with_name("script.py")


@cache
def _pool(python: Path) -> WorkerPool:
    return WorkerPool(python, SCRIPT)


class BfclEnvironment(Environment):
    """Multi-turn tasks on the classes of bfcl-eval; all tasks of version 3 before its checkers.

    A call is run from its arguments; its source text counts only where that could not be read as one call. Attempts
    give values, no any-of nodes; Java and JavaScript values are written as source text of the documented type.
    """

    name = "bfcl-eval"

    def __init__(self, pool: WorkerPool | None = None) -> None:
        """Prepare; nothing is started yet.

        Args:
            pool: where workers come from; None means those of the managed environment, which all instances share.
        """
        self._own_pool = pool
        self._session = WorkerSession()

    def version(self) -> str:
        """Say which release runs."""
        return f"bfcl-eval {RELEASE}"

    def supports(self, task: AgentTask) -> str | None:
        """Say why a task cannot be executed; None when it can."""
        scoring = questions.SCORING.get(task.subtask)
        if scoring is None or scoring == "answer":
            return f"bfcl-eval {RELEASE} has no environment and no checker for the category {task.subtask!r}"
        if self._own_pool is None:
            try:
                venvs.find("bfcl", RELEASE)
            except Unavailable as missing:
                return str(missing)
        return why_not_contained()

    def reset(self, task: AgentTask) -> None:
        """Build the involved classes with the task's initial configuration.

        Raises:
            Unavailable: the task is single-turn: its functions are documented but do not exist.
            ExecutionFailed: the classes refuse the configuration.
        """
        self._open(task)
        if questions.SCORING[task.subtask] != "state":
            raise Unavailable("a single-turn task has no environment: its functions exist as documentation only")
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
        if isinstance(verdict, ExecutionFailed):
            raise verdict
        return verdict

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionFailed]:
        """Judge many attempts at one task in one round trip; one that breaks the checker costs only its own verdict.

        Raises:
            Unavailable: the task is not supported.
        """
        self._open(task)
        tries = [questions.attempted(task, attempt) for attempt in attempts]
        answers = self._session.judge({"do": "evaluate", "task": questions.question(task)}, tries)
        return [a if isinstance(a, ExecutionFailed) else questions.verdict(a) for a in answers]

    def close(self) -> None:
        """Give the worker back."""
        self._session.close()

    def _open(self, task: AgentTask) -> None:
        reason = self.supports(task)
        if reason:
            raise Unavailable(reason)
        self._session.open(task, self._own_pool or _pool(venvs.find("bfcl", RELEASE).python))
