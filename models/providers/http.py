"""The HTTP client below both SDKs. It reads no more of an answer than a reply can have."""

from collections.abc import AsyncIterator

import httpx2

from agenthard.taxonomy.errors import AgentHardError

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of an answer after decompression. The longest replies of today's models have about 1 MB."""
MOST_BATCH_BYTES = 2 * 1024 * 1024 * 1024
"""Bytes of a file of answers: what Gemini takes as one file."""


class ReplyTooLongError(AgentHardError, httpx2.DecodingError):
    """An answer is longer than the limit; the rest of it was not read."""

    code = "AH519"
    remedy = "Check the address of the provider: no reply of a model is this long."


class LimitedClient(httpx2.AsyncClient):
    """A client that gives up on an answer once it is too long: an endless one, or one that decompresses to gigabytes.

    How many requests are in flight is the business of `agenthard.models.limits`.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Make it; nothing is sent.

        Args:
            most_bytes: Bytes of an answer, after decompression. An answer that the caller streams is the caller's to
                count.
        """
        super().__init__(limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100))
        self._most = most_bytes

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: object) -> httpx2.Response:
        """Send a request, and read its answer up to the limit.

        Raises:
            ReplyTooLongError: The answer is longer.
        """
        answer = await super().send(request, stream=True, **options)  # type: ignore[arg-type]
        if stream:
            return answer
        try:
            body = b"".join([part async for part in counted(answer, self._most)])
        finally:
            await answer.aclose()
        headers = [(k, v) for k, v in answer.headers.multi_items() if k not in ("content-encoding", "content-length")]
        read = httpx2.Response(
            answer.status_code, headers=headers, content=body, request=answer.request, extensions=answer.extensions
        )
        read.history = answer.history
        return read


async def counted(answer: httpx2.Response, most: int) -> AsyncIterator[bytes]:
    """Stream the body of an answer, decompressed.

    Raises:
        ReplyTooLongError: It has more bytes.
    """
    size = 0
    async for part in answer.aiter_bytes():
        size += len(part)
        if size > most:
            raise ReplyTooLongError(f"its answer has more than {most:,} bytes", request=answer.request)
        yield part
