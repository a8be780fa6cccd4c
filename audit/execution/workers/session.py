"""One worker on loan, for one task at a time: what environments over workers have in common."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.workers.pool import WorkerPool
from agenthard.audit.execution.workers.worker import Worker
from agenthard.taxonomy.task import AgentTask


class WorkerSession:
    """Keeps a worker whose process never sees two tasks."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._pool: WorkerPool | None = None
        self._worker: Worker | None = None
        self._task: AgentTask | None = None

    def open(self, task: AgentTask, pool: WorkerPool) -> None:
        """Make sure that the worker is one of ``pool`` and that its process has seen no other task."""
        if pool is not self._pool:
            self.close()
        if self._worker is None:
            self._pool, self._worker = pool, pool.lease()
        if self._task is not task:
            self._worker.restart()
            self._task = task

    def reset(self, request: dict[str, Any]) -> None:
        """Send the request that sets up the state.

        Raises:
            ExecutionError: the process broke.
        """
        list(self._opened().ask(request, 1))

    def ask(self, request: dict[str, Any]) -> Any:
        """Send a request about the state, and return its one answer.

        Raises:
            ExecutionError: the process broke, or is gone and the state with it.
        """
        if self._worker is None or self._worker.fresh:
            raise ExecutionError("there is no state: the process of this task is gone; reset first")
        answers = list(self._worker.ask(request, 1))
        if not answers:
            raise ExecutionError("the benchmark's code gave no answer")
        return answers[0]

    def judge(self, request: dict[str, Any], attempts: Sequence[Any]) -> Iterator[dict[str, Any] | ExecutionError]:
        """Send attempts under the key ``attempts``, and stream an answer for each; a broken one costs only its own.

        All attempts together have the time of one request; those that are left then are failures.
        """
        worker, waiting = self._opened(), list(attempts)
        began, seconds = time.monotonic(), worker.limits.request_seconds
        while waiting:
            if time.monotonic() - began > seconds:
                late = f"not judged: the attempts before this one took more than {seconds:g} s"
                yield from (ExecutionError(late) for _ in waiting)
                return
            judged = 0
            failure = ExecutionError("the checker gave no verdict")
            try:
                for answer in worker.ask({**request, "attempts": waiting}, len(waiting)):
                    judged += 1
                    yield _verdict(answer)
            except ExecutionError as stopped:
                failure = stopped
            if judged < len(waiting):
                yield failure
            waiting = waiting[judged + 1 :]

    def close(self) -> None:
        """Give the worker back."""
        if self._pool is not None and self._worker is not None:
            self._pool.give_back(self._worker)
        self._pool = self._worker = self._task = None

    def _opened(self) -> Worker:
        if self._worker is None:
            raise ExecutionError("no task was opened")
        return self._worker


def _verdict(answer: Any) -> dict[str, Any] | ExecutionError:
    if not isinstance(answer, dict):
        return ExecutionError("the checker's answer cannot be understood")
    failed = answer.get("failed")
    return answer if failed is None else ExecutionError(f"the checker broke: {failed}")
