"""The worker's side of jobs that need the command: a task of a cluster, or a process of its own.

It keeps nothing: it gets jobs over a connection to the command, does several at a time in one event loop, asks the
command where it has to, and ends when the connection does.
"""

import asyncio
import json
import pkgutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

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
Ask = Callable[[bytes], Awaitable[bytes]]
"""Asks the command something."""
Handler = Callable[[bytes, Ask], Awaitable[bytes]]
"""Does one job."""


class NotReachedError(InfrastructureError):
    """A worker cannot reach the process of the command."""

    code = "AH830"
    remedy = "Open the network between the workers and the machine of the command; it listens on a port that is free."


def serve_jobs(place: str, token: str, target: str) -> int:
    """Do jobs in this thread until the command ends the connection; return how many.

    Args:
        place: host and port of the command.
        token: its secret.
        target: what makes the handler from what the command sends first, as ``module:function``.

    Raises:
        NotReachedError: Nothing listens there.
    """
    return asyncio.run(_serve(place, token, target))


def serve_jobs_apart(place: str, token: str, target: str) -> int:
    """Do the same in a process of its own, for a worker that is a thread of the command.

    Raises:
        InfrastructureError: The process ended before its time.
    """
    words = json.dumps([place, token, target]).encode()
    command = [sys.executable, "-P", "-m", "agenthard.flows.scale_out.job_worker"]
    done = subprocess.run(command, input=words, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise InfrastructureError(f"a process that works for this command ended with exit code {done.returncode}")
    return int(done.stdout or 0)


async def _serve(place: str, token: str, target: str) -> int:
    host, _, port = place.rpartition(":")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(host, int(port))
    except OSError as error:
        raise NotReachedError(f"the command at {place} cannot be reached: {error or type(error).__name__}") from error
    try:
        keep_alive(writer)
        await write_frame(writer, Frame({"token": token}))
        hello = (await read_frame(reader)).body
        try:
            handler: Handler = pkgutil.resolve_name(target)(hello)
        except EXPECTED as error:
            await write_frame(writer, Frame({"refused": f"{error}"[:2000]}))
            return 0
        return await _Jobs(reader, writer, handler).run()
    except ConnectionBrokenError:
        return 0
    finally:
        await close_quietly(writer)


class _Jobs:
    """The jobs of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self._reader, self._writer, self._handler = reader, writer, handler
        self._asked = dict[int, asyncio.Future[bytes]]()
        self._tasks = set[asyncio.Task[None]]()
        self._done = 0

    async def run(self) -> int:
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
            return self._done
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
            self._done += 1

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
    """Do jobs for the command that standard input names."""
    place, token, target = json.loads(sys.stdin.buffer.read())
    print(serve_jobs(place, token, target))


if __name__ == "__main__":
    main()
