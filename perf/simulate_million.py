"""Checks perf/million_tasks.py: python perf/simulate_million.py [--share 100] [--models 16] [--write FILE]

10,000 tasks, 16 models and 3 judges with the real rate limiter and, for judges, the whole real client: cache, ledger,
budget, retries. Time is simulated: a clock that jumps to the next event. The providers are simulated too: each takes
its time for a reply, and refuses (429) what exceeds its limits per minute.
"""

import argparse
import asyncio
import json
import random
import selectors
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.models.budget import Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import BudgetExhaustedError, RateLimitError
from agenthard.models.ledger import Ledger
from agenthard.models.limits import Limits, RateLimiter
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import Price, PriceTable
from agenthard.models.request import ChatMessage, Reply, Request, Sampling, Usage

sys.path.insert(0, str(Path(__file__).parent))
from million_tasks import Assumptions, Requests

SPREAD = 0.5
"""Replies take from half to one and a half times their mean, and have so many tokens."""


LEAST_STEP = 1e-9
"""Seconds that pass at least each time that the loop looks for events, as with a real clock.

Otherwise a bucket that lacks a billionth of a token would wait for less than the clock can show, again and again."""


class Simulated(NamedTuple):
    """What one simulation found, next to what the arithmetic says."""

    seconds: float
    """Simulated time."""
    expected_seconds: float
    requests: int
    expected_requests: int
    dollars: float
    expected_dollars: float
    refused: int
    """Requests that a provider refused for its limits."""
    ledger_bytes: float
    """Disk for a row of the ledger; 0 where there is none."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next event."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


class _Jumping(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Instead of waiting, moves the clock of its loop."""

    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everything waits, and nothing will happen")
        self._loop.now += max(LEAST_STEP, timeout)
        return []


class SimulatedProvider:
    """A provider that takes its time, counts tokens, and refuses what exceeds its limits per minute."""

    def __init__(self, about: Requests, seed: int) -> None:
        self._about, self._random = about, random.Random(seed)
        self._requests, self._tokens = about.per_minute, about.tokens_per_minute
        self._at = asyncio.get_running_loop().time()
        self.refused = 0

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Answer a request of the client."""
        prompt, reply = await self.answer()
        usage = Usage(prompt_tokens=prompt, completion_tokens=reply)
        return Reply(message=ChatMessage(role="assistant", text="sound"), finish="stop", usage=usage)

    async def answer(self) -> tuple[int, int]:
        """Take the time of a reply, and return the tokens of prompt and reply."""
        about, share = self._about, self._random.uniform(1 - SPREAD, 1 + SPREAD)
        prompt, reply = round(about.prompt * share), round(about.reply * share)
        self._charge(prompt + reply)
        await asyncio.sleep(about.seconds * self._random.uniform(1 - SPREAD, 1 + SPREAD))
        return prompt, reply

    async def close(self) -> None:
        """Nothing is open."""

    def _charge(self, tokens: int) -> None:
        """Take a request from what is left of this minute; what was not used before is lost."""
        now, about = asyncio.get_running_loop().time(), self._about
        passed, self._at = (now - self._at) / 60, now
        self._requests = min(about.per_minute, self._requests + passed * about.per_minute)
        self._tokens = min(about.tokens_per_minute, self._tokens + passed * about.tokens_per_minute)
        if self._requests < 1 or self._tokens < tokens:
            self.refused += 1
            raise RateLimitError("over the limit", retry_after=1.0)
        self._requests, self._tokens = self._requests - 1, self._tokens - tokens


def run(work: Coroutine[Any, Any, Simulated]) -> Simulated:
    """Run a simulation."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)


async def agents(given: Assumptions) -> Simulated:
    """Let all models play every task: episodes of requests one after another, within the limits of their model."""
    loop, about = asyncio.get_running_loop(), given.agent
    providers = [SimulatedProvider(about, seed) for seed in range(given.models)]
    prompts = replies = sent = 0

    async def play(limiter: RateLimiter, provider: SimulatedProvider, free: asyncio.Semaphore) -> None:
        nonlocal prompts, replies, sent
        for _ in range(about.per_item):
            async with limiter.slot(about.reserved):
                prompt, reply = await provider.answer()
            limiter.unused(about.reserved - prompt - reply)
            prompts, replies, sent = prompts + prompt, replies + reply, sent + 1
        free.release()

    async def model(provider: SimulatedProvider) -> None:
        limiter = RateLimiter(_limits(about), loop.time, asyncio.sleep)
        free = asyncio.Semaphore(about.in_flight)
        async with asyncio.TaskGroup() as group:
            for _ in range(given.tasks):
                await free.acquire()
                group.create_task(play(limiter, provider, free))

    await asyncio.gather(*map(model, providers))
    used = Usage(prompt_tokens=prompts, completion_tokens=replies)
    return Simulated(
        seconds=loop.time(),
        expected_seconds=about.duration(given.tasks),
        requests=sent,
        expected_requests=given.agent_requests,
        dollars=_price(about, "*").cost(used),
        expected_dollars=about.cost(given.episodes),
        refused=sum(provider.refused for provider in providers),
        ledger_bytes=0.0,
    )


async def judges(given: Assumptions, folder: Path, budget: float | None = None) -> Simulated:
    """Let all judges judge every task through the client of a run.

    Args:
        given: the assumptions.
        folder: where cache and ledger go.
        budget: dollars that may be spent; default: without a limit.

    Raises:
        BudgetExhaustedError: The budget does not suffice.
    """
    loop, about = asyncio.get_running_loop(), given.judge
    files = [
        ModelFile(name=f"compatible/judge{n}@http://simulated/v1", limits=_limits(about), timeout=600)
        for n in range(given.judges)
    ]
    providers = {file.name: SimulatedProvider(about, n) for n, file in enumerate(files)}
    cache, ledger = ReplyCache(folder / "replies.sqlite"), Ledger(folder / "ledger.sqlite", now=loop.time)
    client = ModelClient(
        files,
        cache=cache,
        ledger=ledger,
        prices=PriceTable(currency="USD", prices=tuple(_price(about, file.name) for file in files)),
        rng=random.Random(0),
        budget=Budget(money=budget),
        provider_for=lambda file: providers[file.name],
        clock=loop.time,
        sleep=asyncio.sleep,
    )
    text = "x" * (2 * (about.reserved - _LONGEST - 8))
    instructions = ChatMessage(role="system", text=text)

    async def ask(name: str, number: int, free: asyncio.Semaphore) -> None:
        message = ChatMessage(role="user", text=f"{number:08d}")
        limit = Sampling(max_output_tokens=_LONGEST)
        request = Request(model=name, messages=(instructions, message), sampling=limit)
        try:
            await client.complete(request, purpose="judge", owner=str(number))
        finally:
            free.release()

    async def judge(name: str) -> None:
        free = asyncio.Semaphore(2 * about.in_flight)
        async with asyncio.TaskGroup() as group:
            for number in range(given.tasks):
                await free.acquire()
                group.create_task(ask(name, number, free))

    try:
        async with asyncio.TaskGroup() as group:
            for file in files:
                group.create_task(judge(file.name))
    except ExceptionGroup as errors:
        found = errors.subgroup(BudgetExhaustedError)
        if found is None:
            raise
        raise BudgetExhaustedError(f"{ledger.spent().money:.2f} dollars are spent") from errors
    finally:
        spent = ledger.spent()
        cache.close()
        ledger.close()
    return Simulated(
        seconds=loop.time(),
        expected_seconds=about.duration(given.tasks),
        requests=spent.calls,
        expected_requests=given.judgements * about.per_item,
        dollars=spent.money,
        expected_dollars=about.cost(given.judgements),
        refused=sum(provider.refused for provider in providers.values()),
        ledger_bytes=(folder / "ledger.sqlite").stat().st_size / spent.calls,
    )


_LONGEST = 2_000
"""Tokens that a judge's reply may have."""


def _limits(about: Requests) -> Limits:
    return Limits(
        in_flight=about.in_flight, requests_per_minute=about.per_minute, tokens_per_minute=about.tokens_per_minute
    )


def _price(about: Requests, model: str) -> Price:
    return Price(model=model, prompt=about.prompt_price, completion=about.reply_price, date="2026-11", source="assumed")


def simulate(given: Assumptions) -> dict[str, Simulated]:
    """Simulate all models and all judges."""
    found = {"agents": run(agents(given))}
    with tempfile.TemporaryDirectory() as folder:
        found["judges"] = run(judges(given, Path(folder)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=int, default=100)
    parser.add_argument("--models", type=int, default=Assumptions.models, help="they do not depend on one another")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    given = Assumptions(tasks=Assumptions.tasks // options.share, models=options.models)
    found = {name: each._asdict() for name, each in simulate(given).items()}
    made = {"tasks": given.tasks, "models": given.models, **found}
    print(json.dumps(made, indent=1))
    if options.write:  # what perf/bench_workers.py has measured stays in it
        kept = json.loads(options.write.read_text(encoding="utf-8")) if options.write.is_file() else {}
        options.write.write_text(json.dumps({**kept, **made}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
