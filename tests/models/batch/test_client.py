import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agenthard.models.batch.client import BatchDesk
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
class Office:
    """A desk with what belongs to it; `reopen` is what a new process does."""

    folder: Path
    file: ModelFile
    budget: Budget = field(default_factory=Budget)

    def open(self) -> "Office":
        self.cache, self.ledger = ReplyCache(self.folder / "cache.sqlite"), Ledger(self.folder / "ledger.sqlite")
        prices = PriceTable(currency="USD", prices=(Price(model=self.file.name, **PRICE),))
        self.desk = BatchDesk(
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
async def office(
    request: pytest.FixtureRequest, tmp_path: Path, loopback: Loopback, keys: str
) -> AsyncIterator[Office]:
    (tmp_path / "batches").mkdir()
    made = Office(tmp_path, model_file(request.param, loopback)).open()
    yield made
    await made.desk.close()


async def test_answers_come_into_the_cache_at_half_the_price(office: Office, loopback: Loopback) -> None:
    questions = office.questions(5, output=SCHEMA)
    loopback.service.batches.polls = 1
    first = await office.desk.submit(questions)
    assert (first.batches, first.requests) == (1, 5)
    again = await office.desk.submit(iter(questions))
    assert (again.batches, again.under_way) == (0, 5)
    assert (await office.desk.fetch()).waiting == 1
    taken = await office.desk.fetch()
    assert (taken.answered, taken.errors, taken.waiting) == (5, {}, 0)
    assert all(office.replies(questions))
    heard = loopback.service.heard
    assert [asked.schema for asked in heard] == [SCHEMA.json_schema] * 5 and heard[0].max_tokens == 50
    assert (await office.desk.submit(questions)).answered == 5
    (total,) = office.ledger.totals()
    billed = loopback.counts["billed"][office.file.parsed_name.name]
    assert total.purpose == "judge"
    assert (total.answered, total.prompt_tokens, total.unknown) == (5, billed["prompt"], 0)
    assert total.cost == pytest.approx((billed["prompt"] + billed["completion"]) / 2)


async def test_lines_that_failed_and_lines_that_never_came(office: Office, loopback: Loopback) -> None:
    questions = office.questions(6)
    loopback.service.faults = Faults(script=[None, "500", "malformed", "429"])
    loopback.service.batches.most = 4
    await office.desk.submit(questions)
    taken = await office.desk.fetch()
    assert taken.answered == 1
    assert taken.errors == {"MalformedReplyError": 1, "NotAnswered": 2, "RateLimitError": 1, "ServerError": 1}
    (total,) = office.ledger.totals()
    assert (total.answered, total.maybe_billed, total.failed, total.unknown) == (1, 1, 4, 0)
    loopback.service.batches.most = None
    second = await office.desk.submit(questions)
    assert (second.answered, second.requests) == (1, 5)
    assert (await office.desk.fetch()).answered == 5
    assert all(office.replies(questions))


async def test_a_process_that_died_before_it_knew_the_batch(
    office: Office, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = office.questions(3)
    service = office.desk._service(office.file.name)
    submit = service.submit

    async def killed(file: Path, tag: str) -> str:
        await submit(file, tag)
        raise ConnectionLostError("the process dies here")

    monkeypatch.setattr(service, "submit", killed)
    with pytest.raises(ConnectionLostError):
        await office.desk.submit(questions)
    office.open()
    resumed = await office.desk.submit(questions)
    assert (resumed.batches, resumed.requests) == (1, 3)
    assert len(loopback.service.batches.begun) == 1
    assert (await office.desk.fetch()).answered == 3
    (total,) = office.ledger.totals()
    assert (total.sent, total.answered) == (3, 3)


async def test_what_the_budget_has_no_room_for_is_left(office: Office, loopback: Loopback) -> None:
    office.budget = Budget(tokens=200)
    office.open()
    sent = await office.desk.submit(office.questions(9))
    assert sent.requests + sent.left == 9 and 0 < sent.requests < 9
    assert (await office.desk.fetch()).answered == sent.requests
    assert office.ledger.spent().tokens <= 200


async def test_a_budget_without_room_sends_nothing(office: Office, loopback: Loopback) -> None:
    office.budget = Budget(tokens=1)
    office.open()
    sent = await office.desk.submit(office.questions(2))
    assert (sent.batches, sent.left) == (0, 2)
    assert loopback.service.batches.begun == {}


async def test_a_batch_that_is_refused_as_a_whole(office: Office, loopback: Loopback) -> None:
    loopback.service.batches.refuse = True
    await office.desk.submit(office.questions(2))
    assert (await office.desk.fetch()).errors == {"NotAnswered": 2}
    ((job, words),) = await office.desk.progress()
    assert job.state == "failed" and "fail" in words.lower()
    loopback.service.batches.refuse = False
    assert (await office.desk.submit(office.questions(2))).requests == 2


async def test_a_cancelled_batch_ends(office: Office, loopback: Loopback) -> None:
    await office.desk.submit(office.questions(2))
    assert await office.desk.cancel() == 1
    assert (await office.desk.fetch()).errors == {"NotAnswered": 2}
    assert await office.desk.cancel() == 0


async def test_a_wrong_key_keeps_the_batch_for_later(office: Office, loopback: Loopback) -> None:
    loopback.service.key = "another"
    with pytest.raises(WrongKeyError):
        await office.desk.submit(office.questions(2))
    loopback.service.key = "test-key"
    assert (await office.desk.submit([])).requests == 2


async def test_files_are_split_and_strange_lines_counted(
    office: Office, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthard.models.batch.client.MOST_REQUESTS", 2)
    questions = office.questions(5)
    assert (await office.desk.submit(questions)).batches == 3
    service = office.desk._service(office.file.name)
    download = service.download

    async def strange(batch: str, to: Path) -> None:
        await download(batch, to)
        lines = to.read_text().splitlines()
        to.write_text("\n".join([*lines, lines[0], json.dumps({"custom_id": "nobody"}), "{", "[]"]))

    monkeypatch.setattr(service, "download", strange)
    taken = await office.desk.fetch()
    assert (taken.answered, taken.repeated, taken.unknown, len(taken.unreadable)) == (5, 3, 6, 3)
    assert all(office.replies(questions))
