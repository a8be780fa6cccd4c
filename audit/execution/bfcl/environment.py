"""BFCL's own classes and checkers behind the interface of environments."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from audit.execution import venvs
from audit.execution.bfcl import native, questions
from audit.execution.environment import Attempt, Environment, ExecutionFailed, Observation, Unavailable, Verdict
from audit.execution.workers import Worker, WorkerPool
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
        self._lent: tuple[WorkerPool, Worker] | None = None
        self._task: AgentTask | None = None

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
        return None

    def reset(self, task: AgentTask) -> None:
        """Build the involved classes with the task's initial configuration.

        Raises:
            Unavailable: the task is single-turn: its functions are documented but do not exist.
            ExecutionFailed: the classes refuse the configuration.
        """
        worker = self._worker_for(task)
        if questions.SCORING[task.subtask] != "state":
            raise Unavailable("a single-turn task has no environment: its functions exist as documentation only")
        list(worker.ask({"do": "reset", "task": questions.session(task)}))

    def call(self, call: ToolCall) -> Observation:
        """Carry out one call. A response with the key ``error``, and a raised exception, are errors."""
        text = self._ask({"do": "call", "text": native.python_call(call)})
        return Observation(text=text, error=questions.error(text))

    def snapshot(self) -> Any:
        """Return the public attributes of each class, as the state check compares them."""
        return self._ask({"do": "snapshot"})

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
        return list(self._verdicts(task, attempts))

    def close(self) -> None:
        """Give the worker back."""
        if self._lent is not None:
            pool, worker = self._lent
            pool.give_back(worker)
        self._lent = self._task = None

    def _verdicts(self, task: AgentTask, attempts: Sequence[Attempt]) -> Iterator[Verdict | ExecutionFailed]:
        worker = self._worker_for(task)
        about = questions.question(task)
        waiting = [questions.attempted(task, attempt) for attempt in attempts]
        while waiting:
            judged = 0
            failure = ExecutionFailed("the checker gave no verdict")
            try:
                for answer in worker.ask({"do": "evaluate", "task": about, "attempts": waiting}):
                    judged += 1
                    yield questions.verdict(answer)
            except ExecutionFailed as stopped:
                failure = stopped
            if judged < len(waiting):
                yield failure
            waiting = waiting[judged + 1 :]

    def _worker_for(self, task: AgentTask) -> Worker:
        """Return a worker whose process has seen no other task."""
        reason = self.supports(task)
        if reason:
            raise Unavailable(reason)
        if self._lent is None:
            pool = self._own_pool or _pool(venvs.find("bfcl", RELEASE).python)
            self._lent = pool, pool.lease()
        _, worker = self._lent
        if self._task is not task:
            worker.restart()
            self._task = task
        return worker

    def _ask(self, request: dict[str, Any]) -> Any:
        if self._lent is None or self._lent[1].fresh:
            raise ExecutionFailed("there is no state: the process of this task is gone; reset first")
        [answer] = self._lent[1].ask(request)
        return answer
