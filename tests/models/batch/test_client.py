import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agenthard.models.batch.client import BatchClient
from agenthard.models.budget import Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import ConnectionLostError, WrongKeyError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import Price, PriceTable
from agenthard.models.request import OutputSchema, Request, Sampling
from tests.loopback import Faults, Loopback
from tests.models.providers.talking import APIS, ask, model_file, user

SCHEMA = OutputSchema(name="Word", json_schema={"type": "object", "properties": {}, "additionalProperties": False})
PRICE = {"prompt": 1_000_000, "completion": 1_000_000, "batch": 0.5, "date": "2026-11", "source": "this test"}


@dataclass
class Batches:
    """A batch client with cache and ledger."""

    folder: Path
    file: ModelFile
    budget: Budget = field(default_factory=Budget)

    def open(self) -> "Batches":
        self.cache, self.ledger = ReplyCache(self.folder / "cache.sqlite"), Ledger(self.folder / "ledger.sqlite")
        prices = PriceTable(currency="USD", prices=(Price(model=self.file.name, **PRICE),))
        self.client = BatchClient(
            [self.file], self.folder / "batches",
            cache=self.cache, ledger=self.ledger, prices=prices, budget=self.budget,
        )  # fmt: skip
        return self

    def questions(self, n: int, **settings: Any) -> list[Request]:
        sampling = Sampling(max_output_tokens=50)
        return [ask(self.file, user(f"Say {i}"), sampling=sampling, **settings) for i in range(n)]

    def replies(self, questions: list[Request]) -> list[str | None]:
        found = [self.cache.get(self.file.addressed(question).digest) for question in questions]
        return [reply.message.text if reply else None for reply in found]


@pytest.fixture(params=APIS)
async def batches(
    request: pytest.FixtureRequest, tmp_path: Path, loopback: Loopback, keys: str
) -> AsyncIterator[Batches]:
    (tmp_path / "batches").mkdir()
    made = Batches(tmp_path, model_file(request.param, loopback)).open()
    yield made
    await made.client.close()


async def test_answers_come_into_the_cache_at_half_the_price(batches: Batches, loopback: Loopback) -> None:
    questions = batches.questions(5, output=SCHEMA)
    loopback.service.batches.polls = 1
    first = await batches.client.submit(questions)
    assert (first.batches, first.requests) == (1, 5)
    again = await batches.client.submit(iter(questions))
    assert (again.batches, again.under_way) == (0, 5)
    assert (await batches.client.collect()).waiting == 1
    collected = await batches.client.collect()
    assert (collected.answered, collected.errors, collected.waiting) == (5, {}, 0)
    assert all(batches.replies(questions))
    heard = loopback.service.heard
    assert [asked.schema for asked in heard] == [SCHEMA.json_schema] * 5 and heard[0].max_tokens == 50
    assert (await batches.client.submit(questions)).answered == 5
    (total,) = batches.ledger.totals()
    billed = loopback.counts["billed"][batches.file.parsed_name.name]
    assert total.purpose == "judge"
    assert (total.answered, total.prompt_tokens, total.unknown) == (5, billed["prompt"], 0)
    assert total.cost == pytest.approx((billed["prompt"] + billed["completion"]) / 2)


async def test_lines_that_failed_and_lines_that_never_came(batches: Batches, loopback: Loopback) -> None:
    questions = batches.questions(6)
    loopback.service.faults = Faults(script=[None, "500", "malformed", "429"])
    loopback.service.batches.most = 4
    await batches.client.submit(questions)
    collected = await batches.client.collect()
    assert collected.answered == 1
    assert collected.errors == {"MalformedReplyError": 1, "NotAnswered": 2, "RateLimitError": 1, "ServerError": 1}
    (total,) = batches.ledger.totals()
    assert (total.answered, total.maybe_billed, total.failed, total.unknown) == (1, 1, 4, 0)
    loopback.service.batches.most = None
    second = await batches.client.submit(questions)
    assert (second.answered, second.requests) == (1, 5)
    assert (await batches.client.collect()).answered == 5
    assert all(batches.replies(questions))


async def test_a_process_that_died_before_it_knew_the_batch(
    batches: Batches, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = batches.questions(3)
    service = batches.client._service(batches.file.name)
    submit = service.submit

    async def killed(file: Path, tag: str) -> str:
        await submit(file, tag)
        raise ConnectionLostError("the process dies here")

    monkeypatch.setattr(service, "submit", killed)
    with pytest.raises(ConnectionLostError):
        await batches.client.submit(questions)
    batches.open()
    resumed = await batches.client.submit(questions)
    assert (resumed.batches, resumed.requests) == (1, 3)
    assert len(loopback.service.batches.begun) == 1
    assert (await batches.client.collect()).answered == 3
    (total,) = batches.ledger.totals()
    assert (total.sent, total.answered) == (3, 3)


async def test_what_the_budget_has_no_room_for_is_left(batches: Batches, loopback: Loopback) -> None:
    batches.budget = Budget(tokens=200)
    batches.open()
    sent = await batches.client.submit(batches.questions(9))
    assert sent.requests + sent.left == 9 and 0 < sent.requests < 9
    assert (await batches.client.collect()).answered == sent.requests
    assert batches.ledger.spent().tokens <= 200


async def test_a_budget_without_room_sends_nothing(batches: Batches, loopback: Loopback) -> None:
    batches.budget = Budget(tokens=1)
    batches.open()
    sent = await batches.client.submit(batches.questions(2))
    assert (sent.batches, sent.left) == (0, 2)
    assert loopback.service.batches.begun == {}


async def test_a_batch_that_is_refused_as_a_whole(batches: Batches, loopback: Loopback) -> None:
    loopback.service.batches.refuse = True
    await batches.client.submit(batches.questions(2))
    assert (await batches.client.collect()).errors == {"NotAnswered": 2}
    ((job, words),) = await batches.client.progress()
    assert job.state == "failed" and "fail" in words.lower()
    loopback.service.batches.refuse = False
    assert (await batches.client.submit(batches.questions(2))).requests == 2


async def test_a_cancelled_batch_ends(batches: Batches, loopback: Loopback) -> None:
    await batches.client.submit(batches.questions(2))
    assert await batches.client.cancel() == 1
    assert (await batches.client.collect()).errors == {"NotAnswered": 2}
    assert await batches.client.cancel() == 0


async def test_a_wrong_key_keeps_the_batch_for_later(batches: Batches, loopback: Loopback) -> None:
    loopback.service.key = "another"
    with pytest.raises(WrongKeyError):
        await batches.client.submit(batches.questions(2))
    loopback.service.key = "test-key"
    assert (await batches.client.submit([])).requests == 2


async def test_files_are_split_and_strange_lines_counted(
    batches: Batches, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthard.models.batch.client.MAX_REQUESTS", 2)
    questions = batches.questions(5)
    assert (await batches.client.submit(questions)).batches == 3
    service = batches.client._service(batches.file.name)
    download = service.download

    async def strange(batch: str, to: Path) -> None:
        await download(batch, to)
        lines = to.read_text().splitlines()
        to.write_text("\n".join([*lines, lines[0], json.dumps({"custom_id": "nobody"}), "{", "[]"]))

    monkeypatch.setattr(service, "download", strange)
    collected = await batches.client.collect()
    assert (collected.answered, collected.repeated, collected.unknown, len(collected.unreadable)) == (5, 3, 6, 3)
    assert all(batches.replies(questions))
