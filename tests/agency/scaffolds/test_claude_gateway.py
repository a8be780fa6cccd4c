"""The gateway speaks the Messages protocol, to who knows its token, and refuses what it does not understand."""

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from agenthard.agency.scaffolds.claude import gateway
from agenthard.agency.scaffolds.claude.gateway import Gateway
from agenthard.agency.scaffolds.claude.protocol import Answered, Asked, Refused, read
from agenthard.models.request import Call, Usage

TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
MARKED = {"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}
ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "metadata": {"user_id": "session 1"},
    "system": [
        {"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "two"},
    ],
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": [1]}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "nothing"}]},
                {"type": "text", "text": "go on", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ],
}
REPLY = Answered(
    id="msg_1",
    model="m",
    text="Done.",
    calls=(Call(id="t2", name="look", arguments='{"at": [2]}'), Call(id="t3", name="look", arguments="{not json")),
    stop="tool_use",
    usage=Usage(prompt_tokens=7, completion_tokens=3),
)


class Speaker:
    """Answers with a reply after some seconds, and remembers what it was asked."""

    def __init__(self, seconds: float = 0.0, refusal: Refused | None = None) -> None:
        self.seconds, self.refusal = seconds, refusal
        self.asked: list[Asked] = []
        self.cancelled = False

    async def answer(self, asked: Asked) -> Answered:
        self.asked.append(asked)
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self.refusal is not None:
            raise self.refusal
        return REPLY

    def opened(self) -> Gateway:
        return Gateway(self.answer, lambda asked: 42)


async def post(
    server: Gateway, body: Any, path: str = "/v1/messages?beta=true", key: str | None = None, method: str = "POST"
) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"x-api-key": server.token if key is None else key}
    request = urllib.request.Request(server.url + path, data, headers, method=method)

    def send() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    return await asyncio.to_thread(send)


def events(text: str) -> list[dict[str, Any]]:
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    assert all(len(lines) == 2 and lines[0].startswith("event: ") for lines in blocks)
    found = [json.loads(lines[1].removeprefix("data: ")) for lines in blocks]
    assert [lines[0].removeprefix("event: ") for lines in blocks] == [each["type"] for each in found]
    return found


async def test_a_request_is_read_whole_and_answered_as_json() -> None:
    speaker = Speaker()
    async with speaker.opened() as server:
        status, text = await post(server, ASKED)
    (asked,) = speaker.asked
    assert asked.system == "one\n\ntwo" and [tool.name for tool in asked.tools] == ["look"]
    said = [(each.role, each.text, [call.arguments for call in each.calls]) for each in asked.messages]
    assert said == [
        ("user", "hello", []),
        ("assistant", "I look.", ['{"at": [1]}']),
        ("tool", "nothing", []),
        ("user", "go on", []),
    ]
    reply = json.loads(text)
    assert status == 200 and reply["stop_reason"] == "tool_use"
    assert reply["usage"] == {"input_tokens": 7, "output_tokens": 3}
    assert [block.get("text") or block["input"] for block in reply["content"]] == ["Done.", {"at": [2]}, {}]


async def test_a_stream_has_the_events_of_the_protocol() -> None:
    async with Speaker().opened() as server:
        status, text = await post(server, ASKED | {"stream": True})
    found = events(text)
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    kinds = ["message_start", *(3 * block), "message_delta", "message_stop"]
    assert status == 200 and [event["type"] for event in found] == kinds
    assert [event["index"] for event in found if "index" in event] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    parts = [event["delta"] for event in found if event["type"] == "content_block_delta"]
    assert [part.get("text") or part["partial_json"] for part in parts] == ["Done.", '{"at": [2]}', "{not json"]
    assert found[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize("refusal", [None, Refused(400, "invalid_request_error", "over")])
async def test_a_stream_is_never_silent_for_long(monkeypatch: pytest.MonkeyPatch, refusal: Refused | None) -> None:
    monkeypatch.setattr(gateway, "PING_SECONDS", 0.02)
    async with Speaker(0.2, refusal).opened() as server:
        status, text = await post(server, ASKED | {"stream": True})
    kinds = [event["type"] for event in events(text)]
    assert status == 200 and kinds.count("ping") > 1 and kinds[0] == "ping"
    assert kinds[-1] == ("message_stop" if refusal is None else "error")


async def test_tokens_are_counted_without_asking() -> None:
    speaker = Speaker()
    async with speaker.opened() as server:
        assert await post(server, ASKED, "/v1/messages/count_tokens") == (200, '{"input_tokens":42}')
    assert not speaker.asked


async def test_a_refusal_is_an_error_of_the_protocol() -> None:
    async with Speaker(refusal=Refused(400, "invalid_request_error", "over")).opened() as server:
        status, text = await post(server, ASKED | {"stream": True})
    assert status == 400
    assert json.loads(text) == {"type": "error", "error": {"type": "invalid_request_error", "message": "over"}}


@pytest.mark.parametrize("key", ["", "wrong", "é"])
async def test_only_who_knows_the_token_is_answered(key: str) -> None:
    speaker = Speaker()
    async with speaker.opened() as server, speaker.opened() as other:
        assert (await post(server, ASKED, key=key.encode().decode("latin-1")))[0] == 401
        assert (await post(server, ASKED, key=other.token))[0] == 401
    assert not speaker.asked


async def test_everything_else_is_refused_and_listed() -> None:
    async with Speaker().opened() as server:
        assert (await post(server, {}, "/api/event_logging"))[0] == 403
        assert (await post(server, None, method="GET"))[0] == 403
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"CONNECT telemetry.example:443 HTTP/1.1\r\nHost: telemetry.example:443\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 403")
        writer.close()
        assert server.refused[:2] == ["POST /api/event_logging", "GET /v1/messages"]
        assert server.refused[2].startswith("CONNECT") and "telemetry.example" in server.refused[2]


async def test_what_is_still_asked_when_it_closes_is_given_up() -> None:
    speaker = Speaker(3600.0)
    async with speaker.opened() as server:
        waiting = asyncio.create_task(post(server, ASKED | {"stream": True}))
        while not speaker.asked:
            await asyncio.sleep(0.01)
    assert speaker.cancelled and (await waiting)[0] == 503
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
WRONG: dict[str, tuple[Any, str]] = {
    "no object": ([], "the request is not an object"),
    "no messages": ({"model": "m"}, "the request has no messages"),
    "no model": ({"messages": []}, "the request has no model"),
    "a field": (ASKED | {"context_management": {}}, "fields that are not supported: context_management"),
    "a choice of tools": (ASKED | {"tool_choice": {"type": "any"}}, "not supported: tool_choice"),
    "a tool of the server": (ASKED | {"tools": [{"type": "web_search", "name": "w"}]}, "tools[0] has fields"),
    "messages": (ASKED | {"messages": "hello"}, "messages is not a list"),
    "a system message": (ASKED | {"messages": [{"role": "system", "content": "x"}]}, "messages of 'system'"),
    "an image": (ASKED | {"messages": [{"role": "user", "content": [IMAGE]}]}, "content of the type 'image'"),
    "a document": ({**ASKED, "system": [{"type": "document"}]}, "system[0]: content of the type 'document'"),
    "thoughts": (
        ASKED | {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": ""}]}]},
        "messages[0].content[0]: content of the type 'thinking'",
    ),
    "an unknown result": (
        ASKED | {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9"}]}]},
        "a call 't9' that is not in the conversation",
    ),
    "an image as a result": (
        ASKED
        | {
            "messages": [
                *ASKED["messages"][:2],
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [IMAGE]}]},
            ]
        },
        "messages[2].content[0].content[0]: content of the type 'image'",
    ),
    "no block": (ASKED | {"messages": [{"role": "user", "content": ["x"]}]}, "is not a block of content"),
    "no text": (
        ASKED | {"messages": [{"role": "user", "content": [{"type": "text", "text": None}]}]},
        "messages[0].content[0] is not a text",
    ),
    "no content": (ASKED | {"messages": [{"role": "user"}]}, "no content"),
    "no name": (ASKED | {"tools": [{"input_schema": {}}]}, "no name"),
    "no schema": (ASKED | {"tools": [TOOL | {"input_schema": "x"}]}, "tools[0].input_schema is not an object"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_understood_is_refused_and_never_dropped(name: str) -> None:
    body, words = WRONG[name]
    with pytest.raises(Refused) as caught:
        read(body)
    assert words in caught.value.message and caught.value.status == 400


@pytest.mark.parametrize("body", [b"{", b"", b"\xff", b"[" * 100_000])
async def test_what_is_no_json_is_refused(body: bytes) -> None:
    speaker = Speaker()
    async with speaker.opened() as server:
        status, text = await post(server, body)
        assert status == 400 and "is not JSON" in text and len(server.not_understood) == 1
    assert not speaker.asked
