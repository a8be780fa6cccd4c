"""Answers requests: from the cache, or from a provider within limits and budget, with retries, and on the books."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from agenthard.models.budget import Amount, Budget, most
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    ConnectionFailedError,
    ConnectionLostError,
    MalformedReplyError,
    ModelError,
    RequestTimeoutError,
    UnreachableError,
)
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.limits import Gate
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.models.provider import Provider
from agenthard.models.providers import provider_for
from agenthard.models.request import Completion, Reply, Request
from agenthard.models.retry import retrying

UNCERTAIN = (ConnectionLostError, MalformedReplyError, RequestTimeoutError)
"""Errors after which the provider may still charge for its work."""
SILENT = (ConnectionFailedError, RequestTimeoutError)
"""Errors that no answer of a provider stands behind."""


@dataclass
class _Effort:
    """What getting one reply has taken so far."""

    attempts: int = 0
    started: float = 0.0
    in_flight: float = 0.0
    cost: float | None = None


class ModelClient:
    """One per process and event loop. Nothing is lost to kill -9 but the replies on their way.

    Cache and ledger are written in the event loop: a commit takes some 50 microseconds, which is less than handing it
    to a thread, and between a reply and its place on disk nothing can be cancelled.

    Requests that are the same and asked at once are sent once; the others wait and find the reply in the cache.
    """

    def __init__(
        self,
        models: Iterable[ModelFile],
        *,
        cache: ReplyCache,
        ledger: Ledger,
        prices: PriceTable,
        rng: random.Random,
        budget: Budget | None = None,
        provider_for: Callable[[ModelFile], Provider] = provider_for,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Put the parts together; nothing is sent yet, and no key is looked for.

        Args:
            models: The models that will be asked; one name may stand in several files that differ in label and
                sampling alone, for these belong to requests.
            cache: Where replies are kept. It and the ledger stay the caller's to close.
            ledger: Where attempts are written down.
            prices: What tokens cost; the price in a model file goes before it.
            rng: Draws the waits between attempts; nothing else depends on it.
            budget: What all rows of the ledger together may take; no limit by default.
            provider_for: Opens the provider of a model, when it is first needed.
            clock: Seconds of a clock that never goes back.
            sleep: Waits so many seconds.

        Raises:
            ConfigurationError: Two files for one model contradict each other, or the budget is in money and a model
                has no price.
        """
        self._files = _by_name(models)
        self._prices = prices.after(file.price for file in self._files.values() if file.price)
        self._budget = budget or Budget()
        self._budget.require_prices(self._files, self._prices)
        self._gates = {name: Gate(file.limits, clock, sleep) for name, file in self._files.items()}
        self._cache, self._ledger, self._rng = cache, ledger, rng
        self._provider_for, self._clock, self._sleep = provider_for, clock, sleep
        self._providers: dict[str, Provider] = {}
        self._heard: set[str] = set()
        self._asked: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._booked = 0
        self._settled = asyncio.Event()

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request; see `agenthard.models.provider.Model`.

        Args:
            request: What is asked.
            purpose: Who pays: ``agent``, ``user`` or ``judge``.
            owner: What the request is for, such as the id of an episode.

        Returns:
            The reply with what it took; a reply from the cache took no attempt.

        Raises:
            ModelError: No reply. `TransientError` and `MalformedReplyError` after the last attempt; `UnreachableError`
                instead of a failed connection while the provider was never heard from; `BudgetExhaustedError` when the
                budget has no room for the request and nothing in flight could make some.
        """
        file = self._files.get(request.model)
        if file is None:
            raise ConfigurationError(f"{request.model} is none of the models of this run: {', '.join(self._files)}")
        request = file.addressed(request)
        entry = Entry(request.model, purpose, owner, request.digest)
        lock = self._asked.setdefault(entry.digest, asyncio.Lock())
        async with lock:
            reply = self._cache.get(entry.digest)
            if reply is None:
                return await self._ask(request, entry, file)
        self._ledger.hit(entry)
        cost = self._prices.cost(request.model, reply.usage)
        return Completion(reply=reply, cached=True, attempts=0, cost=cost)

    async def close(self) -> None:
        """Close the providers' connections."""
        for provider in self._providers.values():
            await provider.close()

    async def _ask(self, request: Request, entry: Entry, file: ModelFile) -> Completion:
        if request.model not in self._providers:
            self._providers[request.model] = self._provider_for(file)
        effort = _Effort()
        attempts = retrying(file.retries, self._rng, self._sleep, lambda: effort.in_flight)
        try:
            reply: Reply = await attempts(self._attempt, file, request, entry, effort)
        except ModelError as error:
            self._cache.put(request, entry.digest, None)
            if isinstance(error, ConnectionFailedError) and request.model not in self._heard:
                raise UnreachableError(f"{error} (attempts: {effort.attempts}); is the host right, and up?") from error
            raise
        seconds = self._clock() - effort.started
        return Completion(reply=reply, attempts=effort.attempts, seconds=seconds, cost=effort.cost)

    async def _attempt(self, file: ModelFile, request: Request, entry: Entry, effort: _Effort) -> Reply:
        gate, upper = self._gates[request.model], most(request, self._prices)
        async with gate.slot(upper.tokens):
            row = await self._book(entry, upper)
            began = self._clock()
            effort.started = effort.started if effort.attempts else began
            effort.attempts += 1
            try:
                reply = await self._send(request, row, file.timeout)
                effort.cost = self._prices.cost(request.model, reply.usage)
                self._ledger.answered(row, reply.usage, effort.cost, stated=reply.usage_stated)
                self._cache.put(request, entry.digest, reply)
            finally:
                effort.in_flight += self._clock() - began
                self._settle()
        gate.unused(upper.tokens - reply.usage.prompt_tokens - reply.usage.completion_tokens)
        return reply

    async def _send(self, request: Request, row: int, timeout: float) -> Reply:
        """Send it once; a failure closes its row."""
        try:
            reply = await self._providers[request.model].complete(request, timeout)
        except BaseException as error:
            known = isinstance(error, ModelError)
            if known and not isinstance(error, SILENT):
                self._heard.add(request.model)
            maybe_billed = not known or isinstance(error, UNCERTAIN)
            self._ledger.failed(row, type(error).__name__, maybe_billed=maybe_billed)
            raise
        self._heard.add(request.model)
        return reply

    async def _book(self, entry: Entry, upper: Amount) -> int:
        """Write the request down and reserve what it may take, waiting for others to leave some of the budget."""
        while True:
            row = self._ledger.send(entry, upper, self._budget)
            if row is not None:
                self._booked += 1
                return row
            if not self._booked:
                spent = self._ledger.spent()
                raise BudgetExhaustedError(
                    f"the budget is spent: {self._budget.used(spent, self._prices.currency)}, with the most that "
                    f"requests without a known outcome can cost; the next would take up to {upper.tokens:,} tokens. "
                    "What is done is kept: raise the budget and run again"
                )
            await self._settled.wait()

    def _settle(self) -> None:
        """Wake those who wait for budget."""
        self._booked -= 1
        self._settled.set()
        self._settled = asyncio.Event()


def _by_name(models: Iterable[ModelFile]) -> dict[str, ModelFile]:
    """Model files by full name.

    Raises:
        ConfigurationError: Two files for one model differ in how it is reached.
    """
    found: dict[str, ModelFile] = {}
    for file in models:
        known = found.setdefault(file.name, file)
        if file.model_copy(update={"label": known.label, "sampling": known.sampling}) != known:
            raise ConfigurationError(
                f"the model files {known.label!r} and {file.label!r} are both about {file.name} and differ in more "
                "than label and sampling; make the rest the same"
            )
    return found
