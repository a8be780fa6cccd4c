"""Answers requests from the cache or a provider: within limits and budget, with retries, recorded in the ledger."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from agenthard.models.budget import Amount, Budget, max_amount
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    ConnectionFailedError,
    ModelError,
    RequestTimeoutError,
    UnreachableError,
)
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.limits import RateLimiter
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.models.providers import provider_for
from agenthard.models.request import Completion, Provider, Reply, Request
from agenthard.models.retry import POSSIBLY_BILLED, retrying

NO_RESPONSE = (ConnectionFailedError, RequestTimeoutError)
"""Errors without any response from the provider."""


@dataclass
class _Progress:
    """The attempts at one reply so far."""

    attempts: int = 0
    started: float = 0.0
    in_flight: float = 0.0
    cost: float | None = None


class ModelClient:
    """Asks models; one client per process and event loop. kill -9 loses nothing except the replies in flight.

    Cache and ledger are written in the event loop: a commit takes about 50 microseconds, less than passing it to a
    thread, and no cancellation can come between a reply and its commit.

    Identical requests at the same time are sent once; the others wait and find the reply in the cache.
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
        """Set up the client; nothing is sent, and no key is needed yet.

        Args:
            models: The models to ask. Several files may have the same name if they differ only in label and sampling,
                which belong to requests.
            cache: Stores the replies. The caller closes it, and the ledger.
            ledger: Records the attempts.
            prices: Prices of tokens; the price in a model file takes precedence.
            rng: Draws the waits between attempts; nothing else depends on it.
            budget: Limit for all rows of the ledger together; no limit by default.
            provider_for: Creates the provider of a model when it is first needed.
            clock: A monotonic clock, in seconds.
            sleep: Waits for a number of seconds.

        Raises:
            ConfigurationError: Two files for one model contradict each other, or the budget is in money and a model
                has no price.
        """
        self._files = _by_name(models)
        self._prices = prices.after(file.price for file in self._files.values() if file.price)
        self._budget = budget or Budget()
        self._budget.require_prices(self._files, self._prices)
        self._limiters = {name: RateLimiter(file.limits, clock, sleep) for name, file in self._files.items()}
        self._cache, self._ledger, self._rng = cache, ledger, rng
        self._provider_for, self._clock, self._sleep = provider_for, clock, sleep
        self._providers: dict[str, Provider] = {}
        self._responded: set[str] = set()
        self._asked: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._reserved = 0
        self._released = asyncio.Event()

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request (agenthard.models.request.Model).

        Args:
            request: The request.
            purpose: Purpose of the request in the ledger: ``agent``, ``user`` or ``judge``.
            owner: Owner of the request in the ledger, such as the id of an episode.

        Returns:
            The reply with its cost; a reply from the cache has no attempts.

        Raises:
            ModelError: No reply. `TransientError` and `MalformedReplyError` after the last attempt; `UnreachableError`
                instead of a failed connection while the provider has never responded; `BudgetExhaustedError` when the
                request exceeds the budget and no request in flight can free some of it.
        """
        file = self._files.get(request.model)
        if file is None:
            raise ConfigurationError(f"{request.model} is not a model of this run; it has {', '.join(self._files)}")
        request = file.addressed(request)
        entry = Entry(request.model, purpose, owner, request.digest)
        lock = self._asked.setdefault(entry.digest, asyncio.Lock())
        async with lock:
            reply = self._cache.get(entry.digest)
            if reply is None:
                return await self._ask(request, entry, file)
        cost = self._prices.cost(request.model, reply.usage)
        self._ledger.hit(entry, reply.usage, cost, stated=reply.usage_stated)
        return Completion(reply=reply, cached=True, attempts=0, cost=cost)

    async def close(self) -> None:
        """Close the connections of all providers."""
        for provider in self._providers.values():
            await provider.close()

    async def _ask(self, request: Request, entry: Entry, file: ModelFile) -> Completion:
        if request.model not in self._providers:
            self._providers[request.model] = self._provider_for(file)
        progress = _Progress()
        attempts = retrying(file.retries, self._rng, self._sleep, lambda: progress.in_flight)
        try:
            reply: Reply = await attempts(self._attempt, file, request, entry, progress)
        except ModelError as error:
            self._cache.put(request, entry.digest, None)
            if isinstance(error, ConnectionFailedError) and request.model not in self._responded:
                raise UnreachableError(
                    f"{error} (attempts: {progress.attempts}); check the host, and that it is running"
                ) from error
            raise
        seconds = self._clock() - progress.started
        return Completion(reply=reply, attempts=progress.attempts, seconds=seconds, cost=progress.cost)

    async def _attempt(self, file: ModelFile, request: Request, entry: Entry, progress: _Progress) -> Reply:
        limiter, upper = self._limiters[request.model], max_amount(request, self._prices)
        async with limiter.slot(upper.tokens):
            row = await self._reserve(entry, upper)
            start = self._clock()
            progress.started = progress.started if progress.attempts else start
            progress.attempts += 1
            try:
                reply = await self._send(request, row, file.timeout)
                progress.cost = self._prices.cost(request.model, reply.usage)
                # The reply first: a process that dies in between loses nothing, and the next hit closes its row.
                try:
                    self._cache.put(request, entry.digest, reply)
                finally:
                    self._ledger.answered(row, reply.usage, progress.cost, stated=reply.usage_stated)
            finally:
                progress.in_flight += self._clock() - start
                self._release()
        limiter.unused(upper.tokens - reply.usage.prompt_tokens - reply.usage.completion_tokens)
        return reply

    async def _send(self, request: Request, row: int, timeout: float) -> Reply:
        """Send the request once; a failure closes its row."""
        try:
            reply = await self._providers[request.model].complete(request, timeout)
        except BaseException as error:
            known = isinstance(error, ModelError)
            if known and not isinstance(error, NO_RESPONSE):
                self._responded.add(request.model)
            maybe_billed = not known or isinstance(error, POSSIBLY_BILLED)
            self._ledger.failed(row, type(error).__name__, maybe_billed=maybe_billed)
            raise
        self._responded.add(request.model)
        return reply

    async def _reserve(self, entry: Entry, upper: Amount) -> int:
        """Record the request and reserve its maximum cost; wait while requests in flight may free some budget."""
        while True:
            row = self._ledger.send(entry, upper, self._budget)
            if row is not None:
                self._reserved += 1
                return row
            if not self._reserved:
                spent = self._ledger.spent()
                raise BudgetExhaustedError(
                    f"the budget is spent: {self._budget.used(spent, self._prices.currency)}, including the maximum "
                    f"cost of requests with an unknown outcome; the next request needs up to {upper.tokens:,} tokens. "
                    "All results are kept: raise the budget and run again"
                )
            await self._released.wait()

    def _release(self) -> None:
        """Wake the requests that wait for budget."""
        self._reserved -= 1
        self._released.set()
        self._released = asyncio.Event()


def _by_name(models: Iterable[ModelFile]) -> dict[str, ModelFile]:
    """Return model files by full name.

    Raises:
        ConfigurationError: Two files for one model differ in more than label and sampling.
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
