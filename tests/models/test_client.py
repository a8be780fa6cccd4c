"""One place where cache, limits, retries, budget and ledger meet."""

import asyncio
import random
from pathlib import Path

import pytest

from agenthard.models.budget import Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import (
    BadRequestError,
    BudgetExhaustedError,
    ConfigurationError,
    ConnectionFailedError,
    MalformedReplyError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StorageError,
    UnreachableError,
    WrongKeyError,
)
from agenthard.models.ledger import Ledger, transcript
from agenthard.models.limits import Limits
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import Price, PriceTable
from agenthard.models.request import Reply, Request, Sampling, Usage
from agenthard.models.retry import RetryPolicy
from tests.models.scripted import COST, MODEL, PRICES, USAGE, Bench, Scripted, ask, say


async def test_a_reply_is_bought_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(say("first"), say("second")))
    first, again = await bench.ask(), await bench.ask(owner="e2")
    assert (first.reply.message.text, first.cached, first.attempts) == ("first", False, 1)
    assert first.cost == pytest.approx(COST)
    assert (again.reply, again.cached, again.attempts, again.cost) == (first.reply, True, 0, first.cost)
    assert len(bench.provider.received) == 1
    total = bench.ledger.totals(by=())[0]
    assert (total.sent, total.answered, total.cached, total.prompt_tokens) == (1, 1, 1, 100)
    await bench.client.close()
    assert bench.provider.closed


async def test_a_process_that_dies_between_reply_and_ledger_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DiedError(BaseException):
        """Stands for kill -9 at this instruction."""

    def dies(*_: object, **__: object) -> None:
        raise DiedError

    bench = Bench(tmp_path, Scripted(say("first"), say("second")))
    with monkeypatch.context() as patched:
        patched.setattr(bench.ledger, "answered", dies)
        with pytest.raises(DiedError):
            await bench.ask()
    assert bench.ledger.totals(by=())[0].unknown == 1
    again = await bench.ask()
    assert (again.reply.message.text, again.cached) == ("first", True)
    total = bench.ledger.totals(by=())[0]
    assert (total.sent, total.answered, total.unknown, total.cached, total.prompt_tokens) == (1, 1, 0, 1, 100)


async def test_another_sample_is_another_request(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(say("a"), say("b")))
    await bench.ask(ask())
    assert (await bench.ask(ask(sample=1))).reply.message.text == "b"


async def test_the_same_request_at_once_is_sent_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted())
    done = await asyncio.gather(*(bench.ask(owner=f"e{n}") for n in range(5)))
    assert len(bench.provider.received) == 1
    assert sorted(one.cached for one in done) == [False, True, True, True, True]


async def test_who_waits_for_the_same_request_survives_the_first(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def hang(request: Request) -> None:
        started.set()
        await asyncio.Event().wait()

    bench = Bench(tmp_path, Scripted(hang, say("second try")))
    first = asyncio.create_task(bench.ask())
    second = asyncio.create_task(bench.ask(owner="e2"))
    await started.wait()
    first.cancel()
    assert (await second).reply.message.text == "second try"
    assert bench.states("e1") == [("maybe_billed", "CancelledError")]


async def test_failures_are_repeated_and_each_is_on_the_books(tmp_path: Path) -> None:
    script = (
        RateLimitError("slow", 3.0),
        ServerError("oops"),
        RequestTimeoutError("late"),
        MalformedReplyError("{"),
        say("at last"),
    )
    bench = Bench(tmp_path, Scripted(*script))
    done = await bench.ask()
    assert (done.attempts, done.reply.message.text, done.cost) == (5, "at last", pytest.approx(COST))
    assert done.seconds == pytest.approx(sum(bench.time.slept)) and bench.time.slept[0] >= 3.0
    assert bench.states() == [
        ("failed", "RateLimitError"),
        ("failed", "ServerError"),
        ("maybe_billed", "RequestTimeoutError"),
        ("maybe_billed", "MalformedReplyError"),
        ("answered", None),
    ]


async def test_the_last_error_is_raised_and_never_cached(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(ServerError("1"), ServerError("2"), say()), retries=RetryPolicy(attempts=2))
    with pytest.raises(ServerError, match="2"):
        await bench.ask()
    assert not (await bench.ask()).cached
    assert len(bench.provider.received) == 3


@pytest.mark.parametrize("error", [BadRequestError("no"), WrongKeyError("no")])
async def test_what_would_fail_again_is_not_repeated(tmp_path: Path, error: Exception) -> None:
    bench = Bench(tmp_path, Scripted(error))
    with pytest.raises(type(error)):
        await bench.ask()
    assert bench.states() == [("failed", type(error).__name__)] and bench.time.slept == []


async def test_a_host_never_heard_from_is_unreachable(tmp_path: Path) -> None:
    provider = Scripted(*[ConnectionFailedError("no connection to http://h:1")] * 4)
    bench = Bench(tmp_path, provider, retries=RetryPolicy(attempts=4))
    with pytest.raises(UnreachableError, match=r"http://h:1 \(attempts: 4\)"):
        await bench.ask()
    assert bench.states() == [("failed", "ConnectionFailedError")] * 4


@pytest.mark.parametrize("heard", [say(), RateLimitError("slow"), BadRequestError("no")])
async def test_a_host_that_went_away_may_come_back(tmp_path: Path, heard: Reply | Exception) -> None:
    provider = Scripted(heard, *[ConnectionFailedError("x")] * 4)
    bench = Bench(tmp_path, provider, retries=RetryPolicy(attempts=2))
    await asyncio.gather(bench.ask(ask("first")), return_exceptions=True)
    with pytest.raises(ConnectionFailedError):
        await bench.ask(ask("second"))


async def test_no_more_in_flight_than_allowed_and_none_held_while_waiting(tmp_path: Path) -> None:
    script = [RateLimitError("wait", 5.0)] * 6
    bench = Bench(tmp_path, Scripted(*script), limits=Limits(in_flight=3))
    await asyncio.gather(*(bench.ask(ask(str(n))) for n in range(30)))
    assert bench.provider.most_in_flight == 3
    assert len(bench.provider.received) == 36


async def test_a_spent_budget_stops_new_requests_and_keeps_those_in_flight(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(), budget=Budget(calls=10))
    done = await asyncio.gather(*(bench.ask(ask(str(n))) for n in range(64)), return_exceptions=True)
    stopped = [one for one in done if isinstance(one, BudgetExhaustedError)]
    assert (len(done) - len(stopped), len(bench.provider.received)) == (10, 10)
    assert "10 of 10 requests" in str(stopped[0]) and "raise the budget" in str(stopped[0])
    assert bench.ledger.totals(by=())[0].answered == 10
    again = Bench(tmp_path, Scripted(), budget=Budget(calls=10))
    assert (await again.ask(ask("3"))).cached
    with pytest.raises(BudgetExhaustedError):
        await again.ask(ask("new"))


async def test_sixty_four_in_flight_never_overshoot_and_wait_for_one_another(tmp_path: Path) -> None:
    # A request can take "hello" 5 bytes // 2 + 4 = 6 tokens and 50 out, at most 0.000512; it takes 6 and 20: 0.000212.
    usage = Usage(prompt_tokens=6, completion_tokens=20)
    provider = Scripted(*[say(usage=usage)] * 64)
    bench = Bench(tmp_path, provider, budget=Budget(money=0.0025))
    done = await asyncio.gather(*(bench.ask(ask(f"{n:05}")) for n in range(64)), return_exceptions=True)
    # After k replies another is sent while k * 0.000212 + 0.000512 <= 0.0025: k <= 9, so 10 are answered.
    assert sum(not isinstance(one, Exception) for one in done) == 10
    assert provider.most_in_flight <= 4  # four times the most fit into the budget
    assert bench.ledger.spent().money == pytest.approx(10 * 0.000212)


async def test_what_may_be_billed_counts_at_its_most(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(RequestTimeoutError("late")), budget=Budget(tokens=100))
    with pytest.raises(BudgetExhaustedError, match="56 of 100 tokens"):
        await bench.ask()
    assert len(bench.provider.received) == 1


async def test_a_budget_in_money_needs_prices(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=f"needs a price for {MODEL}"):
        Bench(tmp_path, Scripted(), budget=Budget(money=1), prices=PriceTable(currency="USD"))


async def test_the_price_in_a_model_file_goes_first(tmp_path: Path) -> None:
    price = Price(model=MODEL, prompt=0, completion=1.0, date="2026-11", source="a contract")
    bench = Bench(tmp_path, Scripted(), price=price)
    assert (await bench.ask()).cost == pytest.approx(20e-6)


async def test_a_model_that_was_not_announced_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted())
    with pytest.raises(ConfigurationError, match=f"google/x is not a model of this run; it has {MODEL}"):
        await bench.ask(ask(model="google/x"))


def test_files_for_one_model_may_differ_in_label_and_sampling(tmp_path: Path) -> None:
    parts = {"cache": ReplyCache(tmp_path / "c"), "ledger": Ledger(tmp_path / "l"), "prices": PRICES}
    one, two = ModelFile(name=MODEL, label="one"), ModelFile(name=MODEL, label="two", sampling=Sampling(seed=1))
    ModelClient([one, two], rng=random.Random(1), **parts)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=f"'one' and 'three' are both about {MODEL}"):
        three = ModelFile(name=MODEL, label="three", timeout=1)
        ModelClient([one, three], rng=random.Random(1), **parts)  # type: ignore[arg-type]


async def test_without_a_price_a_reply_costs_nothing_known(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(), prices=PriceTable(currency="USD"))
    assert (await bench.ask()).cost is None
    await bench.ask(owner="e2")
    total = bench.ledger.totals()[0]
    assert (total.cost, total.unpriced, total.cached) == (None, 1, 1)


async def test_rates_hold_requests_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(), limits=Limits(requests_per_minute=60))
    await asyncio.gather(*(bench.ask(ask(str(n))) for n in range(40)))
    # Ten pass at once, thirty more at one a second.
    assert bench.time.now == pytest.approx(30.0)


async def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted())
    await bench.ask()
    pages = bench.ledger._database.read("PRAGMA page_count")[0][0]
    bench.ledger._database.read(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match=r"ledger.sqlite: database or disk is full.*Free space"):
        for n in range(1000):
            await bench.ask(ask(str(n)))
    sent = len(bench.provider.received)
    bench.ledger._database.read("PRAGMA max_page_count = 100000")
    assert bench.ledger._database.read("PRAGMA integrity_check") == [("ok",)]
    total = bench.ledger.totals(by=())[0]
    assert total.sent == sent and (await bench.ask()).cached


async def test_everything_an_owner_asked_can_be_read_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(say("a"), ServerError("x"), say("b"), BadRequestError("no")))
    await bench.ask(ask("1"))
    await bench.ask(ask("2"))
    await bench.ask(ask("1"))
    with pytest.raises(BadRequestError):
        await bench.ask(ask("3"))
    await bench.ask(ask("other"), owner="e2")
    read = list(transcript("e1", bench.ledger, bench.cache))
    assert [one.request for one in read] == [ask("1"), ask("2"), ask("3")]
    assert [one.reply.message.text if one.reply else None for one in read] == ["a", "b", None]
    states = [[attempt.state for attempt in one.attempts] for one in read]
    assert states == [["answered", "cached"], ["failed", "answered"], ["failed"]]


async def test_agent_user_and_judge_are_kept_apart(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Scripted(), prices=PRICES)
    for n, purpose in enumerate(["agent", "agent", "user", "judge"]):
        await bench.ask(ask(str(n)), purpose=purpose)
    totals = {total.purpose: total for total in bench.ledger.totals(by=("model", "purpose"))}
    assert {purpose: total.answered for purpose, total in totals.items()} == {"agent": 2, "judge": 1, "user": 1}
    assert totals["agent"].cost == pytest.approx(2 * COST)
    assert totals["agent"].reasoning_tokens == 2 * USAGE.reasoning_tokens
