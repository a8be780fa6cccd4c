"""The worker's side of jobs that need the command: a task of a cluster, or a process of its own.

It keeps nothing: it gets jobs over a connection to the command, does several at a time in one event loop, asks the
command where it has to, and ends when the connection does.
"""

import asyncio
import json
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread

from agenthard.flows.errors import EXPECTED, InfrastructureError
from agenthard.flows.scale_out.frames import (
    ConnectionBrokenError,
    Frame,
    close_quietly,
    keep_alive,
    read_frame,
    write_frame,
)

CONNECT_SECONDS = 30.0
"""Time for reaching the command."""
_NOT_REACHED = 9
Ask = Callable[[bytes], Awaitable[bytes]]
"""Asks the command something."""
Handler = Callable[[bytes, Ask], Awaitable[bytes]]
"""Does one job."""


class LostWorkerError(InfrastructureError):
    """A worker cannot reach the process of the command, or its process ended."""

    code = "AH830"
    remedy = "Open the network between workers and command, which listens on a free port; or give workers more memory."


def serve_jobs(place: str, token: str, target: str) -> None:
    """Do jobs in a process of this worker until the command ends the connection.

    Limits on CPU time need the main thread of a process, which a worker of a cluster does not give.

    Args:
        place: host and port of the command.
        token: its secret.
        target: what makes the handler from what the command sends first, as ``module:function``.

    Raises:
        LostWorkerError: The process ended before its time; it has written why.
    """
    command = [sys.executable, "-P", "-m", "agenthard.flows.scale_out.job_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps([place, token, target]).encode() + b"\n")
                process.stdin.flush()
            code = process.wait()
        finally:
            process.kill()
    if code == _NOT_REACHED:
        raise LostWorkerError(f"a worker cannot reach the command at {place}")
    if code:
        raise LostWorkerError(f"the process of a worker ended with exit code {code}")


async def _serve(place: str, token: str, target: str) -> None:
    """Do jobs until the connection ends; an OSError says that the command cannot be reached."""
    host, _, port = place.rpartition(":")
    async with asyncio.timeout(CONNECT_SECONDS):
        reader, writer = await asyncio.open_connection(host, int(port))
    try:
        keep_alive(writer)
        await write_frame(writer, Frame({"token": token}))
        hello = (await read_frame(reader)).body
        try:
            handler: Handler = pkgutil.resolve_name(target)(hello)
        except EXPECTED as error:
            await write_frame(writer, Frame({"refused": f"{error}"[:2000]}))
        else:
            await _Jobs(reader, writer, handler).run()
    except ConnectionBrokenError:
        pass
    finally:
        await close_quietly(writer)


class _Jobs:
    """The jobs of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self._reader, self._writer, self._handler = reader, writer, handler
        self._asked = dict[int, asyncio.Future[bytes]]()
        self._tasks = set[asyncio.Task[None]]()

    async def run(self) -> None:
        """Do jobs until the connection ends."""
        await write_frame(self._writer, Frame({"ready": True}))
        try:
            while True:
                frame = await read_frame(self._reader)
                if "answer" in frame.head:
                    self._asked.pop(frame.head["answer"]).set_result(frame.body)
                    continue
                task = asyncio.create_task(self._do(frame))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except ConnectionBrokenError:
            return
        finally:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, frame: Frame) -> None:
        head = {"job": frame.head["job"]}
        try:
            result = await self._handler(frame.body, self._ask)
        except Exception as error:  # noqa: BLE001 - the command says what failed; this worker goes on
            head["failed"], result = f"{type(error).__name__}: {error}"[:2000], b""
        with suppress(ConnectionBrokenError):
            await write_frame(self._writer, Frame(head, result))

    async def _ask(self, question: bytes) -> bytes:
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        number = id(answer)
        self._asked[number] = answer
        try:
            await write_frame(self._writer, Frame({"ask": number}, question))
            return await answer
        finally:
            self._asked.pop(number, None)


def main() -> None:
    """Do jobs for the command that standard input names, and end at once when that ends, as it does with the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    place, token, target = json.loads(sys.stdin.buffer.readline())

    def follow() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    Thread(target=follow, daemon=True).start()
    try:
        asyncio.run(_serve(place, token, target))
    except OSError:
        os._exit(_NOT_REACHED)
    os._exit(0)  # without waiting for the thread that reads


if __name__ == "__main__":
    main()
