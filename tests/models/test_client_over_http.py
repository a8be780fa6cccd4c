"""The whole client against a real server that fails on purpose: nothing lost, and the books agree with the server's."""

import asyncio
import random
from pathlib import Path

import pytest

from agenthard.models.cache import ReplyCache
from agenthard.models.cassette import Player, Recorder
from agenthard.models.client import ModelClient
from agenthard.models.errors import UnreachableError, WrongKeyError
from agenthard.models.ledger import Ledger
from agenthard.models.limits import Limits
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import Price, PriceTable
from agenthard.models.providers import provider_for
from agenthard.models.retry import RetryPolicy
from tests.loopback import Faults, Loopback
from tests.models.providers.talking import APIS, model_file
from tests.models.scripted import ask

PRICES = PriceTable(
    currency="USD", prices=(Price(model="*", prompt=1, completion=4, date="2026-11", source="these tests"),)
)


def client_for(file: ModelFile, folder: Path, **options: object) -> tuple[ModelClient, Ledger]:
    ledger = Ledger(folder / "ledger.sqlite")
    parts = {"cache": ReplyCache(folder / "cache.sqlite"), "ledger": ledger, "prices": PRICES, **options}
    return ModelClient([file], rng=random.Random(1), **parts), ledger  # type: ignore[arg-type]


@pytest.mark.parametrize("api", APIS)
async def test_the_ledger_agrees_with_the_server(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    chances = {"429": 0.1, "429_silent": 0.05, "500": 0.1, "503": 0.05, "malformed": 0.1, "dropped": 0.1}
    loopback.service.faults = Faults(chances=chances, seed=3, most_in_a_row=4)  # type: ignore[arg-type]
    file = model_file(api, loopback, limits=Limits(in_flight=16), retries=RetryPolicy(first_wait=0.01))
    client, ledger = client_for(file, tmp_path)
    requests = [ask(f"question {n % 90}", model=file.name) for n in range(100)]
    done = await asyncio.gather(*(client.complete(one, purpose="agent", owner="e") for one in requests))
    await client.close()
    assert all(f"question {n % 90}" in one.reply.message.text for n, one in enumerate(done))
    (total,), counts = ledger.totals(by=()), loopback.counts
    assert (total.sent, total.answered, total.cached, total.unknown) == (counts["received"], 90, 10, 0)
    faults = counts["faults"]
    assert total.maybe_billed == faults["malformed"] + faults["dropped"]
    assert total.failed == faults["429"] + faults["429_silent"] + faults["500"] + faults["503"]
    (billed,) = counts["billed"].values()
    assert billed["requests"] == 90
    assert [total.prompt_tokens, total.completion_tokens] == [billed["prompt"], billed["completion"]]
    assert [total.cached_tokens, total.reasoning_tokens] == [billed["cached"], billed["reasoning"]]
    assert total.cost == pytest.approx((billed["prompt"] + 4 * billed["completion"]) / 1e6)
    assert sum(one.cost or 0 for one in done if not one.cached) == pytest.approx(total.cost)
    assert counts["most_in_flight"] <= 16


async def test_a_cassette_of_a_real_server(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    file, path = model_file("chat", loopback), tmp_path / "demo.jsonl"
    replies = []
    for name in ("live", "played"):
        provider = Recorder(provider_for(file), path) if name == "live" else Player(path)
        client, _ = client_for(file, tmp_path / name, provider_for=lambda file, provider=provider: provider)
        replies.append(await client.complete(ask(model=file.name), purpose="agent", owner="e"))
        await client.close()
    assert replies[0].reply == replies[1].reply and loopback.counts["received"] == 1
    assert keys not in path.read_text()


async def test_no_key_of_ours_is_on_disk(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.faults = Faults(script=["refused_key", None])
    file = model_file("chat", loopback)
    client, _ = client_for(file, tmp_path)
    with pytest.raises(WrongKeyError):
        await client.complete(ask(model=file.name), purpose="agent", owner="e")
    await client.complete(ask(model=file.name), purpose="agent", owner="e")
    await client.close()
    assert [path.name for path in tmp_path.iterdir() if keys.encode() in path.read_bytes()] == []


async def test_nobody_listens(keys: str, tmp_path: Path) -> None:
    file = ModelFile(name="compatible/m@http://127.0.0.1:9/v1", retries=RetryPolicy(attempts=2, first_wait=0.01))
    client, ledger = client_for(file, tmp_path)
    with pytest.raises(UnreachableError, match=r"127.0.0.1:9.*attempts: 2"):
        await client.complete(ask(model=file.name), purpose="agent", owner="e")
    await client.close()
    assert ledger.totals()[0].failed == 2
