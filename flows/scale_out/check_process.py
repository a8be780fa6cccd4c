"""A process that checks shards for a worker: ``python -m agenthard.flows.scale_out.check_process``.

Limits on CPU time need the main thread of a process, which workers of Prefect and Dask do not give; and a worker whose
checks run elsewhere answers its scheduler meanwhile. Requests and answers are lines of JSON on standard input and
output. The process ends when its input ends, so it never outlives its worker.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from agenthard.flows.errors import InfrastructureError
from agenthard.taxonomy.errors import AgentHardError


class LostProcessError(InfrastructureError):
    """The process that checked a shard ended: it was killed, or memory was short."""

    code = "AH824"
    remedy = "Give the worker more memory, and run the same command again; finished shards are kept."


class CheckProcess:
    """A process that checks one shard at a time; it is started at the first request, and again when it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def check(self, store: str, audit: str, number: int) -> int:
        """Check a shard and return how many tasks it has.

        Raises:
            LostProcessError: The process ended.
            RemoteCheckError: The shard could not be checked; the message says why.
        """
        process = self._process = self._running()
        request = json.dumps({"store": store, "audit": audit, "number": number}).encode() + b"\n"
        try:
            _stream(process.stdin).write(request)
            _stream(process.stdin).flush()
            answer = _stream(process.stdout).readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            code = process.wait()
            self.close()
            raise LostProcessError(f"the process that checked shard {number} ended with exit code {code}")
        said = json.loads(answer)
        if "error" in said:
            raise RemoteCheckError(said["error"], repeatable=said["repeatable"])
        return int(said["tasks"])

    def close(self) -> None:
        """End the process at once."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                _stream(stream).close()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        command = [sys.executable, "-P", "-m", "agenthard.flows.scale_out.check_process"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class RemoteCheckError(InfrastructureError):
    """A worker could not check a shard; the message is that of the worker."""

    code = "AH825"
    remedy = "Remove the cause that the message names, and run the same command again; finished shards are kept."

    def __init__(self, message: str, *, repeatable: bool) -> None:
        super().__init__(message)
        self.repeatable = repeatable
        """Whether another attempt may succeed."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the attribute on the way from a worker."""
        return _remote_error, (str(self), self.repeatable)


def _remote_error(message: str, repeatable: bool) -> RemoteCheckError:
    return RemoteCheckError(message, repeatable=repeatable)


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def main() -> None:
    """Answer requests until the input ends."""
    from agenthard.flows.scale_out.shard_check import check_stored_shard

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what code of a benchmark prints does not reach the worker
    for line in _requests():
        asked = json.loads(line)
        try:
            said: dict[str, Any] = {"tasks": check_stored_shard(asked["store"], asked["audit"], asked["number"])}
        except (AgentHardError, OSError, MemoryError) as error:
            said = {"error": f"{error}"[:2000], "repeatable": not isinstance(error, _final())}
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()


def _final() -> tuple[type[BaseException], ...]:
    """Errors after which another attempt ends in the same way."""
    from agenthard.flows.scale_out.surroundings import DifferentWorkerError
    from agenthard.taxonomy.errors import MissingExtraError

    return DifferentWorkerError, MissingExtraError


def _requests() -> Iterator[bytes]:
    """Yield the lines of standard input; the process ends at once when it ends, even while a shard is checked."""
    lines = SimpleQueue[bytes]()

    def read() -> None:
        for line in sys.stdin.buffer:
            lines.put(line)
        os._exit(0)

    Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()


if __name__ == "__main__":
    main()
