"""Two people at once: each open page hears what others decide, and who looks at the same item."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agenthard.flows.review.events import Event
from agenthard.flows.review.web.open_run import OpenRun

POLL_SECONDS = 1.0
"""Time between two looks at the store, for events that other processes have stored."""
ALIVE_SECONDS = 15.0
"""Time after which a silent connection gets a comment, so that proxies keep it open."""
MOST_WAITING = 1000
"""Messages that wait for a page; one that reads none for that long is disconnected, and connects again."""


@dataclass(eq=False)
class _Page:
    """An open page."""

    user: str
    item: str
    messages: "asyncio.Queue[dict[str, Any] | None]" = field(
        default_factory=lambda: asyncio.Queue(maxsize=MOST_WAITING)
    )


class Live:
    """The open pages of one run. All methods belong to the event loop, except `announce`."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._pages: set[_Page] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sent = run.state.seq

    async def poll(self) -> None:
        """Look for events of other processes, for as long as the server runs."""
        self._loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if self._pages:
                await asyncio.to_thread(self._run.refresh)
                self._tell()

    def announce(self) -> None:
        """Tell the pages about new events, from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        """Tell the pages who did what. What was decided is not told: a page may be blind."""
        for event in self._run.events_after(self._sent):
            self._sent = event.seq or self._sent
            self._send(_told(event))

    async def messages(self, user: str, item: str, after: int) -> AsyncIterator[str]:
        """Yield the lines of a stream of server-sent events, until the page is closed.

        Args:
            user: who looks.
            item: id of the task that the page shows; empty for a list.
            after: place of the last event that the page knows; what was stored since, while the page was on its way or
                the connection was lost, is told first.
        """
        page = _Page(user, item)
        missed = [event for event in self._run.events_after(after) if (event.seq or 0) <= self._sent]
        self._pages.add(page)
        self._tell_who(item)
        try:
            yield "retry: 1000\n\n"
            for event in missed:
                yield _line(_told(event) | {"missed": True})
            while True:
                try:
                    message = await asyncio.wait_for(page.messages.get(), ALIVE_SECONDS)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if message is None:
                    return
                yield _line(message)
        finally:
            self._pages.discard(page)
            self._tell_who(item)

    def close(self) -> None:
        """End all streams."""
        for page in list(self._pages):
            self._put(page, None)

    def _tell_who(self, item: str) -> None:
        if item:
            here = sorted({page.user for page in self._pages if page.item == item})
            self._send({"kind": "here", "id": item, "users": here}, item)

    def _send(self, message: dict[str, Any], item: str = "") -> None:
        for page in list(self._pages):
            if not item or page.item == item:
                self._put(page, message)

    def _put(self, page: _Page, message: dict[str, Any] | None) -> None:
        try:
            page.messages.put_nowait(message)
        except asyncio.QueueFull:
            self._pages.discard(page)
            page.messages.get_nowait()
            page.messages.put_nowait(None)


def _told(event: Event) -> dict[str, Any]:
    about = {"target": event.target, "id": event.target_id}
    return {"seq": event.seq, "kind": event.kind, "by": event.by, **about}


def _line(message: Mapping[str, Any]) -> str:
    """Write a server-sent event; browsers repeat the place of the last one when they connect again."""
    place = f"id: {message['seq']}\n" if "seq" in message else ""
    return f"{place}data: {json.dumps(message)}\n\n"
