"""One worker on loan, for one task at a time: what environments over workers have in common."""

from collections.abc import Iterator, Sequence
from typing import Any

from audit.execution.environment import ExecutionFailed
from audit.execution.workers.pool import WorkerPool
from audit.execution.workers.worker import Worker
from taxonomy.task import AgentTask


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
            ExecutionFailed: the process broke.
        """
        list(self._opened().ask(request))

    def ask(self, request: dict[str, Any]) -> Any:
        """Send a request about the state, and return its one answer.

        Raises:
            ExecutionFailed: the process broke, or is gone and the state with it.
        """
        if self._worker is None or self._worker.fresh:
            raise ExecutionFailed("there is no state: the process of this task is gone; reset first")
        [answer] = self._worker.ask(request)
        return answer

    def judge(self, request: dict[str, Any], attempts: Sequence[Any]) -> Iterator[dict[str, Any] | ExecutionFailed]:
        """Send attempts under the key ``attempts``, and stream an answer for each; a broken one costs only its own."""
        worker, waiting = self._opened(), list(attempts)
        while waiting:
            judged = 0
            failure = ExecutionFailed("the checker gave no verdict")
            try:
                for answer in worker.ask({**request, "attempts": waiting}):
                    judged += 1
                    failed = answer.get("failed")
                    yield answer if failed is None else ExecutionFailed(f"the checker broke: {failed}")
            except ExecutionFailed as stopped:
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
            raise ExecutionFailed("no task was opened")
        return self._worker
