"""The command's side of work that needs the command: it listens, hands out jobs, and answers what workers ask.

A worker connects, shows a secret, and gets as many jobs as it may have at a time. While it works on a job it may ask
the command something, such as for the reply of a model. So whatever has to be one for all workers (cache, ledger,
budget, limits per minute, keys) lies in the process of the command. The jobs of a worker whose connection ends go to
others. A job that has taken workers with it goes out alone before it is given up.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.logs import log
from agenthard.flows.scale_out.frames import (
    ConnectionBrokenError,
    Frame,
    close_quietly,
    keep_alive,
    read_frame,
    write_frame,
)

LOST_TOGETHER, LOST_ALONE = 2, 3
"""Workers that a job may lose: with other jobs, before it goes out alone; and alone, before it is given up."""
_GREETING_BYTES, _GREETING_SECONDS = 1024, 30.0
Answer = Callable[[bytes], Awaitable[bytes]]


class LostJobError(InfrastructureError):
    """All workers that had a job were lost: it takes too much memory, or ends its process."""

    code = "AH828"
    remedy = "Give the workers more memory, and run the same command again; finished work is kept."


class FailedJobError(InfrastructureError):
    """A worker could not do a job; the message names the job and says why."""

    code = "AH831"
    remedy = "Read the message, and run the same command again; finished work is kept."


class RefusedError(InfrastructureError):
    """A worker cannot do the work of this command; the message is that of the worker."""

    code = "AH829"
    remedy = "Remove the cause that the message names, and run the same command again; finished work is kept."


@dataclass(eq=False)
class _Job:
    name: str
    payload: bytes
    done: "asyncio.Future[bytes]"
    lost: int = 0
    lost_alone: int = 0

    @property
    def goes_alone(self) -> bool:
        return self.lost >= LOST_TOGETHER


@dataclass(eq=False)
class _Connection:
    writer: asyncio.StreamWriter
    jobs: dict[int, _Job] = field(default_factory=dict)


class JobServer:
    """Hands jobs to the workers that connect; everything happens in one event loop."""

    def __init__(self, hello: bytes, answer: Answer, per_worker: int) -> None:
        """Prepare; `start` listens.

        Args:
            hello: what every worker needs before its first job.
            answer: answers what workers ask.
            per_worker: jobs that a worker has at a time.
        """
        self._hello, self._answer, self._per_worker = hello, answer, per_worker
        self.token = secrets.token_urlsafe(32)
        """What a worker has to know; who knows it can spend the budget."""
        self.place = ""
        """Host and port."""
        self.finished = 0
        """Jobs that workers finished."""
        self._queue = deque[_Job]()
        self._connections = set[_Connection]()
        self._tasks = set[asyncio.Task[None]]()
        self._numbers = iter(range(1 << 62))
        self._failure: Exception | None = None
        self._server: asyncio.Server | None = None

    @property
    def connected(self) -> int:
        """Workers that are connected and ready."""
        return len(self._connections)

    async def start(self, host: str) -> None:
        """Listen.

        Args:
            host: address of this machine that workers reach.
        """
        self._server = await asyncio.start_server(self._serve, host, 0)
        port = self._server.sockets[0].getsockname()[1]
        self.place = f"{host}:{port}"

    async def run(self, name: str, payload: bytes) -> bytes:
        """Let a worker do a job, and return its result.

        Args:
            name: what the job is called in messages.
            payload: the job.

        Raises:
            LostJobError: All workers that had it were lost.
            FailedJobError: The worker could not do it.
            InfrastructureError: No worker can do it.
        """
        if self._failure is not None:
            raise self._failure
        job = _Job(name, payload, asyncio.get_running_loop().create_future())
        self._queue.append(job)
        self._hand_out()
        try:
            return await job.done
        finally:
            if job in self._queue:
                self._queue.remove(job)

    def fail(self, error: Exception) -> None:
        """End all jobs, those that come later too, with an error."""
        self._failure = self._failure or error
        for job in [*self._queue, *(job for each in self._connections for job in each.jobs.values())]:
            if not job.done.done():
                job.done.set_exception(self._failure)

    async def close(self) -> None:
        """Send all workers away; what they still ask is not answered."""
        if self._server is not None:
            self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in list(self._connections):
            await close_quietly(connection.writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one worker until it is gone."""
        serving = asyncio.current_task()
        assert serving is not None
        self._tasks.add(serving)
        connection = _Connection(writer)
        try:
            if await self._greet(reader, writer):
                self._connections.add(connection)
                self._hand_out()
                while True:
                    self._take(connection, await read_frame(reader))
        except ConnectionBrokenError:
            pass
        except asyncio.CancelledError:
            pass  # the server closes; asyncio would report the cancellation of a connection as an error
        finally:
            self._tasks.discard(serving)
            self._connections.discard(connection)
            self._recover(connection)
            await close_quietly(writer)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Let a worker in that knows the secret; return whether it can work."""
        keep_alive(writer)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GREETING_SECONDS):
                greeting = await read_frame(reader, _GREETING_BYTES)
                if not secrets.compare_digest(str(greeting.head.get("token")).encode(), self.token.encode()):
                    log.warning("warning: a connection without the secret of this command was refused")
                    return False
            await write_frame(writer, Frame({}, self._hello))
            ready = await read_frame(reader, 1 << 20)
            if "refused" in ready.head:
                self.fail(RefusedError(f"a worker cannot do this work: {ready.head['refused']}"))
            return "ready" in ready.head
        return False

    def _take(self, connection: _Connection, frame: Frame) -> None:
        """Take what a worker sends: the result of a job, or a question."""
        if "ask" in frame.head:
            asking = asyncio.create_task(self._reply(connection, frame))
            self._tasks.add(asking)
            asking.add_done_callback(self._tasks.discard)
            return
        job = connection.jobs.pop(int(frame.head.get("job", -1)), None)
        if job is not None and not job.done.done():
            self.finished += 1
            if "failed" in frame.head:
                job.done.set_exception(FailedJobError(f"{job.name}: {frame.head['failed']}"))
            else:
                job.done.set_result(frame.body)
        self._hand_out()

    async def _reply(self, connection: _Connection, frame: Frame) -> None:
        """Answer a question. A worker that is lost meanwhile does not end this: what was paid for is kept."""
        answer = await self._answer(frame.body)
        with suppress(ConnectionBrokenError):
            await write_frame(connection.writer, Frame({"answer": frame.head["ask"]}, answer))

    def _hand_out(self) -> None:
        """Give waiting jobs to the workers that have the fewest."""
        waiting, self._queue = self._queue, deque()
        for job in waiting:
            if job.done.done():
                continue
            free = min(self._free(job), key=lambda each: len(each.jobs), default=None)
            if free is None:
                self._queue.append(job)
                continue
            number = next(self._numbers)
            free.jobs[number] = job
            sending = asyncio.create_task(self._send(free, Frame({"job": number}, job.payload)))
            self._tasks.add(sending)
            sending.add_done_callback(self._tasks.discard)

    def _free(self, job: _Job) -> Iterator[_Connection]:
        """Yield the connections that a job may go over."""
        for each in self._connections:
            if any(other.goes_alone for other in each.jobs.values()):
                continue
            if len(each.jobs) < (1 if job.goes_alone else self._per_worker):
                yield each

    async def _send(self, connection: _Connection, frame: Frame) -> None:
        with suppress(ConnectionBrokenError):  # the loop that reads notices it too
            await write_frame(connection.writer, frame)

    def _recover(self, connection: _Connection) -> None:
        """Put the jobs of a lost worker first in the queue."""
        alone = len(connection.jobs) == 1
        for job in reversed(connection.jobs.values()):
            job.lost_alone += alone and job.goes_alone
            job.lost += 1
            if job.lost_alone >= LOST_ALONE:
                if not job.done.done():
                    times = LOST_TOGETHER + LOST_ALONE
                    job.done.set_exception(LostJobError(f"{job.name}: {times} workers that had it were lost"))
            else:
                self._queue.appendleft(job)
        connection.jobs = {}
        self._hand_out()
