import json
from typing import Any

import pytest

from agenthard.models.batch.wire import custom_id_of, read_line, request_line
from agenthard.models.errors import (
    BadRequestError,
    ContextOverflowError,
    MalformedReplyError,
    ModelError,
    RateLimitError,
    ServerError,
)
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Call, ChatMessage, OutputSchema, Sampling
from tests.loopback import Loopback
from tests.loopback.gemini import camel
from tests.models.providers.talking import APIS, PIXEL, SECONDS, WEATHER, answer, ask, model_file, provider, user

CALL = Call(id="c1", name="weather", arguments='{"city": "Bern"}')
OUTPUT = OutputSchema(name="Word", json_schema={"type": "object", "properties": {}, "additionalProperties": False})


def sampling(api: str) -> Sampling:
    thoughts = {"thinking_tokens": 128} if api == "gemini" else {"reasoning_effort": "low"}
    return Sampling(temperature=0, top_p=0.5, max_output_tokens=99, seed=7, **thoughts)


@pytest.mark.parametrize("api", APIS)
async def test_a_line_asks_what_a_request_asks(api: str, loopback: Loopback, keys: str) -> None:
    """The real SDKs write the body of the direct request; the line must hold the same."""
    file = model_file(api, loopback, model="gemini-2.5-pro" if api == "gemini" else "org/model")
    said = ChatMessage(role="assistant", text="", calls=(CALL,))
    talk = (ChatMessage(role="system", text="Be brief"), user("And this?", images=(PIXEL,)), said, answer(CALL, "dry"))
    requests = [
        ask(file, *talk, tools=(WEATHER,), tool_choice="required", sampling=sampling(api)),
        ask(file, *talk[:2], output=OUTPUT, sampling=sampling(api)),
    ]
    async with provider(file) as made:
        for request in requests:
            await made.complete(request, SECONDS)
            line = json.loads(request_line(file, request, "id"))
            written, heard = line.get("body") or camel(line["request"]), loopback.service.heard[-1].body
            assert written == (camel(heard) if api == "gemini" else heard)
            assert custom_id_of(line) == "id"


def openai_line(**parts: Any) -> dict[str, Any]:
    return {"custom_id": "id", "response": None, "error": None, **parts}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (openai_line(error={"code": "batch_expired", "message": "late"}), ServerError),
        (openai_line(response={"status_code": 429, "body": {"error": {"message": "slow"}}}), RateLimitError),
        (
            openai_line(response={"status_code": 400, "body": {"error": {"code": "context_length_exceeded"}}}),
            ContextOverflowError,
        ),
        (openai_line(response={"status_code": 200, "body": {}}), MalformedReplyError),
        (openai_line(response={"status_code": 200, "body": [1]}), MalformedReplyError),
        (openai_line(response="?"), ServerError),
        ({}, ServerError),
    ],
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_lines_without_a_reply(line: dict[str, Any], error: type[ModelError], api: str) -> None:
    file = ModelFile.model_validate({"name": "openai/gpt-5", "api": api})
    with pytest.raises(error):
        read_line(file, ask(file), line)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ({"key": "id", "error": {"code": 3, "message": "bad"}}, BadRequestError),
        ({"key": "id", "error": {"code": 503, "message": "busy"}}, ServerError),
        ({"key": "id", "error": "?"}, ServerError),
        ({"key": "id", "response": {}}, MalformedReplyError),
        ({"key": "id"}, MalformedReplyError),
    ],
)
def test_gemini_lines_without_a_reply(line: dict[str, Any], error: type[ModelError]) -> None:
    file = ModelFile(name="google/gemini-2.5-pro")
    with pytest.raises(error):
        read_line(file, ask(file), line)


def test_a_request_that_gemini_does_not_take() -> None:
    file = ModelFile(name="google/gemini-2.5-pro")
    with pytest.raises(BadRequestError, match="no earlier message makes"):
        request_line(file, ask(file, answer(CALL, "dry")), "id")
