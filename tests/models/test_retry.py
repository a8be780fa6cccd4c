import random

import pytest

from agenthard.models.errors import BadRequestError, RateLimitError, RequestTimeoutError, ServerError
from agenthard.models.retry import RetryPolicy, retrying
from tests.models.scripted import Time


def waits(policy: RetryPolicy, error: Exception, attempt: int) -> list[float]:
    rng = random.Random(3)
    return [policy.wait(attempt, error, rng) for _ in range(2000)]


def test_waits_are_a_random_share_of_a_doubling_bound() -> None:
    policy = RetryPolicy(first_wait=1.0, longest_wait=60.0)
    for attempt, bound in [(1, 1.0), (2, 2.0), (5, 16.0), (7, 60.0), (5000, 60.0)]:
        drawn = waits(policy, ServerError("x"), attempt)
        assert min(drawn) >= 0 and bound * 0.99 < max(drawn) <= bound
        # A uniform share has mean bound/2; 2,000 draws have a standard error of bound * 0.0065.
        assert sum(drawn) / len(drawn) == pytest.approx(bound / 2, abs=bound * 0.03)


def test_retry_after_is_honoured_up_to_a_cap() -> None:
    policy = RetryPolicy(longest_retry_after=120.0)
    assert (
        30.0
        <= min(waits(policy, RateLimitError("x", 30.0), 1))
        <= max(waits(policy, RateLimitError("x", 30.0), 1))
        <= 31.0
    )
    assert max(waits(policy, ServerError("x", 86_400.0), 1)) <= 121.0
    assert min(waits(policy, RateLimitError("x", -5.0), 1)) >= 0.0


def test_the_same_generator_draws_the_same_waits() -> None:
    assert waits(RetryPolicy(), RequestTimeoutError("x"), 3) == waits(RetryPolicy(), RequestTimeoutError("x"), 3)


async def fail(policy: RetryPolicy, error: Exception, each: float = 0.0) -> tuple[int, Time]:
    time, calls = Time(), 0

    async def attempt() -> None:
        nonlocal calls
        calls += 1
        raise error

    with pytest.raises(type(error)) as raised:
        await retrying(policy, random.Random(1), time.sleep, lambda: calls * each)(attempt)
    assert raised.value is error
    return calls, time


async def test_attempts_are_counted() -> None:
    calls, time = await fail(RetryPolicy(attempts=4), ServerError("x"))
    assert calls == 4 and len(time.slept) == 3
    assert (await fail(RetryPolicy(attempts=1), ServerError("x")))[0] == 1
    assert (await fail(RetryPolicy(attempts=4), BadRequestError("x")))[0] == 1


async def test_the_total_time_ends_it() -> None:
    # Attempts of 40 s: after two of them 80 s and the next wait are below 100 s, after three they are not.
    assert (await fail(RetryPolicy(attempts=9, total_seconds=100.0), RequestTimeoutError("x"), each=40.0))[0] == 3
    # A wait that would go beyond the total is not begun.
    calls, time = await fail(RetryPolicy(total_seconds=50.0), RateLimitError("x", 60.0))
    assert calls == 1 and time.slept == []
