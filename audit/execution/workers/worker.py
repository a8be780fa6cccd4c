"""One limited process at a time, in which benchmark code answers requests; a new one costs a fork."""

import json
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.workers.channel import CLOSED, Channel, ChannelClosedError, ChannelTimeoutError
from agenthard.audit.execution.workers.isolation import Isolation, WeakIsolationError, note_use
from agenthard.audit.execution.workers.limits import Limits
from agenthard.audit.execution.workers.sandbox import Sandbox

STARTS = 2
"""How often a benchmark that cannot be imported is tried."""


class Worker:
    """Runs a benchmark's script in limited processes. One instance belongs to one thread at a time.

    The script defines ``setup()``, which imports the benchmark and returns ``serve(request)``, a generator of JSON
    values. It is imported once, in a process that sees no benchmark data; a worker process is forked from that one.
    """

    def __init__(self, python: Path, script: Path, limits: Limits | None = None, arguments: Sequence[str] = ()) -> None:
        """Prepare; nothing is started yet.

        Args:
            python: interpreter of the virtual environment that has the benchmark.
            script: file with ``setup()``.
            limits: what a process may use.
            arguments: what ``setup`` is called with.
        """
        self._python = python
        self._script = script
        self._limits = limits or Limits()
        self._arguments = tuple(arguments)
        self._sandbox: Sandbox | None = None
        self._channel: Channel | None = None
        self._failures: list[UnavailableError] = []
        self.isolation: Isolation | None = None
        """What the kernel contributes; known once a process was started."""

    @property
    def limits(self) -> Limits:
        """What a process may use."""
        return self._limits

    @property
    def fresh(self) -> bool:
        """Whether no process is at work, so that the next request starts one."""
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
        limits, count = self._limits, 0
        deadline, most = time.monotonic() + limits.request_seconds, channel.received + limits.request_bytes
        try:
            channel.send(json.dumps(request))
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
                    raise ChannelClosedError(
                        f"it gave more than {limits.request_bytes} bytes of answers to one request"
                    )
                if "value" in answer and count == answers:
                    raise ChannelClosedError("it gave more answers than it was asked for")
                if "value" in answer:
                    count += 1
                    yield answer["value"]
                elif "end" in answer:
                    return
                else:
                    raise ChannelClosedError(str(answer.get("failed", "its answer cannot be understood"))[:1000])
        except ChannelClosedError as ended:
            reason = self._end_and_tell() if str(ended) == CLOSED else str(ended)
            self.restart()
            raise ExecutionError(f"the benchmark's code was stopped: {reason}") from None
        except GeneratorExit:
            self.restart()
            raise

    def restart(self) -> None:
        """End the process, if there is one, so that the next request meets a new one."""
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
        """End the process; tells whether its host can say how it ended."""
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
        note_use(self._sandbox.isolation)
        return self._channel

    def _start(self) -> Sandbox:
        if len(self._failures) >= STARTS:
            raise UnavailableError(str(self._failures[-1]))
        try:
            started = Sandbox(self._python, self._script, self._limits, self._arguments)
        except WeakIsolationError:
            raise
        except UnavailableError as failure:
            self._failures.append(failure)
            raise
        self._failures.clear()
        self.isolation = started.isolation
        return started

    def _end_and_tell(self) -> str:
        """End the process, and say how it ended before that."""
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
