"""Lines of JSON between us and a process, with a deadline for each."""

import json
import socket
import time
from typing import Any

CHUNK_BYTES = 1 << 16
SEND_SECONDS = 60.0
CLOSED = "the process is gone"


class Ended(Exception):
    """No further answer will come."""


class Channel:
    """Lines of JSON over a socket, with a deadline for each."""

    def __init__(self, end: socket.socket) -> None:
        """Take over a connected socket."""
        self.socket = end
        self._buffer = bytearray()

    def send(self, line: str) -> None:
        """Send a line.

        Raises:
            Ended: when nobody reads it.
        """
        try:
            self.socket.settimeout(SEND_SECONDS)
            self.socket.sendall(line.encode() + b"\n")
        except OSError:
            raise Ended(CLOSED) from None

    def receive(self, seconds: float, most_bytes: int) -> dict[str, Any]:
        """Wait for the next line, a JSON object.

        Args:
            seconds: longest wait for the whole line.
            most_bytes: longest line.

        Raises:
            Ended: when it does not come, is too long, or is no object; ``CLOSED`` when the process is gone.
        """
        deadline = time.monotonic() + seconds
        end = searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > most_bytes:
                raise Ended(f"it gave an answer of more than {most_bytes} bytes")
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                chunk = self.socket.recv(CHUNK_BYTES)
            except TimeoutError:
                raise Ended(f"it gave no answer within {seconds:g} s") from None
            except OSError:
                chunk = b""
            if not chunk:
                raise Ended(CLOSED)
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Ended("its answer cannot be understood")
        return answer

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()
