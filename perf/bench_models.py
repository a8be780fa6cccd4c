"""What the client adds to a model's own time: calls at 64 in flight, cache hits, ledger rows, long conversations.

Usage: python perf/bench_models.py. Exit code 1 when the overhead is above its limit.
"""

import asyncio
import random
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from agenthard.models.budget import Amount, Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.limits import Limits
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import load_prices
from agenthard.models.request import Call, ChatMessage, Reply, Request, Sampling, Tool, Usage

MODEL = "openai/gpt-5-mini"
IN_FLIGHT, ROUNDS, LATENCY = 64, 10, 1.0
OVERHEAD_LIMIT = 0.05
TOOLS = tuple(
    Tool(name=f"tool_{n}", description="Does something useful. " * 8, parameters={"type": "object", "properties": {}})
    for n in range(11)
)


class Sleeper:
    """A provider that takes its time and no work."""

    def __init__(self, latency: float) -> None:
        self.latency = latency

    async def complete(self, request: Request, timeout: float) -> Reply:
        await asyncio.sleep(self.latency)
        message = ChatMessage(role="assistant", text="Done, and here is why. " * 20)
        return Reply(message=message, finish="stop", usage=Usage(prompt_tokens=900, completion_tokens=100))

    async def close(self) -> None:
        """Nothing is open."""


def conversation(number: int, turns: int) -> Request:
    messages = [ChatMessage(role="system", text="Be good. " * 300), ChatMessage(role="user", text=f"Task {number}")]
    for turn in range(turns):
        call = Call(id=f"c{turn}", name="tool_1", arguments='{"row": 1, "col": 2}')
        messages += [
            ChatMessage(role="assistant", calls=(call,)),
            ChatMessage(role="tool", call_id=call.id, tool_name="tool_1", text=f"turn {turn}: " + "result " * 40),
        ]
    sampling = Sampling(max_output_tokens=1000)
    return Request(model=MODEL, messages=tuple(messages), tools=TOOLS, sampling=sampling)


def opened(folder: Path, latency: float) -> ModelClient:
    return ModelClient(
        [ModelFile(name=MODEL, limits=Limits(in_flight=IN_FLIGHT))],
        cache=ReplyCache(folder / "cache.sqlite"),
        ledger=Ledger(folder / "ledger.sqlite"),
        prices=load_prices(),
        rng=random.Random(1),
        provider_for=lambda file: Sleeper(latency),
    )


async def play(client: ModelClient, requests: list[Request]) -> None:
    for request in requests:
        await client.complete(request, purpose="agent", owner="bench")


async def play_all(client: ModelClient, episodes: list[list[Request]]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(play(client, requests) for requests in episodes))
    return time.perf_counter() - wall, time.process_time() - cpu


async def client_overhead(folder: Path, turns: int) -> float:
    """Episodes whose every request is the one before and two messages more, from a given length on."""
    client, count = opened(folder, LATENCY), IN_FLIGHT * ROUNDS
    lengths = range(turns, turns + ROUNDS)
    episodes = [[conversation(number, turn) for turn in lengths] for number in range(IN_FLIGHT)]
    wall, cpu = await play_all(client, episodes)
    overhead = wall / (ROUNDS * LATENCY) - 1
    words = f"{count} calls of {2 + 2 * turns} to {2 * (turns + ROUNDS)} messages"
    print(f"{words}: {wall:.2f} s, overhead {overhead:.1%}, {cpu:.2f} CPU s, {cpu / count * 1000:.2f} CPU ms per call")
    wall, cpu = await play_all(client, episodes)
    print(f"  the same from the cache: {count / wall:.0f} per s, {cpu / count * 1000:.2f} CPU ms each")
    await client.close()
    return overhead


async def longest_stop(folder: Path) -> tuple[float, float]:
    """Milliseconds by which timers of 1 ms are late while the client is as busy as it can be: median and worst."""
    client, late = opened(folder, 0.0), []

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - began - 0.001) * 1000)

    watching = asyncio.create_task(watch())
    for number in range(300):
        await client.complete(conversation(number, 30), purpose="agent", owner="bench")
    watching.cancel()
    await client.close()
    return statistics.median(late), max(late)


def storage(folder: Path) -> None:
    ledger, rows = Ledger(folder / "ledger.sqlite"), 5000
    began = time.perf_counter()
    for number in range(rows):
        row = ledger.send(Entry(MODEL, "agent", f"e{number % 100}", f"{number:064}"), Amount(1, 1000, 0.01), Budget())
        ledger.answered(row or 0, Usage(prompt_tokens=1), 0.001)
    took = time.perf_counter() - began
    print(f"ledger: {rows / took:.0f} rows per s, {took / rows / 2 * 1e6:.0f} us per commit (two a row)")
    cache = ReplyCache(folder / "cache.sqlite")
    requests = [conversation(0, turns) for turns in range(60)]
    reply = Reply(message=ChatMessage(role="assistant", text="words " * 60), finish="stop")
    began = time.perf_counter()
    for request in requests:
        cache.put(request, request.digest, reply)
    put = time.perf_counter() - began
    digests = [request.digest for request in requests]
    began = time.perf_counter()
    for digest in digests * 20:
        cache.get(digest)
    got = time.perf_counter() - began
    cache.close()
    size = (folder / "cache.sqlite").stat().st_size / 1024
    print(f"cache: {len(digests) * 20 / got:.0f} lookups per s; an episode of 60 requests takes {put * 1000:.0f} ms")
    print(f"  and {size:.0f} KiB, of {sum(len(r.model_dump_json()) for r in requests) / 1024:.0f} KiB as JSON")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overheads = [asyncio.run(client_overhead(folder / str(turns), turns)) for turns in (0, 30)]
        middle, worst = asyncio.run(longest_stop(folder / "loop"))
        print(f"a timer of 1 ms is late by {middle:.2f} ms in the middle and {worst:.1f} ms at worst")
        storage(folder / "storage")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")
    missed = max(overheads) > OVERHEAD_LIMIT
    print(f"overhead above {OVERHEAD_LIMIT:.0%}" if missed else f"overhead within {OVERHEAD_LIMIT:.0%}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
