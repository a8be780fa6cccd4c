"""How much is asked of a model at once, and per minute."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from pydantic import Field

from agenthard.taxonomy.record import Record

BURST_SECONDS = 10.0
"""A bucket holds what flows into it in this time."""


class Limits(Record):
    """How one model may be asked; None sets no limit."""

    in_flight: int = Field(default=64, ge=1)
    """Requests on their way at the same time."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    """Requests sent per minute, repeated ones included."""
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """Tokens per minute: of the prompt as estimated and of the longest reply, until the reply tells the true number."""


class TokenBucket:
    """Lets so much through per minute, first come, first served; after a quiet time a burst of ten seconds' worth."""

    def __init__(
        self, per_minute: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        """Start full.

        Args:
            per_minute: What flows in per minute.
            clock: Seconds of a clock that never goes back.
            sleep: Waits so many seconds.
        """
        self._per_second = per_minute / 60.0
        self._capacity = self._per_second * BURST_SECONDS
        self._level, self._at = self._capacity, clock()
        self._clock, self._sleep = clock, sleep
        self._turn = asyncio.Lock()

    async def take(self, amount: float) -> None:
        """Wait until the bucket holds the amount, and take it. What exceeds a full bucket is owed to the future."""
        async with self._turn:
            while (missing := min(amount, self._capacity) - self._filled()) > 1e-9:
                await self._sleep(min(missing / self._per_second, 1.0))
            self._level -= amount

    def give_back(self, amount: float) -> None:
        """Return what was taken and not used; a negative amount takes the rest of what was used."""
        self._level = min(self._capacity, self._filled() + amount)

    def _filled(self) -> float:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._at) * self._per_second)
        self._at = now
        return self._level


class Gate:
    """The limits of one model, at work."""

    def __init__(self, limits: Limits, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        """Open it; the arguments are those of `TokenBucket`."""
        self._slots = asyncio.Semaphore(limits.in_flight)
        self._requests = _bucket(limits.requests_per_minute, clock, sleep)
        self._tokens = _bucket(limits.tokens_per_minute, clock, sleep)

    @asynccontextmanager
    async def slot(self, tokens: float) -> AsyncIterator[None]:
        """Wait for the rates, then for a place among the requests in flight, and hold that place.

        Args:
            tokens: Tokens the request may take.
        """
        if self._requests:
            await self._requests.take(1)
        if self._tokens:
            await self._tokens.take(tokens)
        async with self._slots:
            yield

    def unused(self, tokens: float) -> None:
        """Say how many tokens less than announced a request took."""
        if self._tokens:
            self._tokens.give_back(tokens)


def _bucket(
    per_minute: float | None, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
) -> TokenBucket | None:
    return None if per_minute is None else TokenBucket(per_minute, clock, sleep)
