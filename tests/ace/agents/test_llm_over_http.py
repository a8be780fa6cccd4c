"""A model behind a real server plays, in each protocol, while requests fail on purpose."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agenthard.ace.environment import Environment
from agenthard.ace.session import AceSession
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.play.llm import LlmSettings, play
from agenthard.taxonomy.trajectory import Trajectory
from tests.ace.environment import small
from tests.loopback import Answer, Asked, Called, Faults, Loopback
from tests.loopback.brains import ace, scripted

SOLVE = Answer(
    text="Both.",
    calls=(Called("set_slot", {**small.UPPER, "id": "C11"}), Called("set_slot", {**small.LOWER, "id": "C21"})),
)
DONE = Answer(calls=(Called("done", {}),))


def model_file(server: Loopback, protocol: str) -> ModelFile:
    if protocol == "gemini":
        return ModelFile(name=f"google/loopback@{server.url}")
    return ModelFile(
        name=f"compatible/loopback@{server.openai_url}", api="responses" if protocol == "responses" else "chat"
    )


@contextmanager
def client_for(file: ModelFile, folder: Path) -> Iterator[ModelClient]:
    async def no_wait(seconds: float) -> None:
        await asyncio.sleep(0)

    cache, ledger = ReplyCache(folder / "cache.sqlite"), Ledger(folder / "ledger.sqlite")
    prices = PriceTable(currency="USD", prices=())
    yield ModelClient([file], cache=cache, ledger=ledger, prices=prices, rng=random.Random(0), sleep=no_wait)
    cache.close()
    ledger.close()


async def played(server: Loopback, protocol: str, folder: Path) -> Trajectory:
    file = model_file(server, protocol)
    with client_for(file, folder) as client:
        run = await play(
            client, LlmSettings(model=file.name), AceSession(Environment(small.puzzle())), agent="loopback"
        )
        await client.close()
    return run


@pytest.mark.parametrize("protocol", ["chat", "responses", "gemini"])
async def test_an_episode_survives_what_can_be_tried_again(
    protocol: str, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain = scripted([SOLVE, Answer(text="Is that all?"), DONE])
    loopback.service.faults = Faults(script=["429", None, "500", "malformed", None, None])
    run = await played(loopback, protocol, tmp_path)
    assert (run.status, run.ending, run.passed) == ("ok", "done", True)
    assert (run.usage["turns"], run.usage["calls"], run.usage["requests"]) == (3, 3, 6)
    assert run.usage["completion_tokens"] > 0 and "cost" not in run.usage
    again = await played(loopback, protocol, tmp_path)
    assert loopback.counts["received"] == 6  # all from the cache
    assert again.messages == run.messages and again.usage["requests"] == 3


@pytest.mark.parametrize("protocol", ["chat", "responses", "gemini"])
async def test_every_reply_cut_off(protocol: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = scripted([SOLVE])
    loopback.service.faults = Faults(chances={"truncated": 1.0})
    run = await played(loopback, protocol, tmp_path)
    assert (run.status, run.ending, run.passed) == ("ok", "truncations", False)
    assert (run.usage["truncations"], run.usage["calls"]) == (4, 0)


@pytest.mark.parametrize("protocol", ["chat", "responses", "gemini"])
async def test_a_conversation_too_long_for_the_server(
    protocol: str, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.faults = Faults(script=[None, "too_long"])
    loopback.service.brain = scripted([SOLVE])
    run = await played(loopback, protocol, tmp_path)
    assert (run.status, run.ending, run.passed) == ("agent_error", "context_overflow", True)


@pytest.mark.parametrize("protocol", ["chat", "gemini"])
async def test_a_model_that_reads_the_conversation(
    protocol: str, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    seen: list[Asked] = []

    def brain(asked: Asked) -> Answer:
        seen.append(asked)
        return ace(asked)

    loopback.service.brain = brain
    run = await played(loopback, protocol, tmp_path)
    # The grid, then a query and a choice for each of two slots, then `done`.
    assert (run.ending, run.usage["calls"], run.usage["queries"]) == ("done", 6, 2)
    assert {tool["name"] for tool in seen[0].tools} == {tool.name for tool in Environment(small.puzzle()).tools()}
