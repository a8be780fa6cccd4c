"""A proxy between a command and its server, which can be cut: now, for a while, or in the middle of replies."""

import asyncio
import random
import threading
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

BLOCK = 65536


class Wire:
    """Forwards connections to a TCP port of this machine, or to a Unix socket."""

    def __init__(self, target: int | Path, place: Path | None = None) -> None:
        """Start to listen.

        Args:
            target: port, or Unix socket, of the server.
            place: Unix socket to listen on; None = a free TCP port.
        """
        self._target, self._place = target, place
        self.port = 0
        self.cuts = 0
        """Connections that were cut."""
        self._cut_share, self._rng = 0.0, random.Random(0)
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.up()

    def cut_replies(self, share: float, rng: random.Random) -> None:
        """Cut this share of the replies in their middle from now on."""
        self._cut_share, self._rng = share, rng

    def cut(self) -> None:
        """Cut all connections; new ones are accepted."""
        self._run(self._cut())

    def down(self) -> None:
        """Cut all connections and refuse new ones."""
        self._run(self._down())

    def up(self) -> None:
        """Listen, on the same port as before."""
        self._run(self._up())

    def close(self) -> None:
        """End it."""
        self.down()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _up(self) -> None:
        if self._place is not None:
            self._place.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._serve, str(self._place))
            self._place.chmod(0o777)
            return
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _down(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._cut()

    async def _cut(self) -> None:
        self.cuts += len(self._writers) // 2
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if isinstance(self._target, int):
                upstream = await asyncio.open_connection("127.0.0.1", self._target)
            else:
                upstream = await asyncio.open_unix_connection(str(self._target))
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, upstream[1]}
        self._writers |= ends
        try:
            tasks = [
                asyncio.create_task(self._forward(reader, upstream[1], replies=False)),
                asyncio.create_task(self._forward(upstream[0], writer, replies=True)),
            ]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort() if end.transport.is_closing() else end.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, replies: bool) -> None:
        with suppress(OSError):
            while block := await reader.read(BLOCK):
                if replies and self._rng.random() < self._cut_share:
                    self.cuts += 1
                    writer.write(block[: len(block) // 2])
                    await asyncio.sleep(0.01)
                    return
                writer.write(block)
                await writer.drain()
