"""Environments whose benchmark code answers in a worker process: what all of them share."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    ToolResponse,
    Trace,
    UnavailableError,
    Verdict,
    state_hash,
)
from agenthard.audit.execution.workers import WorkerPool, WorkerSession, why_not_contained
from agenthard.taxonomy.task import AgentTask, ToolCall

_SNAPSHOT = {"do": "snapshot"}


class WorkerBackedEnvironment(Environment):
    """Sends requests to a script that runs the benchmark's code in a worker.

    A subclass says which pool of workers executes a task and how tasks, calls and attempts are encoded. The worker
    belongs to the execution in which the environment was made.
    """

    def __init__(self) -> None:
        """Prepare; nothing is started yet."""
        self._execution = current_execution()
        self._session = WorkerSession()

    @abstractmethod
    def _pool_for(self, task: AgentTask) -> WorkerPool:
        """Return the workers that execute a task.

        Raises:
            UnavailableError: the task cannot be executed.
        """

    @abstractmethod
    def _reset_request(self, task: AgentTask) -> dict[str, Any]:
        """Return the request that sets up the state of a task."""

    @abstractmethod
    def _judge_request(self, task: AgentTask) -> dict[str, Any]:
        """Return the request that judges attempts at a task, without the attempts.

        Raises:
            UnavailableError: the evaluator cannot judge this task.
        """

    @abstractmethod
    def _encode(self, task: AgentTask, attempt: Attempt) -> Any:
        """Return an attempt as the script expects it."""

    @abstractmethod
    def _call_request(self, call: ToolCall) -> dict[str, Any]:
        """Return the request that carries out a call."""

    def _response(self, answer: Any) -> ToolResponse:
        """Read the answer to a call."""
        return ToolResponse(text=answer["text"], error=answer["error"])

    def _verdict(self, task: AgentTask, attempt: Attempt, answer: dict[str, Any]) -> Verdict:
        """Read the answer to an attempt."""
        return Verdict.model_validate(answer)

    def _why_stateless(self, task: AgentTask) -> str | None:
        """Return why a task that can be judged has no state to replay calls in; None when it has one."""
        return None

    def _why_not_contained(self) -> str | None:
        """Return why this machine cannot contain benchmark code; None when it can, or when that was accepted."""
        return why_not_contained(weak_isolation=self._execution.weak_isolation)

    def _open(self, task: AgentTask) -> None:
        self._session.open(task, self._pool_for(task))

    def reset(self, task: AgentTask) -> None:
        """Go to the initial state of a task.

        Raises:
            UnavailableError: the task cannot be executed, or has no state.
            ExecutionError: the benchmark's code rejects the initial state.
        """
        self._begin(task)
        self._session.reset(self._reset_request(task))

    def _begin(self, task: AgentTask) -> None:
        self._open(task)
        reason = self._why_stateless(task)
        if reason is not None:
            raise UnavailableError(reason)

    def call(self, call: ToolCall) -> ToolResponse:
        """Carry out one call."""
        return self._response(self._session.ask(self._call_request(call)))

    def snapshot(self) -> Any:
        """Return the state as the script reports it."""
        return self._session.ask(_SNAPSHOT)

    def trace(self, task: AgentTask, calls: Sequence[ToolCall]) -> Trace:
        """Execute calls from the initial state of a task in one round trip, with a look at the state after each.

        Raises:
            UnavailableError: the task cannot be executed, or has no state.
            ExecutionError: the benchmark's code rejects the initial state, or broke.
        """
        self._begin(task)
        requests = [self._reset_request(task), _SNAPSHOT]
        for call in calls:
            requests += [self._call_request(call), _SNAPSHOT]
        _, initial, *answers = self._session.ask_all(requests)
        hashes = _hashes([initial, *answers[1::2]])
        return Trace(hashes[0], list(zip(map(self._response, answers[::2]), hashes[1:], strict=True)))

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Judge one attempt from the initial state of the task."""
        [verdict] = self.evaluate_many(task, [attempt])
        if isinstance(verdict, ExecutionError):
            raise verdict
        return verdict

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionError]:
        """Judge many attempts at one task in one round trip; one that breaks the evaluator costs only its own verdict.

        Raises:
            UnavailableError: the task cannot be executed or judged.
        """
        self._open(task)
        request = self._judge_request(task)
        answers = self._session.judge(request, [self._encode(task, attempt) for attempt in attempts])
        return [
            answer if isinstance(answer, ExecutionError) else self._verdict(task, attempt, answer)
            for attempt, answer in zip(attempts, answers, strict=True)
        ]

    def close(self) -> None:
        """Give the worker back to its pool."""
        self._session.close()


def _hashes(states: Sequence[Any]) -> list[str]:
    """Hash states; one that is the same object as the one before has its hash."""
    found: list[str] = []
    for number, state in enumerate(states):
        found.append(found[-1] if number and state is states[number - 1] else state_hash(state))
    return found
