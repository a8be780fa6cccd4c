"""Whatever a server answers, it is a reply or one of our errors, and a budget holds."""

import asyncio
import random
from pathlib import Path

import pytest

from agenthard.models.budget import Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import BudgetExhaustedError, MalformedReplyError, ModelError
from agenthard.models.ledger import NOT_STATED, Ledger
from agenthard.models.prices import Price, PriceTable
from agenthard.models.providers import http
from agenthard.models.providers.messages import MAX_TOKENS, usage_of
from agenthard.models.request import Request, Sampling
from agenthard.models.retry import RetryPolicy
from tests.loopback import Loopback
from tests.loopback.odd import ODD, READABLE, Odd
from tests.models.providers.talking import APIS, SECONDS, ask, model_file, provider, user

PRICES = PriceTable(
    currency="USD", prices=(Price(model="*", prompt=1, completion=4, date="2026-11", source="these tests"),)
)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("odd", [kind for kind in ODD if kind not in READABLE])
async def test_what_is_no_sane_reply_is_malformed(
    api: str, odd: Odd, loopback: Loopback, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_BYTES", 1 << 22)
    monkeypatch.setattr(http.LimitedClient.__init__, "__defaults__", (1 << 22,))
    loopback.service.odd = lambda asked: odd
    file = model_file(api, loopback)
    async with provider(file) as made:
        with pytest.raises(MalformedReplyError) as caught:
            await made.complete(ask(file), SECONDS)
    str(caught.value).encode()
    if odd in ("bomb", "endless"):
        assert "more than 4,194,304 bytes" in str(caught.value)


@pytest.mark.parametrize("api", APIS)
async def test_missing_usage_counts_at_its_most(api: str, loopback: Loopback, keys: str) -> None:
    loopback.service.odd = lambda asked: "no_usage"
    file = model_file(api, loopback)
    request = ask(file, sampling=Sampling(max_output_tokens=70))
    async with provider(file) as made:
        reply = await made.complete(request, SECONDS)
    assert (reply.usage_stated, reply.usage.completion_tokens) == (False, 70)
    assert reply.usage.prompt_tokens >= len("Hello") // 2


@pytest.mark.parametrize("count", [-1, MAX_TOKENS + 1, 2**53 + 1, 10**30, float("nan"), float("inf"), "7", True, [7]])
@pytest.mark.parametrize("place", range(4))
def test_a_usage_beyond_counting_is_refused(count: object, place: int) -> None:
    numbers: list[object] = [10, 5, 2, 1]
    numbers[place] = count
    with pytest.raises(ValueError, match="tokens"):
        usage_of(ask_something(), *numbers)


def test_parts_of_a_usage_are_no_more_than_the_whole() -> None:
    usage, stated = usage_of(ask_something(), 10, 5, 1000, 1000)
    assert stated and (usage.cached_tokens, usage.reasoning_tokens) == (10, 5)
    # Some servers say 0 of every reply.
    assert usage_of(ask_something(), 0, 0)[1] is False


def ask_something() -> Request:
    from tests.models.scripted import ask

    return ask()


@pytest.mark.parametrize("odd", ["no_usage", "negative_usage"])
async def test_a_budget_holds_whatever_the_server_says_of_usage(
    odd: Odd, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.odd = lambda asked: odd
    file = model_file("chat", loopback, retries=RetryPolicy(attempts=1))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    client = ModelClient(
        [file],
        cache=ReplyCache(tmp_path / "cache.sqlite"),
        ledger=ledger,
        prices=PRICES,
        rng=random.Random(1),
        budget=Budget(tokens=1000),
    )

    async def one(number: int) -> object:
        request = ask(file, user(f"question {number}"), sampling=Sampling(max_output_tokens=50))
        try:
            return await client.complete(request, purpose="agent", owner="e")
        except ModelError as error:
            return error

    outcomes = await asyncio.gather(*(one(number) for number in range(60)))
    await client.close()
    (total,) = ledger.totals(by=())
    assert 500 < ledger.spent().tokens <= 1000
    assert total.sent == loopback.counts["received"] < 20
    assert sum(isinstance(each, BudgetExhaustedError) for each in outcomes) == 60 - total.sent
    assert total.not_stated == (total.sent if odd == "no_usage" else 0)
    assert total.maybe_billed == (0 if odd == "no_usage" else total.sent)
    if odd == "no_usage":
        assert {row.reason for row in ledger.of_owner("e")} == {NOT_STATED}
        assert total.cost == pytest.approx((total.prompt_tokens + 4 * total.completion_tokens) / 1e6)
