"""The HTTP client of both SDKs. It limits the size of an answer."""

from collections.abc import AsyncIterator

import httpx2

from agenthard.taxonomy.errors import AgentHardError

MAX_BYTES = 32 * 1024 * 1024
"""Bytes of an answer after decompression. The longest replies of current models have about 1 MB."""
MAX_BATCH_BYTES = 2 * 1024 * 1024 * 1024
"""Bytes of an answer file: Gemini's limit for one file."""


class ReplyTooLongError(AgentHardError, httpx2.DecodingError):
    """An answer exceeds the limit; the rest of it was not read."""

    code = "AH519"
    remedy = "Check the address of the provider: no reply of a model is this long."


class LimitedClient(httpx2.AsyncClient):
    """A client that aborts an answer once it is too long: an endless one, or one that decompresses to gigabytes.

    `agenthard.models.limits` controls the number of requests in flight.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        """Create the client; nothing is sent.

        Args:
            max_bytes: Maximum bytes of an answer, after decompression. Streamed answers are not limited here.
        """
        super().__init__(limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100))
        self._max_bytes = max_bytes

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: object) -> httpx2.Response:
        """Send a request, and read its answer up to the limit.

        Raises:
            ReplyTooLongError: The answer exceeds the limit.
        """
        answer = await super().send(request, stream=True, **options)  # type: ignore[arg-type]
        if stream:
            return answer
        try:
            body = b"".join([part async for part in limited_bytes(answer, self._max_bytes)])
        finally:
            await answer.aclose()
        headers = [(k, v) for k, v in answer.headers.multi_items() if k not in ("content-encoding", "content-length")]
        read = httpx2.Response(
            answer.status_code, headers=headers, content=body, request=answer.request, extensions=answer.extensions
        )
        read.history = answer.history
        return read


async def limited_bytes(answer: httpx2.Response, max_bytes: int) -> AsyncIterator[bytes]:
    """Stream the body of an answer, decompressed.

    Raises:
        ReplyTooLongError: It exceeds the limit.
    """
    size = 0
    async for part in answer.aiter_bytes():
        size += len(part)
        if size > max_bytes:
            raise ReplyTooLongError(f"its answer has more than {max_bytes:,} bytes", request=answer.request)
        yield part
