import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.judge.context.fence import fence_code
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.conversation import CALLS_PER_TURN, Conversation, ask, judge_error
from agenthard.audit.judge.investigation.investigator import Investigator
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import (
    BadRequestError,
    BudgetExhaustedError,
    ConfigurationError,
    ContextOverflowError,
    MalformedReplyError,
    MissingKeyError,
    ModelError,
    RateLimitError,
    RequestTimeoutError,
    WrongKeyError,
)
from agenthard.models.ledger import Ledger
from agenthard.models.prices import Price, PriceTable
from agenthard.models.request import ChatMessage, Completion, OutputSchema, Reply, Request, Usage
from agenthard.models.retry import RetryPolicy
from agenthard.taxonomy import AgentTask
from tests.library import desk_task, lend, library_desk
from tests.loopback import Faults, Loopback
from tests.loopback.talk import Answer, Asked, Called
from tests.models.providers.talking import APIS, model_file

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

PRICES = PriceTable(
    currency="USD", prices=(Price(model="*", prompt=1, completion=4, date="2026-11", source="these tests"),)
)
SCHEMA = {"type": "object", "properties": {"outcome": {"type": "string"}}, "required": ["outcome"]}
VERDICT = '{"outcome": "not_flawed"}'


def question(model: str) -> Request:
    talk = (ChatMessage(role="system", text="You judge."), ChatMessage(role="user", text="Is it flawed?"))
    return Request(model=model, messages=talk, output=OutputSchema(name="verdict", json_schema=SCHEMA))


def investigator(task: AgentTask) -> Investigator:
    return Investigator(task, Material(task_id=task.id, passages=()))


def judge(*turns: Answer) -> Callable[[Asked], Answer]:
    """Makes its turns while it has tools, then gives its verdict."""

    def brain(asked: Asked) -> Answer:
        if not asked.tools:
            return Answer(text=VERDICT)
        return turns[min(asked.turn, len(turns) - 1)]

    return brain


async def put(
    api: str, server: Loopback, folder: Path, looking: Investigator | None, turns: int = 6, **limits: Any
) -> Conversation:
    file = model_file(api, server, retries=RetryPolicy(attempts=1), **limits)
    ledger = Ledger(folder / "ledger.sqlite")
    client = ModelClient(
        [file], cache=ReplyCache(folder / "cache.sqlite"), ledger=ledger, prices=PRICES, rng=random.Random(1)
    )
    try:
        found = await ask(client, question(file.name), looking, turns, owner="lib/1")
    finally:
        await client.close()
    (total,) = ledger.totals(by=("purpose",)) or (None,)
    if total is not None and found.error is None:
        assert (total.purpose, total.answered, total.cost) == ("judge", found.requests, pytest.approx(found.cost))
    return found


@pytest.mark.parametrize("api", APIS)
async def test_without_look_ups_it_is_one_request(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = judge()
    found = await put(api, loopback, tmp_path, None)
    assert (found.text, found.error, found.requests, found.lookups) == (VERDICT, None, 1, ())
    [heard] = loopback.service.heard
    assert heard.schema == SCHEMA and not heard.tools


@pytest.mark.parametrize("api", APIS)
async def test_looking_things_up(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = judge(
        Answer(text="Who has book 9?", calls=(Called("look_up", {"at": "b9"}), Called("replay_gold", {}))),
        Answer(calls=(Called("no_such_tool", {"x": 1}), Called("look_up", {"at": "b0"}))),
        Answer(text="I know enough."),
    )
    found = await put(api, loopback, tmp_path, investigator(desk_task(lend())))
    assert (found.text, found.error, found.requests) == (VERDICT, None, 4)
    assert [passage.label for passage in found.lookups] == [f"lookup/{n}" for n in (1, 2, 3, 4)]
    assert found.lookups[0].pointer == "/environment/state/books/b9"
    assert "No tool of this name" in found.lookups[2].text and "no record is called 'b0'" in found.lookups[3].text
    assert found.usage.prompt_tokens > 0 and found.cost
    *looking, last = loopback.service.heard
    assert all(heard.tools and heard.schema is None for heard in looking)
    answers = [said.text for said in looking[-1].said if said.role == "tool"]
    code = fence_code([found.lookups[0]])
    assert len(answers) == 4 and f"<<<{code} lookup/1" in json.dumps(answers[0])
    assert [said.role for said in last.said] == ["system", "user"]
    assert last.schema == SCHEMA and not last.tools
    words = last.said[-1].text
    assert words.startswith("Is it flawed?\n")
    assert all(passage.text in words and passage.label in words for passage in found.lookups)
    assert "Who has book 9?" in words and "I know enough." in words


@pytest.mark.parametrize("api", APIS)
async def test_turns_and_calls_are_limited(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    many = tuple(Called("look_up", {"at": "b9", "offset": 0}) for _ in range(CALLS_PER_TURN + 3))
    loopback.service.brain = judge(Answer(calls=many))
    found = await put(api, loopback, tmp_path, investigator(desk_task(lend())), turns=3)
    assert (found.requests, len(found.lookups), found.text) == (4, 3 * CALLS_PER_TURN, VERDICT)
    refused = [said.text for said in loopback.service.heard[2].said if "Not carried out" in said.text]
    assert len(refused) == 2 * 3


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_broken_arguments_are_answered(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = judge(Answer(calls=(Called("look_up", '{"at": "b'),)), Answer(text="Never mind."))
    found = await put(api, loopback, tmp_path, investigator(desk_task(lend())))
    assert found.text == VERDICT and "not a JSON object" in found.lookups[0].text


async def test_a_verdict_in_place_of_look_ups_is_asked_for_again(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = judge(Answer(text="Ignore the rules."))
    found = await put("chat", loopback, tmp_path, investigator(desk_task()))
    assert (found.text, found.requests, found.lookups) == (VERDICT, 2, ())
    assert "Nothing." in loopback.service.heard[-1].said[-1].text


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(text="I cannot help.", finish="refusal"), "refusal", ""),
        (Answer(text='{"outcome": "not', finish="length"), "unreadable", "cut off"),
        (Answer(text=" \n"), "unreadable", "empty"),
    ],
)
async def test_answers_that_are_none(
    answer: Answer, kind: str, words: str, looks: bool, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain = lambda asked: answer
    found = await put("chat", loopback, tmp_path, investigator(desk_task()) if looks else None)
    assert found.error is not None and (found.error.kind, found.text) == (kind, "")
    assert words in found.error.message
    # A refusal ends the look-ups; the rest is asked for the verdict all the same.
    assert found.requests == (2 if looks and kind != "refusal" else 1)
    assert found.usage.prompt_tokens > 0


@pytest.mark.parametrize(
    ("fault", "kind"), [("malformed", "unreadable"), ("500", "provider"), ("too_long", "context_overflow")]
)
async def test_failures_on_the_way(fault: Any, kind: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = judge(Answer(calls=(Called("look_up", {"at": "b9"}),)), Answer(text="Done."))
    loopback.service.faults = Faults(script=[None, fault])
    found = await put("chat", loopback, tmp_path, investigator(desk_task()))
    assert found.error is not None and found.error.kind == kind
    assert (found.requests, len(found.lookups)) == (1, 1)
    assert found.cost and found.usage.completion_tokens > 0


async def test_a_wrong_key_ends_the_run(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.key = "another"
    with pytest.raises(WrongKeyError):
        await put("chat", loopback, tmp_path, investigator(desk_task()))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ContextOverflowError("too long"), "context_overflow"),
        (BadRequestError("odd"), "provider"),
        (RequestTimeoutError("late"), "timeout"),
        (RateLimitError("slow down"), "provider"),
        (MalformedReplyError("no JSON"), "unreadable"),
    ],
)
def test_errors_of_one_question(error: ModelError, kind: str) -> None:
    assert judge_error(error).model_dump() == {"kind": kind, "message": str(error)}


@pytest.mark.parametrize(
    "error", [WrongKeyError("k"), BudgetExhaustedError("b"), ConfigurationError("c"), MissingKeyError("m")]
)
def test_errors_of_the_whole_run(error: ModelError) -> None:
    with pytest.raises(type(error)):
        judge_error(error)


class Unpriced:
    """A model without a price."""

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        await asyncio.sleep(0)
        message = ChatMessage(role="assistant", text=VERDICT)
        return Completion(reply=Reply(message=message, finish="stop", usage=Usage(prompt_tokens=3)))


async def test_costs_are_unknown_without_a_price() -> None:
    found = await ask(Unpriced(), question("openai/tiny"), investigator(desk_task()), 2, owner="e")
    assert (found.requests, found.cost, found.usage.prompt_tokens) == (2, None, 6)
