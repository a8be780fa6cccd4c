"""What single servers do differently: answers as they send them, and names as they want them."""

from typing import Any

import pytest
from starlette.responses import JSONResponse

from agenthard.models import errors
from agenthard.models.errors import ModelError
from agenthard.models.request import ChatMessage, Reply
from tests.loopback import Answer, Called, Loopback
from tests.loopback.brains import scripted
from tests.models.providers.talking import SECONDS, WEATHER, answer, ask, model_file, provider, user

pytestmark = pytest.mark.usefixtures("keys")


async def replied(api: str, body: dict[str, Any], server: Loopback, patch: pytest.MonkeyPatch) -> Reply:
    async def fixed(*_: object) -> JSONResponse:
        return JSONResponse(body)

    patch.setattr("tests.loopback.app._serve", fixed)
    file = model_file(api, server)
    talk = (user("a"), ChatMessage(role="assistant", text="b"), user("c"))
    async with provider(file) as model:
        return await model.complete(ask(file, *talk), SECONDS)


def choice(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


async def test_calls_without_ids_and_with_objects(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [
        {"function": {"name": "f", "arguments": {"a": 1}}},
        {"id": "", "function": {"name": "g", "arguments": None}},
    ]
    reply = await replied("chat", choice({"content": None, "tool_calls": calls}, None), loopback, monkeypatch)
    # The second reply of the conversation is turn 1.
    assert [(c.id, c.name, c.arguments) for c in reply.message.calls] == [
        ("call_1_0", "f", '{"a": 1}'),
        ("call_1_1", "g", "{}"),
    ]
    assert reply.finish == "tool_calls"


async def test_content_in_parts_and_no_usage(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    reply = await replied("chat", choice({"content": parts}, usage=None, model=None), loopback, monkeypatch)
    assert (reply.message.text, reply.model_version) == ("one two", "")
    assert not reply.usage_stated and reply.usage.prompt_tokens > 0 and reply.usage.completion_tokens == 16_384


@pytest.mark.parametrize(
    ("code", "expected"), [(429, errors.RateLimitError), (502, errors.ServerError), ("odd", errors.ServerError)]
)
async def test_errors_with_status_200(
    code: int | str, expected: type[ModelError], loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError) as caught:
        await replied("chat", {"error": {"code": code, "message": "upstream"}}, loopback, monkeypatch)
    assert type(caught.value) is expected


@pytest.mark.parametrize(("back", "sent"), [(True, "Rain or sun?"), (False, None)])
async def test_thoughts_go_back_where_a_server_wants_them(back: bool, sent: str | None, loopback: Loopback) -> None:
    loopback.service.brain = scripted(
        [Answer(calls=(Called("weather", {}),), reasoning="Rain or sun?"), Answer(text="x")]
    )
    file = model_file("chat", loopback, return_reasoning=back)
    async with provider(file) as model:
        first = await model.complete(ask(file, tools=(WEATHER,)), SECONDS)
        talk = (user("Hello"), first.message, answer(first.message.calls[0], "dry"))
        await model.complete(ask(file, *talk, tools=(WEATHER,)), SECONDS)
    assert loopback.service.heard[-1].body["messages"][1].get("reasoning_content") == sent


async def test_names_that_a_model_file_sets(loopback: Loopback) -> None:
    file = model_file("chat", loopback, system_role="user", max_tokens_parameter="max_completion_tokens")
    request = ask(file, ChatMessage(role="system", text="Be brief."), user("x"), sampling={"max_output_tokens": 5})
    async with provider(file) as model:
        await model.complete(request, SECONDS)
    body = loopback.service.heard[0].body
    assert [message["role"] for message in body["messages"]] == ["user", "user"]
    assert (body["max_completion_tokens"], "max_tokens" in body) == (5, False)


async def test_a_failed_response(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"status": "failed", "error": {"code": "server_error", "message": "sorry"}, "output": []}
    with pytest.raises(errors.ServerError, match="sorry"):
        await replied("responses", body, loopback, monkeypatch)


@pytest.mark.parametrize(("model", "asked"), [("gpt-4.1", None), ("gpt-5", ["reasoning.encrypted_content"])])
async def test_only_models_that_reason_are_asked_for_it(
    model: str, asked: list[str] | None, loopback: Loopback
) -> None:
    file = model_file("responses", loopback, model)
    async with provider(file) as made:
        await made.complete(ask(file), SECONDS)
    assert loopback.service.heard[0].body.get("include") == asked
    assert loopback.service.heard[0].body["store"] is False


async def test_a_blocked_prompt(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    reply = await replied("gemini", body, loopback, monkeypatch)
    assert (reply.finish, reply.message.text, reply.usage.prompt_tokens) == (
        "refusal", "The prompt was blocked: SAFETY", 4
    )  # fmt: skip


async def test_a_call_that_gemini_could_not_read(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: f(a=1"}
    reply = await replied("gemini", {"candidates": [candidate]}, loopback, monkeypatch)
    assert (reply.finish, reply.message.calls) == ("stop", ())
    assert reply.message.text == "Malformed function call: f(a=1"


async def test_an_ending_that_means_nothing(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.MalformedReplyError, match="OTHER"):
        await replied("gemini", {"candidates": [{"finishReason": "OTHER"}]}, loopback, monkeypatch)


async def test_ids_that_gemini_gives_go_back(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"id": "abc", "name": "weather", "args": {"city": "Bern"}}
    body = {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"functionCall": call}]}}]}
    with monkeypatch.context() as patch:
        first = await replied("gemini", body, loopback, patch)
    assert first.message.calls[0].id == "abc"
    file = model_file("gemini", loopback, "gemini-2.5-pro")
    async with provider(file) as model:
        await model.complete(ask(file, user("x"), first.message, answer(first.message.calls[0], "dry")), SECONDS)
    sent = loopback.service.heard[-1].body["contents"]
    assert sent[1]["parts"][0]["functionCall"]["id"] == sent[2]["parts"][0]["functionResponse"]["id"] == "abc"


async def test_what_the_sdk_does_not_know(loopback: Loopback) -> None:
    file = model_file("gemini", loopback)
    async with provider(file) as model:
        with pytest.raises(errors.BadRequestError, match=r"sampling\.extra"):
            await model.complete(ask(file, sampling={"extra": {"no_such_thing": 1}}), SECONDS)
    assert loopback.counts["received"] == 0
