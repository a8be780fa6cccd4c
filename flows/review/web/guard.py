"""What every request passes: host name, size, rate, user and cross-site checks, headers, and the access log."""

import json
import os
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from agenthard.flows.review.web.access import Access, User

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LARGEST_BODY: Final = 4 << 20
"""Bytes of a request: verdicts on some thousand findings fit."""
REQUESTS: Final = (100.0, 400.0)
"""Requests per second of one user in the long run, and at once."""
ENTRIES: Final = (0.2, 10.0)
"""Attempts to sign in per second from one address in the long run, and at once."""
HEADERS: Final = (
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)


class RateLimit:
    """A bucket per name that fills at a rate, and from which each request takes one."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, name: str, now: float) -> bool:
        """Take one; False when the bucket is empty."""
        left, at = self._left.get(name, (self._burst, now))
        left = min(left + (now - at) * self._rate, self._burst)
        if len(self._left) > 10_000:
            self._left.clear()
        self._left[name] = (left - 1 if left >= 1 else left, now)
        return left >= 1


class AccessLog:
    """Who did what from where: sign-ins, changes, exports and refusals, one JSON document per line."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def add(self, user: str, client: str, method: str, path: str, status: int) -> None:
        """Write one line."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = {"at": at, "user": user, "client": client, "method": method, "path": path, "status": status}
        os.write(self._file, (json.dumps(row) + "\n").encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: App, access: Access, log: AccessLog) -> None:
        self._app, self._access, self._log = app, access, log
        self._requests, self._entries = RateLimit(*REQUESTS), RateLimit(*ENTRIES)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request through to the application, or answer it with the reason for which it is refused."""
        if scope["type"] != "http":
            await (self._app(scope, receive, send) if scope["type"] == "lifespan" else _refuse_socket(send))
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        client = (scope.get("client") or ("", 0))[0]
        user = self._user(headers, client)
        scope.setdefault("state", {})["user"] = user
        answer = _Answer(send, lambda status: self._note(scope, user, client, status))
        refused = self._refusal(scope, headers, client, user)
        if refused:
            await answer.text(*refused, signed_out=user is None, method=scope["method"])
            return
        await self._app(scope, _Limited(receive), answer)

    def _user(self, headers: dict[str, str], client: str) -> User | None:
        if self._access.proxy_header:
            return self._access.user_of_proxy(headers, client)
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._access.cookie)
        except CookieError:
            return None
        return self._access.user_of_session(cookie.value) if cookie else None

    def _refusal(
        self, scope: Message, headers: dict[str, str], client: str, user: User | None
    ) -> tuple[int, str] | None:
        method, path = scope["method"], scope["path"]
        host = headers.get("host", "")
        if _host_name(host) not in self._access.hosts:
            return 421, "This server is not reached under that name. Use the address that the command printed."
        if method not in ("GET", "HEAD", "POST"):
            return 405, "Only GET and POST are answered."
        if _length(headers) > LARGEST_BODY:
            return 413, f"The request is longer than {LARGEST_BODY:,} bytes."
        entering = path == "/enter" and (method == "POST" or b"token=" in scope.get("query_string", b""))
        limit = self._entries if entering else self._requests
        if not limit.allows(client if entering or user is None else user.name, time.monotonic()):
            return 429, "Too many requests; wait a few seconds."
        if user is None and path not in ("/enter", "/favicon.ico") and not path.startswith("/static/"):
            return 401, "Sign in with your token."
        if method == "POST":
            if urlsplit(headers.get("origin", "")).netloc != host:
                return 403, "The request comes from another site, or does not say from which."
            if path != "/enter" and user is not None and headers.get("x-csrf-token") != self._access.csrf(user):
                return 403, "The page is out of date; reload it."
        return None

    def _note(self, scope: Message, user: User | None, client: str, status: int) -> None:
        method, path = scope["method"], scope["path"]
        if method == "POST" or status in (401, 403, 413, 421, 429) or path == "/enter" or path.endswith("/export"):
            self._log.add(user.name if user else "", client, method, path, status)


class _Answer:
    """Sends a response with the security headers."""

    def __init__(self, send: Send, note: Callable[[int], None]) -> None:
        self._send, self._note = send, note

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._note(message["status"])
            given = {name.lower() for name, _ in message.get("headers", ())}
            added = [(n.encode(), v.encode()) for n, v in HEADERS]
            if b"cache-control" not in given:
                added.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await self._send(message)

    async def text(self, status: int, reason: str, *, signed_out: bool, method: str) -> None:
        """Answer with one sentence; a browser that is not signed in is sent to the page where one signs in."""
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        if status == 401 and signed_out and method == "GET":
            status, headers = 303, [*headers, (b"location", b"/enter")]
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": f"{reason}\n".encode()})


class _Limited:
    """Reads a request body up to the limit; a longer one without a length ends as a broken connection."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._left = receive, LARGEST_BODY

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else {"type": "http.disconnect"}


def _length(headers: dict[str, str]) -> int:
    stated = headers.get("content-length", "")
    return int(stated) if stated.isdecimal() else 0


async def _refuse_socket(send: Send) -> None:
    await send({"type": "websocket.close", "code": 1008})


def _host_name(host: str) -> str:
    """Return the name in a Host header, without the port.

    >>> _host_name("[::1]:8000"), _host_name("example.org:80"), _host_name("")
    ('::1', 'example.org', '')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
