"""Retries: after which errors, how often, and with which waits."""

import random
from collections.abc import Awaitable, Callable

from pydantic import Field
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from agenthard.models.errors import ConnectionLostError, MalformedReplyError, RequestTimeoutError, TransientError
from agenthard.taxonomy.record import Record

POSSIBLY_BILLED = (ConnectionLostError, MalformedReplyError, RequestTimeoutError)
"""Errors after which the provider may still charge for its work."""


class RetryPolicy(Record):
    """Number of attempts and waits between them."""

    attempts: int = Field(default=8, ge=1)
    """Maximum attempts at one request, the first included."""
    first_wait: float = Field(default=1.0, ge=0)
    """Maximum of the first wait, in seconds; the maximum doubles with each wait."""
    longest_wait: float = Field(default=60.0, ge=0)
    """Limit of the doubled maximum, in seconds."""
    longest_retry_after: float = Field(default=120.0, ge=0)
    """Maximum wait in seconds when the provider asks for a longer one."""
    total_seconds: float = Field(default=1800.0, ge=0)
    """Total seconds of waits and attempts after which no attempt follows; time in our own queues does not count."""

    def wait(self, attempt: int, error: BaseException | None, rng: random.Random) -> float:
        """Return the seconds until the next attempt: a random share of the doubled wait, after the provider's own wait.

        Args:
            attempt: Number of the attempt that failed, from 1.
            error: Its error; `retry_after`, if any, is honoured up to `longest_retry_after`.
            rng: Draws the share, so that requests that failed together are not repeated together.
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
    """Return a tenacity loop over the attempts at one request; after the last one it raises that error unchanged.

    Args:
        policy: Number of attempts and waits.
        rng: Draws the waits.
        sleep: Waits for a number of seconds.
        in_flight: Returns the seconds of all attempts so far.
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
