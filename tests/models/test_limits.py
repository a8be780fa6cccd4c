import asyncio

import pytest
from pydantic import ValidationError

from agenthard.models.limits import Limits, RateLimiter, TokenBucket
from tests.models.scripted import Time


async def test_a_bucket_lets_a_burst_through_and_then_the_rate() -> None:
    time = Time()
    bucket = TokenBucket(60.0, time.clock, time.sleep)  # one a second, ten at once
    passed = []
    for _ in range(15):
        await bucket.take(1)
        passed.append(time.now)
    assert passed == pytest.approx([0.0] * 10 + [1.0, 2.0, 3.0, 4.0, 5.0])
    time.now += 1000.0
    before = time.now
    for _ in range(11):
        await bucket.take(1)
    assert time.now - before == pytest.approx(1.0)


async def test_more_than_a_full_bucket_is_owed() -> None:
    time = Time()
    bucket = TokenBucket(600.0, time.clock, time.sleep)  # ten a second, a hundred at once
    await bucket.take(250)
    assert time.now == 0.0
    await bucket.take(10)  # 150 owed and 10 wanted: 160 / 10 per second
    assert time.now == pytest.approx(16.0)


async def test_what_was_not_used_shortens_the_next_wait() -> None:
    time = Time()
    bucket = TokenBucket(600.0, time.clock, time.sleep)
    await bucket.take(100)
    bucket.give_back(80)
    await bucket.take(80)
    assert time.now == 0.0
    bucket.give_back(-50)  # it took more than announced
    await bucket.take(50)
    assert time.now == pytest.approx(10.0)
    bucket.give_back(10_000)
    await bucket.take(100)
    await bucket.take(1)
    assert time.now == pytest.approx(10.1), "a bucket never holds more than ten seconds' worth"


async def test_first_come_first_served() -> None:
    time = Time()
    bucket, order = TokenBucket(60.0, time.clock, time.sleep), []
    await bucket.take(10)

    async def take(name: str, amount: float) -> None:
        await bucket.take(amount)
        order.append(name)

    await asyncio.gather(take("large", 9), take("small", 1), take("last", 1))
    assert order == ["large", "small", "last"]


async def test_a_gate_holds_its_places_and_frees_them_on_errors() -> None:
    time = Time()
    limiter = RateLimiter(Limits(in_flight=1), time.clock, time.sleep)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with limiter.slot(5):
                raise ZeroDivisionError
    async with limiter.slot(5):
        second = asyncio.create_task(limiter.slot(5).__aenter__())
        await asyncio.sleep(0)
        assert not second.done()
    await second


@pytest.mark.parametrize("wrong", [{"in_flight": 0}, {"requests_per_minute": 0}, {"tokens_per_minute": -1}])
def test_limits_that_would_stop_everything_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Limits(**wrong)
