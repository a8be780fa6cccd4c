"""Rate limits: requests in flight, and requests and tokens per minute."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from pydantic import Field

from agenthard.taxonomy.record import Record

BURST_SECONDS = 10.0
"""Capacity of a bucket: what flows in within this time."""


class Limits(Record):
    """Rate limits of one model; None sets no limit."""

    in_flight: int = Field(default=64, ge=1)
    """Requests in flight at the same time."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    """Requests sent per minute, retries included."""
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """Tokens per minute: the estimated prompt and the longest reply, corrected once the reply states the number."""


class TokenBucket:
    """A token bucket, first come, first served; after a pause it allows a burst worth ten seconds."""

    def __init__(
        self, per_minute: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        """Start full.

        Args:
            per_minute: Amount that flows in per minute.
            clock: A monotonic clock, in seconds.
            sleep: Waits for a number of seconds.
        """
        self._per_second = per_minute / 60.0
        self._capacity = self._per_second * BURST_SECONDS
        self._level, self._at = self._capacity, clock()
        self._clock, self._sleep = clock, sleep
        self._turn = asyncio.Lock()

    async def take(self, amount: float) -> None:
        """Wait until the bucket holds the amount, and take it. An amount above the capacity leaves a negative level."""
        async with self._turn:
            while (missing := min(amount, self._capacity) - self._filled()) > 1e-9:
                await self._sleep(min(missing / self._per_second, 1.0))
            self._level -= amount

    def give_back(self, amount: float) -> None:
        """Return an unused amount; a negative amount takes more."""
        self._level = min(self._capacity, self._filled() + amount)

    def _filled(self) -> float:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._at) * self._per_second)
        self._at = now
        return self._level


class RateLimiter:
    """Enforces the limits of one model."""

    def __init__(self, limits: Limits, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        """Set it up; the arguments are those of `TokenBucket`."""
        self._slots = asyncio.Semaphore(limits.in_flight)
        self._requests = _bucket(limits.requests_per_minute, clock, sleep)
        self._tokens = _bucket(limits.tokens_per_minute, clock, sleep)

    @asynccontextmanager
    async def slot(self, tokens: float) -> AsyncIterator[None]:
        """Wait for the rates, then for a free slot among the requests in flight, and hold the slot.

        Args:
            tokens: Maximum tokens of the request.
        """
        if self._requests:
            await self._requests.take(1)
        if self._tokens:
            await self._tokens.take(tokens)
        async with self._slots:
            yield

    def unused(self, tokens: float) -> None:
        """Return the tokens that a request reserved and did not use."""
        if self._tokens:
            self._tokens.give_back(tokens)


def _bucket(
    per_minute: float | None, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
) -> TokenBucket | None:
    return None if per_minute is None else TokenBucket(per_minute, clock, sleep)
