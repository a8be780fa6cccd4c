"""Episodes of a model against a server that fails on purpose, the command killed ten times at random and resumed.

Usage: python perf/bench_under_fire.py [PROTOCOL ...] [--episodes N] [--seed N]. Protocols: chat, gemini, responses; all
by default. Exit code 1 when an episode is lost or counted twice, or when the ledger and the server disagree.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from evaluations import measure, model_file, rows, settled, small_suite, started

from tests.loopback.fixtures import LoopbackProcess

KILLS = 10
FAULTS = {
    "chances": {
        **{"429": 0.03, "429_silent": 0.01, "500": 0.02, "503": 0.01, "hang": 0.01},
        **{"malformed": 0.02, "dropped": 0.02, "truncated": 0.05},
    }
}
"""About one request in eight fails, and one reply in twenty is cut off in the middle of a call."""
REASONS = {
    "RateLimitError": ("429", "429_silent"),
    "ServerError": ("500", "503"),
    "MalformedReplyError": ("malformed",),
    "ConnectionLostError": ("dropped",),
}
"""What the ledger calls the faults that the server counts."""
PROTOCOLS = ("chat", "gemini", "responses")


def under_fire(folder: Path, protocol: str, episodes: int, seed: int) -> bool:
    """Play episodes of a model, killed ten times, and compare what is on disk with what the server counted."""
    rng = random.Random(seed)
    server = LoopbackProcess(folder, {"brain": "tests.loopback.brains:ace", "latency": 0.5, "faults": FAULTS})
    retries = {"attempts": 3, "first_wait": 0.05, "longest_wait": 0.5}
    model = model_file(folder, protocol, server, timeout=8, retries=retries)
    tasks, out = small_suite(folder / "suite", per_cell=10), folder / "run"
    options = ("--model", str(model), "--trials", str(episodes // 20), "--in-flight", "24")
    began, moments = time.perf_counter(), []
    for _ in range(KILLS):
        process = started(tasks, out, *options)
        _wait_for_requests(process, out)
        try:
            process.wait(rng.uniform(0.0, 5.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            moments.append(f"{settled(out)}, {_in_flight(out)}")
    code = started(tasks, out, *options).wait()
    print(f"\n{protocol}: {episodes} episodes, exit code {code}, {time.perf_counter() - began:.0f} s")
    print(f"  killed at (episodes on disk, unanswered requests): {'; '.join(moments)}")
    right = _compare(out, server.counts, episodes)
    server.stop()
    return right and code == 0 and len(moments) == KILLS


def _wait_for_requests(process: "subprocess.Popen[bytes]", out: Path) -> None:
    """Wait until a command that was just started sends requests: what it does before is not at risk."""
    query = "SELECT coalesce(max(id), 0) FROM attempts WHERE state <> 'cached'"
    before = rows(out / "work" / "ledger.sqlite", query)
    while process.poll() is None and rows(out / "work" / "ledger.sqlite", query) in ([], before):
        time.sleep(0.1)


def _in_flight(out: Path) -> int:
    """Requests whose outcome is unknown, now and from earlier deaths."""
    found = rows(out / "work" / "ledger.sqlite", "SELECT count(*) FROM attempts WHERE state = 'sent'")
    return int(found[0][0]) if found else 0


def _compare(out: Path, counts: dict[str, Any], episodes: int) -> bool:
    """Print what is on disk next to what the server counted; True when it fits."""
    attempts = rows(out / "work" / "episodes.sqlite", "SELECT agent, task_id, trial, number, status FROM attempts")
    tried = Counter(row[:3] for row in attempts)
    verdicts = Counter(row[:3] for row in attempts if row[4] != "infrastructure_error")
    ledger = out / "work" / "ledger.sqlite"
    query = "SELECT state, coalesce(reason, ''), count(*) FROM attempts WHERE state <> 'cached' GROUP BY 1, 2"
    states = {(state, reason): count for state, reason, count in rows(ledger, query)}
    columns = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
    once_each = f"SELECT {', '.join(columns)} FROM attempts WHERE state = 'answered' GROUP BY digest"
    (answered,) = rows(ledger, f"SELECT count(*), {', '.join(f'sum({c})' for c in columns)} FROM ({once_each})")
    # A kill between the ledger and the cache leaves a reply that is in the ledger and has to be asked for again.
    twice = states.get(("answered", ""), 0) - answered[0]
    fields = ("requests", "prompt", "completion", "cached", "reasoning")
    distinct, billed = ([counts[kind]["loop"].get(f, 0) for f in fields] for kind in ("distinct", "billed"))
    sent, unknown = sum(states.values()), states.get(("sent", ""), 0)
    print(f"  episodes {len(tried)}, with a verdict {len(verdicts)}, attempts {len(attempts)}")
    print(f"  ledger, distinct: {dict(zip(fields, answered, strict=True))}; paid twice: {twice}")
    print(f"  server, distinct: {dict(zip(fields, distinct, strict=True))}; billed {billed[0]} requests")
    print(f"  ledger: {sent} sent, {unknown} of unknown outcome; server: {counts['received']} received")
    fits = True
    for reason, faults in REASONS.items():
        ours = sum(count for (_, name), count in states.items() if name == reason)
        theirs = sum(counts["faults"].get(fault, 0) for fault in faults)
        print(f"    {reason:<16}{ours:6} of {theirs} that the server made")
        fits &= ours <= theirs <= ours + unknown
    timeouts = sum(count for (_, name), count in states.items() if name == "RequestTimeoutError")
    print(f"    {'RequestTimeoutError':<16}{timeouts:6} of {counts['abandoned']} that were abandoned")
    fits &= 0 <= twice <= billed[0] - distinct[0]
    fits &= timeouts <= counts["abandoned"] + billed[0] - distinct[0]
    fits &= 0 <= sent - counts["received"] <= unknown and counts["refused"] == 0
    once = len(tried) == episodes and len(verdicts) == episodes and max(verdicts.values()) == 1
    equal = list(answered) == distinct
    print(f"  each episode once: {once}; ledger equals server: {equal}; the rest explained: {fits}")
    return bool(once and equal and fits)


def main() -> int:
    """Measure the protocols; return 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocols", nargs="*", choices=[*PROTOCOLS, []], help="default: all")
    parser.add_argument("--episodes", type=int, default=1000, help="episodes of each protocol")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments at which the command is killed")
    options = parser.parse_args()
    parts = {p: partial(under_fire, protocol=p, episodes=options.episodes, seed=options.seed) for p in PROTOCOLS}
    return measure(options.protocols, parts)


if __name__ == "__main__":
    sys.exit(main())
