"""The server itself: what it counts, when it fails, what it refuses, and that it lives on without its clients."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.loopback import KEY, Answer, Asked, Called, Faults, Loopback
from tests.loopback.fixtures import LoopbackProcess

HEADERS = {"Authorization": f"Bearer {KEY}", "x-goog-api-key": KEY}


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


async def post(url: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(headers={**HEADERS, **headers}) as client:
        return await client.post(url, json=body, timeout=30)


async def test_counts(loopback: Loopback) -> None:
    usage = {"prompt": 10, "completion": 3, "cached": 2, "reasoning": 1}
    loopback.service.brain = lambda _: Answer(text="x", usage=usage)
    loopback.service.faults.script = [None, "500", None, "malformed", None]
    for text in ("a", "b", "b", "c", "a"):
        await post(f"{loopback.openai_url}/chat/completions", chat(text))
    counts = loopback.counts
    assert (counts["received"], counts["answered"]) == (5, 3)
    assert counts["faults"] == {"500": 1, "malformed": 1}
    assert counts["billed"] == {"m": {"requests": 3, "prompt": 30, "completion": 9, "cached": 6, "reasoning": 3}}
    # The same question a second time is billed, yet it is not another one.
    assert counts["distinct"]["m"]["requests"] == 2
    assert counts["lost"]["m"]["requests"] == 1


async def test_a_client_that_goes_is_not_billed(loopback: Loopback) -> None:
    loopback.service.faults.script = ["hang"]
    async with httpx2.AsyncClient(headers=HEADERS) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.post(f"{loopback.openai_url}/chat/completions", json=chat("a"), timeout=0.2)
    while loopback.counts["in_flight"]:
        await asyncio.sleep(0.01)
    assert (loopback.counts["abandoned"], loopback.counts["answered"], loopback.counts["billed"]) == (1, 0, {})


def test_faults_depend_on_what_is_asked_not_on_when() -> None:
    chances: dict[Any, float] = {"429": 0.2, "500": 0.1, "truncated": 0.3}
    digests = [str(n) for n in range(2000)]

    def outcomes(order: list[str]) -> dict[str, list[str | None]]:
        faults = Faults(chances=chances, seed=7)
        return {digest: [faults.next(digest, seen) for seen in range(4)] for digest in order}

    forth, back = outcomes(digests), outcomes(digests[::-1])
    assert forth == back
    first = Counter(found[0] for found in forth.values())
    # 5 standard deviations of a share p of 2,000 are at most 5 * sqrt(p (1 - p) / 2000) < 0.06.
    assert abs(first["429"] / 2000 - 0.2) < 0.06
    assert abs(first["500"] / 2000 - 0.1) < 0.06
    for found in forth.values():
        replies = {fault for fault in found if fault in (None, "truncated")}
        assert len(replies) <= 1, "the same question got two different replies"
    calm = Faults(chances={"500": 1.0}, most_in_a_row=2)
    assert [calm.next("x", seen) for seen in range(4)] == ["500", "500", None, None]


def test_unknown_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="no such faults: 418"):
        Faults(chances={"418": 0.1})  # type: ignore[dict-item]


async def test_models_and_keys(loopback: Loopback) -> None:
    loopback.service.models = frozenset({"a", "b"})
    async with httpx2.AsyncClient() as client:
        assert (await client.get(f"{loopback.openai_url}/models")).status_code == 401
        listed = await client.get(f"{loopback.openai_url}/models", headers=HEADERS)
    assert [model["id"] for model in listed.json()["data"]] == ["a", "b"]
    refused = await post(f"{loopback.openai_url}/chat/completions", chat("x"), Authorization="Bearer wrong")
    assert (refused.status_code, "wrong" in refused.text) == (401, True)
    assert (await post(f"{loopback.openai_url}/chat/completions", chat("x"))).status_code == 404


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "v1/chat/completions",
            {"messages": [{"role": "assistant", "tool_calls": [CALL]}, {"role": "user", "content": "x"}]},
        ),
        ("v1/chat/completions", {"messages": [{"role": "tool", "tool_call_id": "c2", "content": "x"}]}),
        ("v1/chat/completions", {}),
        ("v1/responses", {"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}),
        ("v1/responses", {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]}),
        ("v1/responses", {"input": [{"type": "reasoning", "id": "rs", "summary": []}]}),
        (
            "v1/responses",
            {"input": [{"type": "function_call", "call_id": "thought_1_0", "name": "f", "arguments": "{}"}]},
        ),
        (
            "v1beta/models/gemini-3-x:generateContent",
            {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f"}}]}]},
        ),
        (
            "v1beta/models/gemini-2:generateContent",
            {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]},
        ),
    ],
)
async def test_broken_conversations_are_refused(path: str, body: dict[str, Any], loopback: Loopback) -> None:
    answer = await post(f"{loopback.url}/{path}", {"model": "m", **body})
    assert answer.status_code == 400, answer.text
    assert (loopback.counts["refused"], loopback.counts["answered"]) == (1, 0)


async def test_context(loopback: Loopback) -> None:
    loopback.service.context = 2
    assert (await post(f"{loopback.openai_url}/chat/completions", chat("12345678"))).status_code == 200
    refused = await post(f"{loopback.openai_url}/chat/completions", chat("123456789"))
    assert refused.json()["error"]["code"] == "context_length_exceeded"


def shout(asked: Asked) -> Answer:
    return Answer(text=asked.said[-1].text.upper(), calls=(Called("f", "{broken"),))


async def test_a_process_of_its_own(loopback_process: Callable[..., LoopbackProcess]) -> None:
    server = loopback_process(brain="tests.loopback.test_server:shout", faults={"script": ["503"]})
    url = f"{server.openai_url}/chat/completions"
    assert (await post(url, chat("hi"))).status_code == 503
    message = (await post(url, chat("hi"))).json()["choices"][0]["message"]
    assert (message["content"], message["tool_calls"][0]["function"]["arguments"]) == ("HI", "{broken")
    assert (server.counts["received"], server.counts["answered"]) == (2, 1)
    server.change(faults={"chances": {"500": 1.0}})
    assert (await post(url, chat("hi"))).status_code == 500
    server.reset()
    assert server.counts["received"] == 0
