"""When an attempt is repeated, and how long that waits."""

import random
from collections.abc import Awaitable, Callable

from pydantic import Field
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from agenthard.models.errors import MalformedReplyError, TransientError
from agenthard.taxonomy.record import Record


class RetryPolicy(Record):
    """How hard we try to get a reply."""

    attempts: int = Field(default=8, ge=1)
    """Attempts at one request at most, the first included."""
    first_wait: float = Field(default=1.0, ge=0)
    """Seconds of the longest first wait; it doubles from wait to wait."""
    longest_wait: float = Field(default=60.0, ge=0)
    """Seconds that the doubling ends at."""
    longest_retry_after: float = Field(default=120.0, ge=0)
    """Seconds that we wait at most when the provider asks for more."""
    total_seconds: float = Field(default=1800.0, ge=0)
    """No further attempt once waits and attempts have taken so long; time in our own queues does not count."""

    def wait(self, attempt: int, error: BaseException | None, rng: random.Random) -> float:
        """Seconds until the next attempt: a random share of the doubled wait, after what the provider asks for.

        Args:
            attempt: Number of the attempt that failed, from 1.
            error: What it failed with; its `retry_after`, if any, is honoured up to `longest_retry_after`.
            rng: Draws the share, so that requests that failed together do not come back together.
        """
        backoff = rng.uniform(0.0, min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60)))
        asked = getattr(error, "retry_after", None) or 0.0
        return min(max(asked, 0.0), self.longest_retry_after) + backoff


def retrying(
    policy: RetryPolicy,
    rng: random.Random,
    sleep: Callable[[float], Awaitable[None]],
    in_flight: Callable[[], float],
) -> AsyncRetrying:
    """A tenacity loop over the attempts at one request; in the end the last error is raised as it is.

    Args:
        policy: How hard to try.
        rng: Draws the waits.
        sleep: Waits so many seconds.
        in_flight: Seconds that the attempts so far have taken.
    """

    def wait(state: RetryCallState) -> float:
        return policy.wait(state.attempt_number, state.outcome.exception() if state.outcome else None, rng)

    def stop(state: RetryCallState) -> bool:
        spent = in_flight() + state.idle_for + state.upcoming_sleep
        return state.attempt_number >= policy.attempts or spent > policy.total_seconds

    return AsyncRetrying(
        retry=retry_if_exception_type((TransientError, MalformedReplyError)),
        wait=wait,
        stop=stop,
        sleep=sleep,
        reraise=True,
    )
