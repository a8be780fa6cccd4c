"""Workers, pools and sessions: limited processes in which benchmark code answers requests."""

import atexit
import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.workers.channel import CLOSED, Channel, ChannelClosedError, ChannelTimeoutError
from agenthard.audit.execution.workers.isolation import WeakIsolationError, WorkerLimits
from agenthard.audit.execution.workers.sandbox import Sandbox
from agenthard.containment.isolation import Isolation
from agenthard.taxonomy.task import AgentTask

STARTS = 2
"""How often the import of a benchmark is tried."""


class Worker:
    """Runs a benchmark's script in limited processes. One instance belongs to one thread at a time.

    The script defines ``setup()``, which imports the benchmark and returns ``serve(request)``, a generator of JSON
    values. It is imported once, in a process that sees no benchmark data; a worker process is forked from that one.
    """

    def __init__(
        self,
        python: Path,
        script: Path,
        limits: WorkerLimits | None = None,
        arguments: Sequence[str] = (),
        *,
        weak_isolation: bool = False,
        isolations: set[str] | None = None,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            python: interpreter of the virtual environment that has the benchmark.
            script: file with ``setup()``.
            limits: limits of a process.
            arguments: what ``setup`` is called with.
            weak_isolation: run benchmark code although this machine lacks a layer of isolation.
            isolations: collects the isolations under which benchmark code ran.
        """
        self._python = python
        self._script = script
        self._limits = limits or WorkerLimits()
        self._arguments = tuple(arguments)
        self._weak_isolation = weak_isolation
        self._isolations = set() if isolations is None else isolations
        self._sandbox: Sandbox | None = None
        self._channel: Channel | None = None
        self._failures: list[UnavailableError] = []
        self.isolation: Isolation | None = None
        """What the kernel contributes; known once a process was started."""

    @property
    def limits(self) -> WorkerLimits:
        """What a process may use."""
        return self._limits

    @property
    def fresh(self) -> bool:
        """Whether no process is running; the next request starts one."""
        return self._channel is None

    def ask(self, request: Any, answers: int | None = None) -> Iterator[Any]:
        """Send a request and stream its answers.

        Args:
            request: JSON data.
            answers: how many answers there can be at most; one more ends the process. None: as many as the limits
                of a request let through.

        Raises:
            ExecutionError: when the process broke, was stopped at a limit or did what it must not; the message says
                why. The process is gone then, and the next request starts a new one.
            UnavailableError: when no process can be started.
        """
        channel = self._channel or self._fork()
        with self._ended_when_broken():
            channel.send(json.dumps(request))
            yield from self._answers(channel, answers)

    def ask_all(self, requests: Sequence[Any]) -> list[Any]:
        """Send requests together, and return the one answer to each; the limits of a request hold for each.

        Args:
            requests: JSON objects. They are carried out in order, all by one process.

        Raises:
            ExecutionError: as for one request; what was answered before is lost.
            UnavailableError: when no process can be started.
        """
        channel = self._channel or self._fork()
        found: list[Any] = []
        with self._ended_when_broken():
            channel.send(json.dumps(requests))
            for _ in requests:
                answers = list(self._answers(channel, 1))
                if not answers:
                    raise ChannelClosedError("it gave no answer")
                found += answers
        return found

    def _answers(self, channel: Channel, answers: int | None) -> Iterator[Any]:
        """Yield the answers to a request that was sent, within the limits of a request."""
        limits, count = self._limits, 0
        deadline, most = time.monotonic() + limits.request_seconds, channel.received + limits.request_bytes
        while True:
            left = deadline - time.monotonic()
            try:
                answer = channel.receive(min(limits.wall_seconds, left), limits.answer_bytes)
            except ChannelTimeoutError:
                if left > limits.wall_seconds:
                    raise
                left = 0
            if left <= 0:
                raise ChannelClosedError(f"it took more than {limits.request_seconds:g} s for one request")
            if channel.received > most:
                raise ChannelClosedError(f"it gave more than {limits.request_bytes} bytes of answers to one request")
            if "value" in answer and count == answers:
                raise ChannelClosedError("it gave more answers than it was asked for")
            if "value" in answer:
                count += 1
                yield answer["value"]
            elif "end" in answer:
                return
            else:
                raise ChannelClosedError(str(answer.get("failed", "its answer cannot be understood"))[:1000])

    @contextmanager
    def _ended_when_broken(self) -> Iterator[None]:
        """End the process when the block is left before all answers were read."""
        try:
            yield
        except ChannelClosedError as ended:
            reason = self._end_and_tell() if str(ended) == CLOSED else str(ended)
            self.restart()
            raise ExecutionError(f"the benchmark's code was stopped: {reason}") from None
        except GeneratorExit:
            self.restart()
            raise

    def restart(self) -> None:
        """End the process, if there is one; the next request starts a new one."""
        if self._channel is not None:
            self._end()

    def close(self) -> None:
        """End all processes and remove their folder."""
        if self._channel is not None:
            self._channel.close()
        if self._sandbox is not None:
            self._sandbox.close()
        self._channel = self._sandbox = None

    def _end(self) -> bool:
        """End the process; return whether its host can report how it ended."""
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        try:
            if self._sandbox is not None:
                self._sandbox.end_worker()
        except ChannelClosedError:
            self.close()
        return self._sandbox is not None

    def _fork(self) -> Channel:
        self._sandbox = self._sandbox or self._start()
        self._channel = self._sandbox.fork()
        self._isolations.add(str(self._sandbox.isolation))
        return self._channel

    def _start(self) -> Sandbox:
        if len(self._failures) >= STARTS:
            raise UnavailableError(str(self._failures[-1]))
        try:
            started = Sandbox(
                self._python, self._script, self._limits, self._arguments, weak_isolation=self._weak_isolation
            )
        except WeakIsolationError:
            raise
        except UnavailableError as failure:
            self._failures.append(failure)
            raise
        self._failures.clear()
        self.isolation = started.isolation
        return started

    def _end_and_tell(self) -> str:
        """End the process, and return how it had ended."""
        try:
            status = self._sandbox.status() if self._end() and self._sandbox else None
        except ChannelClosedError:
            status = None
        limits = self._limits
        if status is None:
            return "its host broke down"
        if status == -signal.SIGXCPU:
            return f"it used more than {limits.cpu_seconds} s of processor time"
        if status == -signal.SIGXFSZ:
            return f"it wrote a file of more than {limits.file_bytes} bytes"
        if status == -signal.SIGKILL:
            return (
                f"it was killed: it used more than {limits.process_cpu_seconds} s of processor time, or memory ran out"
            )
        if -status in set(signal.Signals):
            return f"it was ended by {signal.Signals(-status).name}"
        return f"it ended itself with exit code {status}"


class WorkerPool:
    """Lends workers to environments and reuses them; it has as many as are leased at the same time."""

    def __init__(
        self,
        python: Path,
        script: Path,
        limits: WorkerLimits | None = None,
        arguments: Sequence[str] = (),
        *,
        weak_isolation: bool = False,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            python: interpreter of the virtual environment that has the benchmark.
            script: file with ``setup()``, see :class:`Worker`.
            limits: limits of a process.
            arguments: what ``setup`` is called with.
            weak_isolation: run benchmark code although this machine lacks a layer of isolation.
        """
        self._python = python
        self._script = script
        self._limits = limits
        self._arguments = tuple(arguments)
        self._weak_isolation = weak_isolation
        self.isolations: set[str] = set()
        """Isolations under which benchmark code ran, as text."""
        self._idle: list[Worker] = []
        self._all: WeakSet[Worker] = WeakSet()
        self._owner = os.getpid()
        self._lock = threading.Lock()
        atexit.register(self.close)

    def lease(self) -> Worker:
        """Lend a free worker. A process that was forked from ours gets its own workers."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner, self._idle, self._all = os.getpid(), [], WeakSet()
            worker = self._idle.pop() if self._idle else self._new()
            self._all.add(worker)
            return worker

    def _new(self) -> Worker:
        return Worker(
            self._python,
            self._script,
            self._limits,
            self._arguments,
            weak_isolation=self._weak_isolation,
            isolations=self.isolations,
        )

    def give_back(self, worker: Worker) -> None:
        """Take a worker back and end its process, so that the next lease starts with a new one."""
        worker.restart()
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """End all workers, including those in use."""
        atexit.unregister(self.close)
        with self._lock:
            workers, self._idle, self._all = list(self._all), [], WeakSet()
        for worker in workers if self._owner == os.getpid() else ():
            worker.close()


class WorkerSession:
    """Leases a worker, and restarts its process for each task.

    Variants of a task, such as one with another initial state, share its process: they have its id.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._pool: WorkerPool | None = None
        self._worker: Worker | None = None
        self._task: tuple[str, str] | None = None
        """Benchmark and id of the task that the process has seen."""

    def open(self, task: AgentTask, pool: WorkerPool) -> None:
        """Lease a worker of ``pool``, with a process that has seen no other task."""
        if pool is not self._pool:
            self.close()
        if self._worker is None:
            self._pool, self._worker = pool, pool.lease()
        if self._task != (task.benchmark, task.id):
            self._worker.restart()
            self._task = (task.benchmark, task.id)

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
            raise ExecutionError("the state is lost: the process of this task is gone; reset first")
        answers = list(self._worker.ask(request, 1))
        if not answers:
            raise ExecutionError("the benchmark's code gave no answer")
        return answers[0]

    def ask_all(self, requests: Sequence[dict[str, Any]]) -> list[Any]:
        """Send requests of which the first sets up the state, and return the one answer to each.

        Raises:
            ExecutionError: the process broke.
        """
        return self._opened().ask_all(requests)

    def judge(self, request: dict[str, Any], attempts: Sequence[Any]) -> Iterator[dict[str, Any] | ExecutionError]:
        """Send attempts under the key ``attempts``, and stream an answer for each.

        An attempt that breaks the checker costs only its own verdict. All attempts together have the
        time of one request; those that are left after it are errors.
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
