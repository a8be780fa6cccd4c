"""One limited process at a time, in which benchmark code answers requests; a new one costs a fork."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from audit.execution.environment import ExecutionFailed, Unavailable
from audit.execution.workers.channel import CLOSED, Channel, Ended
from audit.execution.workers.limits import Limits
from taxonomy.record import Record

HOST = Path(__file__).with_name("host.py")
START_SECONDS = 60.0
HOST_SECONDS = 10.0
MESSAGE_BYTES = 4096
ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PATH": "", "PYTHONHASHSEED": "0", "TZ": "UTC"}
"""All environment variables of a worker, so that its answers depend on nothing else."""


class Isolation(Record):
    """What the kernel contributes to the containment of workers on this machine."""

    network_namespace: bool
    """Whether workers have a network namespace of their own, without any network."""
    landlock: int
    """Version of Landlock that confines writing to the worker's folder; 0 = only the interpreter is watched."""


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
        self._folder: Path | None = None
        self._host: subprocess.Popen[bytes] | None = None
        self._control: Channel | None = None
        self._channel: Channel | None = None
        self.isolation: Isolation | None = None
        """What the kernel contributes; known once a process was started."""

    @property
    def fresh(self) -> bool:
        """Whether no process is at work, so that the next request starts one."""
        return self._channel is None

    def ask(self, request: Any) -> Iterator[Any]:
        """Send a request and stream its answers.

        Raises:
            ExecutionFailed: when the process broke, was stopped at a limit or did what it must not; the message says
                why. The process is gone then, and the next request starts a new one.
            Unavailable: when no process can be started.
        """
        channel = self._channel or self._fork()
        try:
            channel.send(json.dumps(request))
            while True:
                answer = channel.receive(self._limits.wall_seconds, self._limits.answer_bytes)
                if "value" in answer:
                    yield answer["value"]
                elif "end" in answer:
                    return
                else:
                    raise Ended(str(answer.get("failed", "its answer cannot be understood")))
        except Ended as ended:
            ending = self._end()
            reason = self._reason(ending) if str(ended) == CLOSED else str(ended)
            raise ExecutionFailed(f"the benchmark's code was stopped: {reason}") from None
        except GeneratorExit:
            self.restart()
            raise

    def restart(self) -> None:
        """End the process, if there is one, so that the next request meets a new one."""
        if self._channel is not None:
            self._end()

    def _end(self) -> bool:
        """End the process; tells whether the host can say how it ended."""
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        try:
            pid = self._told("pid")
            for end in (os.killpg, os.kill):
                with suppress(ProcessLookupError, PermissionError):
                    end(pid, signal.SIGKILL)
            self._host_channel().send(str(pid))
        except Ended:
            self.close()
            return False
        return True

    def _told(self, what: str) -> int:
        """Read the next number of a kind from the host, past those that nobody asked for."""
        while True:
            message = self._host_channel().receive(HOST_SECONDS, MESSAGE_BYTES)
            if what in message:
                return int(message[what])

    def _host_channel(self) -> Channel:
        if self._control is None:
            raise Ended(CLOSED)
        return self._control

    def close(self) -> None:
        """End all processes and remove their folder."""
        for channel in (self._channel, self._control):
            if channel is not None:
                channel.close()
        self._channel = self._control = None
        if self._host is not None:
            self._host.kill()
            self._host.wait()
            self._host = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _fork(self) -> Channel:
        control = self._control or self._start()
        ours, theirs = socket.socketpair()
        with theirs, suppress(OSError):  # a host that is gone shows itself when the answer is read
            socket.send_fds(control.socket, [b"fork"], [theirs.fileno()])
        self._channel = Channel(ours)
        return self._channel

    def _start(self) -> Channel:
        if sys.platform != "linux":
            raise Unavailable("benchmark code runs on Linux only: elsewhere it could not be contained")
        self._folder = Path(tempfile.mkdtemp(prefix="agenthard-"))
        log = self._folder / "host.log"
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        limits = self._limits.model_dump_json()
        command: list[str | Path] = [
            self._python,
            "-s",
            "-P",
            "-B",
            HOST,
            str(theirs.fileno()),
            self._script,
            self._folder,
            limits,
            *self._arguments,
        ]
        with theirs, log.open("wb") as errors:
            try:
                self._host = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    env=ENVIRONMENT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                self.close()
                raise Unavailable(f"{self._python} cannot be run: {error}; remove the environment, create it") from None
        self._control = Channel(ours)
        try:
            self.isolation = Isolation.model_validate(self._control.receive(START_SECONDS, MESSAGE_BYTES)["ready"])
        except (Ended, KeyError):
            lines = log.read_text("utf-8", errors="replace").strip().splitlines()
            self.close()
            reason = lines[-1] if lines else "it gave no answer"
            raise Unavailable(f"{self._script.name} cannot be run by {self._python}: {reason}") from None
        return self._control

    def _reason(self, known: bool) -> str:
        try:
            status = self._told("status") if known else None
        except Ended:
            status = None
        if status is None:
            return "its host broke down"
        if status == -signal.SIGXCPU:
            return f"it used more than {self._limits.cpu_seconds} s of processor time"
        if status == -signal.SIGXFSZ:
            return f"it wrote a file of more than {self._limits.file_bytes} bytes"
        if status < 0:
            return f"it was ended by {signal.Signals(-status).name}"
        return f"it ended itself with exit code {status}"
