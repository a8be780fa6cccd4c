"""Workers of a cluster that do the jobs of a server: as many as the cluster has places, and new ones for lost ones."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.logs import log
from agenthard.flows.scale_out.job_server import Answer, JobServer
from agenthard.flows.scale_out.job_worker import serve_jobs
from agenthard.flows.scale_out.runners import Workers
from agenthard.flows.scale_out.settings import ScaleOut, is_here

_POLL_SECONDS = 1.0
_PATIENT_POLLS = 5
"""Polls until another worker is started for one that does not connect: a cluster may have put it behind a busy one."""
_MOST_FAILURES = 3
"""Workers in a row, for each place of the cluster, that may end before any job is finished."""
_END_SECONDS = 10.0


@asynccontextmanager
async def job_crew(
    cluster: Workers, where: ScaleOut, target: str, hello: bytes, answer: Answer, in_flight: int
) -> AsyncIterator[JobServer]:
    """Start a server of jobs and its workers; they end with the block.

    Args:
        cluster: where workers run.
        where: its address.
        target: what makes a worker's handler, as ``module:function``.
        hello: what every worker needs before its first job.
        answer: answers what workers ask.
        in_flight: jobs at a time, of all workers together.
    """
    places = max(1, await asyncio.to_thread(cluster.count))
    server = JobServer(hello, answer, per_worker=max(2, -(-in_flight // places)))
    await server.start(_own_host(where))
    crew = _Crew(cluster, server, target, in_flight)
    keeping = asyncio.create_task(crew.keep())
    try:
        yield server
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        await server.close()
        await crew.end()


class _Crew:
    """The workers of one server."""

    def __init__(self, cluster: Workers, server: JobServer, target: str, most: int) -> None:
        self._cluster, self._server, self._target, self._most = cluster, server, target, most
        self._running = set[Any]()
        self._ended = asyncio.Queue[Any]()
        self._loop = asyncio.get_running_loop()

    async def keep(self) -> None:
        """Keep as many workers as there are places; fail all jobs when workers end before they do anything."""
        failures, finished, missing = 0, 0, 0
        try:
            while True:
                places = min(self._most, max(1, await asyncio.to_thread(self._cluster.count)))
                missing = missing + 1 if self._server.connected < places else 0
                late = missing >= _PATIENT_POLLS and len(self._running) < 2 * places
                for _ in range(max(places - len(self._running), int(late))):
                    await asyncio.to_thread(self._submit)
                    missing = 0
                failure = await self._next_failure()
                if self._server.finished > finished:
                    failures, finished = 0, self._server.finished
                failures += failure is not None
                if failures > _MOST_FAILURES * places:
                    raise InfrastructureError(f"{failures} workers ended before they did anything: {failure}")
        except Exception as error:  # noqa: BLE001 - whatever ends this ends the jobs, with its reason
            self._server.fail(error)

    async def end(self) -> None:
        """Wait for the workers that are done, and take back those that have not started."""
        for _ in range(int(_END_SECONDS / 0.1)):
            while not self._ended.empty():
                self._running.discard(self._ended.get_nowait())
            if not self._running:
                return
            for future in self._running:
                await asyncio.to_thread(getattr(future, "wrapped_future", future).cancel)
            await asyncio.sleep(0.1)

    def _submit(self) -> None:
        server, number = self._server, len(self._running)
        future = self._cluster.submit(f"worker {number}", serve_jobs, server.place, server.token, self._target)
        self._running.add(future)
        future.add_done_callback(self._landed)

    def _landed(self, future: Any) -> None:
        with suppress(RuntimeError):  # the command has ended
            self._loop.call_soon_threadsafe(self._ended.put_nowait, future)

    async def _next_failure(self) -> str | None:
        """Wait a moment for a worker to end; return why, if it was lost."""
        try:
            async with asyncio.timeout(_POLL_SECONDS):
                future = await self._ended.get()
        except TimeoutError:
            return None
        self._running.discard(future)
        try:
            await asyncio.to_thread(future.result)
        except Exception as error:  # noqa: BLE001 - a lost worker, in the words of each cluster
            reason = f"{type(error).__name__}: {str(error)[:300]}"
            log.info("a worker was lost, and another one takes its place: %s", reason)
            return reason
        return "its connection ended"


def _own_host(where: ScaleOut) -> str:
    """Return the address of this machine that the workers of a cluster reach: that of the way to its scheduler."""
    if where.address is None or is_here(where.address):
        return "127.0.0.1"
    host, _, port = where.address.rpartition("://")[2].rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:  # nothing is sent
        asked.connect((host.strip("[]"), int(port)))
        return str(asked.getsockname()[0])
