"""Messages between a command and a worker over a TCP connection: a JSON object and some bytes, each with its length."""

import asyncio
import json
import socket
import struct
from contextlib import suppress
from typing import Any, NamedTuple

from agenthard.flows.errors import InfrastructureError

MOST_BYTES = 1 << 30
"""Bytes of one part of a message."""
_LENGTHS = struct.Struct("!II")
_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6))
"""A machine that vanishes without a word is noticed after 90 seconds."""


class ConnectionBrokenError(InfrastructureError):
    """A connection between a command and a worker ended, or what came over it is not a message."""

    code = "AH827"
    remedy = "Nothing: what was on its way goes to another worker."


class Frame(NamedTuple):
    """One message."""

    head: dict[str, Any]
    """What it is about."""
    body: bytes = b""
    """What it carries."""


async def read_frame(reader: asyncio.StreamReader, most: int = MOST_BYTES) -> Frame:
    """Read a message.

    Args:
        reader: the connection.
        most: bytes that a part may have.

    Raises:
        ConnectionBrokenError: The connection ended, or this is not a message.
    """
    try:
        lengths = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
        if max(lengths) > most:
            raise ConnectionBrokenError(f"a message of {max(lengths):,} bytes; at most {most:,} are read")
        head, body = [await reader.readexactly(length) for length in lengths]
        found = json.loads(head)
    except (EOFError, OSError, ValueError) as error:
        raise ConnectionBrokenError(f"the connection ended: {type(error).__name__}: {error}") from error
    if not isinstance(found, dict):
        raise ConnectionBrokenError("what came is not a message")
    return Frame(found, body)


async def write_frame(writer: asyncio.StreamWriter, frame: Frame) -> None:
    """Send a message.

    Raises:
        ConnectionBrokenError: The connection ended.
    """
    head = json.dumps(frame.head).encode()
    try:
        writer.write(_LENGTHS.pack(len(head), len(frame.body)) + head + frame.body)
        await writer.drain()
    except (OSError, RuntimeError, struct.error) as error:
        raise ConnectionBrokenError(f"the connection ended: {type(error).__name__}: {error}") from error


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Let the system ask whether the other side is still there, and send small messages at once."""
    found = writer.get_extra_info("socket")
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    with suppress(OSError):
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for name, value in _KEEP_ALIVE:
            if hasattr(socket, name):  # not every system has all of them
                found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def close_quietly(writer: asyncio.StreamWriter) -> None:
    """Close a connection that the other side may have closed already."""
    writer.close()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()
