"""What a request passes before the application sees it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agenthard.flows.review.web.access import Access, User
from agenthard.flows.review.web.guard import LARGEST_BODY, AccessLog, Guard, RateLimit

ANA = User("ana", "admin")
ACCESS = Access(users={"ana": ANA}, tokens={"ana": "a-token-of-ana-1234"}, key=b"k" * 32, port=80)
HOME = "http://127.0.0.1"
SIGNED_IN = {ACCESS.cookie: ACCESS.session(ANA)}
FROM_OUR_PAGE = {"origin": HOME, "x-csrf-token": ACCESS.csrf(ANA)}


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Repeats who sent how many bytes."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    user = scope["state"]["user"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": f"{user.name if user else ''} {len(body)}".encode()})


@pytest.fixture
def log(tmp_path: Path) -> Iterator[AccessLog]:
    opened = AccessLog(tmp_path / "access.jsonl")
    yield opened
    opened.close()


def client(log: AccessLog, **options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(Guard(answer, ACCESS, log)), base_url=HOME, **options)


async def test_a_signed_in_page_is_answered_with_strict_headers(log: AccessLog) -> None:
    async with client(log, cookies=SIGNED_IN) as browser:
        found = await browser.get("/runs/demo/queue")
    assert found.text == "ana 0"
    policy = found.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert found.headers["x-content-type-options"] == "nosniff" and found.headers["cache-control"] == "no-store"
    assert found.headers["referrer-policy"] == "no-referrer"


async def test_others_are_sent_to_the_entrance(log: AccessLog) -> None:
    async with client(log) as browser:
        page = await browser.get("/runs/demo/queue")
        sent = await browser.post("/runs/demo/events", headers={"origin": HOME})
    assert (page.status_code, page.headers["location"]) == (303, "/enter") and sent.status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1", "127.0.0.2"])
async def test_another_name_is_refused(log: AccessLog, host: str) -> None:
    async with client(log, cookies=SIGNED_IN) as browser:
        assert (await browser.get("/runs/demo/queue", headers={"host": host})).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-csrf-token": ACCESS.csrf(ANA)},
        {"origin": "null", "x-csrf-token": ACCESS.csrf(ANA)},
        {"origin": "http://evil.example", "x-csrf-token": ACCESS.csrf(ANA)},
        {"origin": "http://127.0.0.1:81", "x-csrf-token": ACCESS.csrf(ANA)},
        {"origin": HOME},
        {"origin": HOME, "x-csrf-token": "0" * 64},
    ],
)
async def test_another_site_changes_nothing(log: AccessLog, headers: dict[str, str]) -> None:
    async with client(log, cookies=SIGNED_IN) as browser:
        assert (await browser.post("/runs/demo/events", headers=headers)).status_code == 403


async def test_our_page_may_change(log: AccessLog) -> None:
    async with client(log, cookies=SIGNED_IN, headers=FROM_OUR_PAGE) as browser:
        assert (await browser.post("/runs/demo/events", content=b"[]")).text == "ana 2"
        assert (await browser.request("PUT", "/runs/demo/events")).status_code == 405


async def test_a_long_request_is_refused_with_and_without_its_length(log: AccessLog) -> None:
    async def pieces() -> Any:
        for _ in range(LARGEST_BODY // 65_536 + 2):
            yield b"x" * 65_536

    async with client(log, cookies=SIGNED_IN, headers=FROM_OUR_PAGE) as browser:
        assert (await browser.post("/runs/demo/events", content=b"x" * (LARGEST_BODY + 1))).status_code == 413
        with pytest.raises(AssertionError):  # the application was disconnected, and answered nothing
            await browser.post("/runs/demo/events", content=pieces())


async def test_guessing_tokens_is_slow(log: AccessLog) -> None:
    async with client(log, headers={"origin": HOME}) as browser:
        tries = [(await browser.post("/enter", content=b"token=x")).status_code for _ in range(12)]
        linked = await browser.get("/enter?token=guess")
    assert tries[:10] == [200] * 10 and tries[10:] == [429, 429] and linked.status_code == 429


def test_a_bucket_fills_with_time() -> None:
    limit = RateLimit(2.0, 3.0)
    assert [limit.allows("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert limit.allows("b", 0.0) and not limit.allows("a", 0.4) and limit.allows("a", 0.6)


async def test_changes_and_refusals_are_noted(log: AccessLog, tmp_path: Path) -> None:
    async with client(log, cookies=SIGNED_IN, headers=FROM_OUR_PAGE) as browser:
        await browser.get("/runs/demo/queue")
        await browser.post("/runs/demo/events", content=b"[]")
        await browser.get("/runs/demo/queue", headers={"host": "evil.example"})
    rows = [json.loads(line) for line in (tmp_path / "access.jsonl").read_text(encoding="utf-8").splitlines()]
    told = [(row["user"], row["method"], row["path"], row["status"]) for row in rows]
    assert told == [("ana", "POST", "/runs/demo/events", 200), ("ana", "GET", "/runs/demo/queue", 421)]
