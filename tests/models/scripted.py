"""A provider that follows a script, a clock that only sleeping moves, and a client over both."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.limits import Limits
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import Price, PriceTable
from agenthard.models.request import Call, ChatMessage, Reply, Request, Sampling, Tool, Usage
from agenthard.models.retry import RetryPolicy

MODEL = "openai/tiny"
PRICES = PriceTable(
    currency="USD",
    prices=(Price(model=MODEL, prompt=2.0, cached=1.0, completion=10.0, date="2026-11", source="these tests"),),
)
USAGE = Usage(prompt_tokens=100, completion_tokens=20, cached_tokens=40, reasoning_tokens=5)
COST = (60 * 2.0 + 40 * 1.0 + 20 * 10.0) / 1e6  # 0.00036


def ask(text: str = "hello", **changes: Any) -> Request:
    """A short request."""
    values: dict[str, Any] = {
        "model": MODEL,
        "messages": (ChatMessage(role="user", text=text),),
        "sampling": Sampling(max_output_tokens=50),
    }
    return Request(**{**values, **changes})


def say(text: str = "hi", usage: Usage = USAGE) -> Reply:
    """A short reply."""
    return Reply(message=ChatMessage(role="assistant", text=text), finish="stop", usage=usage)


def conversation(turns: int) -> Request:
    """A request after so many tool calls."""
    messages = [ChatMessage(role="system", text="Be good."), ChatMessage(role="user", text="Find it.")]
    for turn in range(turns):
        call = Call(id=f"c{turn}", name="look", arguments=f'{{"n": {turn}}}')
        messages.append(ChatMessage(role="assistant", calls=(call,), provider_state='{"signature": "é"}'))
        messages.append(ChatMessage(role="tool", call_id=call.id, tool_name="look", text=f"nothing at {turn}"))
    return ask(messages=tuple(messages), tools=(Tool(name="look"),), sample=1)


class Scripted:
    """Does what the script says for each request in turn; without a script it answers at once."""

    def __init__(self, *script: Reply | BaseException | Callable[[Request], Any]) -> None:
        self.script = list(script)
        self.received: list[Request] = []
        self.in_flight = self.most_in_flight = 0
        self.closed = False

    async def complete(self, request: Request, timeout: float) -> Reply:
        self.received.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(0)
            step = self.script.pop(0) if self.script else say()
            if callable(step):
                step = await step(request)
            if isinstance(step, BaseException):
                raise step
            return step
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        self.closed = True


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class Bench:
    """A client, its provider, its time and its files."""

    def __init__(
        self,
        folder: Path,
        provider: Any,
        *,
        limits: Limits | None = None,
        retries: RetryPolicy | None = None,
        price: Price | None = None,
        **options: Any,
    ) -> None:
        self.provider = provider
        self.time = Time()
        self.cache, self.ledger = ReplyCache(folder / "cache.sqlite"), Ledger(folder / "ledger.sqlite", now=lambda: 7.0)
        values: dict[str, Any] = {
            "cache": self.cache,
            "ledger": self.ledger,
            "prices": PRICES,
            "rng": random.Random(1),
            "provider_for": lambda file: provider,
            "clock": self.time.clock,
            "sleep": self.time.sleep,
        }
        file = ModelFile(name=MODEL, limits=limits or Limits(), retries=retries or RetryPolicy(), price=price)
        self.client = ModelClient([file], **{**values, **options})

    async def ask(self, request: Request | None = None, owner: str = "e1", purpose: str = "agent") -> Any:
        return await self.client.complete(request or ask(), purpose=purpose, owner=owner)

    def states(self, owner: str = "e1") -> list[tuple[str, str | None]]:
        return [(attempt.state, attempt.reason) for attempt in self.ledger.of_owner(owner)]
