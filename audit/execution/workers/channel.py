"""Lines of JSON between us and a process, with a deadline for each."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from agenthard.taxonomy.errors import AgentHardError

CHUNK_BYTES = 1 << 16
SEND_SECONDS = 60.0
CLOSED = "the process is gone"
MOST_LEVELS = 100
"""Deepest nesting of an answer: what reads it later calls itself a few times for each level."""


class _Waited(threading.local):
    seconds = 0.0


_waited = _Waited()


def waited_seconds() -> float:
    """Return how long this thread has waited for processes of benchmark code so far, their start included."""
    return _waited.seconds


@contextmanager
def waiting() -> Iterator[None]:
    """Count the time of the block as time that this thread waits for a process of benchmark code."""
    began = time.perf_counter()
    try:
        yield
    finally:
        _waited.seconds += time.perf_counter() - began


class ChannelClosedError(AgentHardError):
    """No further answer will come."""

    code = "AH307"
    remedy = "Run the task again. If it happens each time, `agenthard replay` on the task shows what ends the worker."


class ChannelTimeoutError(ChannelClosedError):
    """No answer came in time."""

    code = "AH308"
    remedy = "Run the task again on a less busy machine. If it happens each time, the benchmark's code does not end."


class Channel:
    """Lines of JSON over a socket, with a deadline for each."""

    def __init__(self, end: socket.socket) -> None:
        """Take over a connected socket."""
        self.socket = end
        self.received = 0
        """Bytes of all lines so far."""
        self._buffer = bytearray()
        self._read = lru_cache(maxsize=4)(_read)  # most calls leave the state as it was

    def send(self, line: str) -> None:
        """Send a line.

        Raises:
            ChannelClosedError: when the other end is closed.
        """
        try:
            self.socket.settimeout(SEND_SECONDS)
            self.socket.sendall(line.encode() + b"\n")
        except OSError:
            raise ChannelClosedError(CLOSED) from None

    def receive(self, seconds: float, most_bytes: int) -> dict[str, Any]:
        """Wait for the next line, a JSON object; a line that came shortly before gives the same object again.

        Args:
            seconds: longest wait for the whole line.
            most_bytes: longest line.

        Raises:
            ChannelTimeoutError: when it does not come in time.
            ChannelClosedError: when it is too long, is not an object, is nested too deeply or holds half a surrogate
                pair; ``CLOSED`` when the process is gone.
        """
        deadline = time.monotonic() + seconds
        end = searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > most_bytes:
                raise ChannelClosedError(f"it gave an answer of more than {most_bytes} bytes")
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                with waiting():
                    chunk = self.socket.recv(CHUNK_BYTES)
            except TimeoutError:
                raise ChannelTimeoutError(f"it gave no answer within {seconds:g} s") from None
            except OSError:
                chunk = b""
            if not chunk:
                raise ChannelClosedError(CLOSED)
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self.received += len(line)
        if len(line) > most_bytes:
            raise ChannelClosedError(f"it gave an answer of more than {most_bytes} bytes")
        return self._read(line)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()


def _read(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
        if b"\\ud" in line or b"\\uD" in line:
            json.dumps(answer, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # text with half a surrogate pair is a ValueError as well
        answer = None
    if not isinstance(answer, dict):
        raise ChannelClosedError("its answer cannot be understood")
    if line.count(b"[") + line.count(b"{") > MOST_LEVELS and _levels(answer) > MOST_LEVELS:
        raise ChannelClosedError(f"its answer is nested more than {MOST_LEVELS} levels deep")
    return answer


def _levels(value: Any) -> int:
    """Count how deep a value is nested, level by level and without a call for each."""
    levels, held = 0, [value]
    while held:
        inside = (item.values() if isinstance(item, dict) else item for item in held)
        held = [item for items in inside for item in items if isinstance(item, (dict, list))]
        levels += 1
    return levels
