"""A server on loopback that answers the Messages protocol, for one attempt and only for who knows its token.

It is also the proxy that the program is told to use for every other address: what it would send elsewhere arrives here
and is refused.
"""

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from agenthard.agency.scaffolds.claude.protocol import Answered, Asked, Refused, read
from agenthard.agency.scaffolds.claude.replies import event, stream, whole

MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
PING_SECONDS = 10.0
"""How long a stream may be silent."""
_log = logging.getLogger(__name__)


class Gateway:
    """Answers while it is open; use it as an asynchronous context manager."""

    def __init__(self, answer: Callable[[Asked], Awaitable[Answered]], count: Callable[[Asked], int]) -> None:
        """Prepare; nothing listens yet.

        Args:
            answer: gives the reply to a request, or raises `Refused`.
            count: gives the tokens of a request.
        """
        self._answer, self._count = answer, count
        self.token = secrets.token_urlsafe(32)
        """What a request must carry as its key."""
        self.refused: list[str] = []
        """What was asked for besides, each as a method and an address."""
        self.not_understood: list[str] = []
        """Why requests of the program could not be read."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            proxy_headers=False,
            log_config=None,
            log_level="error",
            access_log=False,
        )
        self._server = _Server(config)
        self._task: asyncio.Task[None] | None = None
        self._replies: set[asyncio.Future[Answered]] = set()

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    async def __aenter__(self) -> Self:
        """Listen."""
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening; what is still asked is given up, so that nothing goes on after the attempt."""
        await self.give_up()
        self._server.should_exit = self._server.force_exit = True
        try:
            if self._task is not None:
                await self._task
        finally:
            self._socket.close()

    async def give_up(self) -> None:
        """Answer what is still asked by an error, without a reply."""
        replies = tuple(self._replies)
        for reply in replies:
            reply.cancel()
        await asyncio.gather(*replies, return_exceptions=True)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
        except Refused as refused:
            response = JSONResponse(refused.body(), refused.status)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        place = request.scope["method"], request.scope["path"]
        if place not in (("POST", MESSAGES), ("POST", COUNT_TOKENS)):
            self._refuse(*place)
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if not secrets.compare_digest(key.encode(), self.token.encode()):
            raise Refused(401, "authentication_error", "this gateway has another key")
        try:
            asked = _read(await request.body())
        except Refused as refused:
            self.not_understood.append(refused.message)
            raise
        if place[1] == COUNT_TOKENS:
            return JSONResponse({"input_tokens": self._count(asked)})
        reply = asyncio.ensure_future(self._answer(asked))
        self._replies.add(reply)
        reply.add_done_callback(self._replies.discard)
        await asyncio.wait({reply}, timeout=PING_SECONDS if asked.stream else None)
        if not reply.done():
            return StreamingResponse(_slowly(reply), media_type="text/event-stream")
        answered = _result(reply)
        if asked.stream:
            return StreamingResponse(stream(answered), media_type="text/event-stream")
        return JSONResponse(whole(answered))

    def _refuse(self, method: str, path: str) -> None:
        self.refused.append(f"{method} {path}")
        _log.warning("the program of an agent asked for %s; refused: only its model is there", f"{method} {path}"[:200])
        raise Refused(403, "permission_error", f"only {MESSAGES} is served here")


async def _slowly(reply: "asyncio.Future[Answered]") -> AsyncIterator[str]:
    """Yield a sign of life until the reply is there, since a program gives up on silence, then the reply."""
    try:
        while not reply.done():
            yield event("ping")
            await asyncio.wait({reply}, timeout=PING_SECONDS)
        for part in stream(_result(reply)):
            yield part
    except Refused as refused:
        yield event("error", **refused.body())
    finally:
        reply.cancel()


def _result(reply: "asyncio.Future[Answered]") -> Answered:
    if reply.cancelled():
        raise Refused(503, "api_error", "the gateway is closed")
    return reply.result()


def _read(body: bytes) -> Asked:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_request_error", f"the request is not JSON: {error}") from None
    return read(content)


class _Server(uvicorn.Server):
    """A server that leaves the signals to who runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
