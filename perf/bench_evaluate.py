"""The evaluation under fire: kill -9 at random moments, a failing server, 64 in flight, memory, and the leaderboard.

Usage: python perf/bench_evaluate.py [PART ...] [--episodes N] [--seed N]. Parts: chat, gemini, responses (episodes of a
model against a server that fails on purpose, the command killed ten times and resumed), overhead (64 in flight at 1 s
latency), memory (20,000 episodes of agents, 3,000 of a model), leaderboard (324 instances x 8 agents x 3 trials).
Without a part all are measured. Exit code 1 when something is lost, counted twice or above its limit.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from flows.evaluation.flow import play_models, prepare  # noqa: E402
from flows.evaluation.settings import EvaluationSettings  # noqa: E402
from models.model_file import load_model  # noqa: E402
from tests.loopback.app import KEY  # noqa: E402
from tests.loopback.fixtures import LoopbackProcess  # noqa: E402

KILLS = 10
FAULTS = {
    "chances": {
        **{"429": 0.03, "429_silent": 0.01, "500": 0.02, "503": 0.01, "hang": 0.01},
        **{"malformed": 0.02, "dropped": 0.02, "truncated": 0.05},
    }
}
"""About one request in eight fails, and one reply in twenty is cut off in the middle of a call."""
REASONS = {
    "RateLimited": ("429", "429_silent"),
    "ServerError": ("500", "503"),
    "MalformedReply": ("malformed",),
    "ConnectionLost": ("dropped",),
}
"""What the ledger calls the faults that the server counts."""
ENVIRONMENT = {**os.environ, **dict.fromkeys(("OPENAI_API_KEY", "GEMINI_API_KEY", "COMPATIBLE_API_KEY"), KEY)}
OVERHEAD_LIMIT, GROWTH_LIMIT_MB, LEADERBOARD_LIMIT_SECONDS = 0.05, 40.0, 180.0


def suite(folder: Path, *options: str) -> Path:
    """Generate a suite."""
    command = [sys.executable, "-m", "flows.cli", "ace", "generate", "--out", str(folder), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


def small_suite(folder: Path, hidden: int = 1, per_cell: int = 5) -> Path:
    """Generate ten instances, or two for each that a cell has."""
    cells = ("--domain", "course", "--domain", "meal", "-H", str(hidden), "-B", "0")
    return suite(folder, *cells, "--per-cell", str(per_cell), "--rows", "3", "--cols", "3", "-K", "6")


def model_file(folder: Path, protocol: str, server: LoopbackProcess, **settings: Any) -> Path:
    """Write the file of a model that the server plays."""
    name = f"google/loop@{server.url}" if protocol == "gemini" else f"compatible/loop@{server.openai_url}"
    price = {"prompt": 1.0, "completion": 4.0, "date": "2026-11"}
    content = {"name": name, "label": "loop", "price": price, "sampling": {"max_output_tokens": 500}, **settings}
    if protocol == "responses":
        content["api"] = "responses"
    path = folder / "model.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def started(tasks: Path, out: Path, *options: str) -> "subprocess.Popen[bytes]":
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "flows.cli", "evaluate", "ace", str(tasks), "--out", str(out), *options]
    log = (out.parent / f"{out.name}.log").open("ab")
    return subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True)


def rows(file: Path, query: str) -> list[tuple[Any, ...]]:
    """Read a SQLite file that may be in use, or not there yet."""
    if not file.exists():
        return []
    connection = sqlite3.connect(file, timeout=30)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def settled(out: Path) -> int:
    """How many episodes are in a run folder, whatever attempt they are at."""
    query = "SELECT count(*) FROM (SELECT 1 FROM attempts GROUP BY agent, task_id, failure_rate, trial)"
    found = rows(out / "work" / "episodes.sqlite", query)
    return int(found[0][0]) if found else 0


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
    """Print what is on disk beside what the server counted; True when it fits."""
    attempts = rows(out / "work" / "episodes.sqlite", "SELECT agent, task_id, trial, number, status FROM attempts")
    tried = Counter(row[:3] for row in attempts)
    verdicts = Counter(row[:3] for row in attempts if row[4] != "infrastructure_error")
    ledger = out / "work" / "ledger.sqlite"
    query = "SELECT state, coalesce(reason, ''), count(*) FROM attempts WHERE state <> 'cached' GROUP BY 1, 2"
    states = {(state, reason): count for state, reason, count in rows(ledger, query)}
    columns = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
    once_each = f"SELECT {', '.join(columns)} FROM attempts WHERE state = 'answered' GROUP BY digest"
    (answered,) = rows(ledger, f"SELECT count(*), {', '.join(f'sum({c})' for c in columns)} FROM ({once_each})")
    # A kill between the ledger and the cache leaves a reply that is on the books and has to be asked for again.
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
    timeouts = sum(count for (_, name), count in states.items() if name == "TimedOut")
    print(f"    {'TimedOut':<16}{timeouts:6} of {counts['abandoned']} that were abandoned")
    fits &= 0 <= twice <= billed[0] - distinct[0]
    fits &= timeouts <= counts["abandoned"] + billed[0] - distinct[0]
    fits &= 0 <= sent - counts["received"] <= unknown and counts["refused"] == 0
    once = len(tried) == episodes and len(verdicts) == episodes and max(verdicts.values()) == 1
    equal = list(answered) == distinct
    print(f"  each episode once: {once}; ledger equals server: {equal}; the rest explained: {fits}")
    return bool(once and equal and fits)


def overhead(folder: Path, episodes: int) -> bool:
    """Let 64 episodes of six requests each be under way at 1 s a reply; equal episodes have no ramp-down.

    Ideal is the time that the server itself took, its own work on top of the second included, over 64.
    """
    server = LoopbackProcess(folder, {"brain": "tests.loopback.brains:ace", "latency": 1.0})
    episodes -= episodes % 64
    tasks = small_suite(folder / "suite", hidden=2, per_cell=32)
    for attempt in ("first", "second"):
        model = load_model(str(model_file(folder, "chat", server)))
        os.environ["COMPATIBLE_API_KEY"] = KEY
        settings = EvaluationSettings(
            benchmark="ace", path=str(tasks), models=(model,), trials=episodes // 64, out=str(folder / attempt)
        )
        prepare.fn(settings)
        server.reset()
        wall, cpu = time.perf_counter(), time.process_time()
        stopped = asyncio.run(play_models(settings, threading.Event()))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        counts = server.counts
        ideal = counts["seconds"] / 64
        over: float = wall / ideal - 1
        print(
            f"\noverhead, {attempt} run: {episodes} episodes, {counts['answered']} requests, at most "
            f"{counts['most_in_flight']} in flight: {wall:.2f} s for {ideal:.2f} s, {over:.1%}; "
            f"{cpu:.1f} CPU s, {cpu / counts['answered'] * 1000:.2f} ms per request {stopped or ''}"
        )
    server.stop()
    return over < OVERHEAD_LIMIT


def memory(folder: Path, episodes: int) -> bool:
    """Watch the resident memory of all processes while agents play, then while a model does."""
    tasks = small_suite(folder / "suite", per_cell=25)
    agents = ("--agent", "random", "--agent", "slot-filter", "--workers", "2", "--trials", str(episodes // 100))
    flat = _watched("agents", tasks, folder / "agents", episodes, *agents)
    server = LoopbackProcess(folder, {"brain": "tests.loopback.brains:ace"})
    model = model_file(folder, "chat", server)
    talks = max(episodes * 3 // 20, 50)
    flat &= _watched("model", tasks, folder / "model", talks, "--model", str(model), "--trials", str(talks // 50))
    server.stop()
    return flat


def _watched(name: str, tasks: Path, out: Path, episodes: int, *options: str) -> bool:
    began, process = time.perf_counter(), started(tasks, out, *options)
    samples: list[tuple[int, dict[int, float]]] = []
    while process.poll() is None:
        if (done := settled(out)) < episodes:
            samples.append((done, _resident(process.pid)))
        time.sleep(0.5)
    print(f"\nmemory, {name}: {episodes} episodes, exit code {process.returncode}, {time.perf_counter() - began:.0f} s")
    pids = [pid for pid in samples[-1][1] if samples[-1][1][pid] > 20]
    early = next((sample for sample in samples if sample[0] >= episodes // 10), samples[-1])
    grown = 0.0
    for pid in pids:
        first, last = early[1].get(pid, 0.0), max(sample[1].get(pid, 0.0) for sample in samples[-10:])
        kind = "command" if pid == process.pid else "process"
        print(f"  {kind}: {first:.0f} MB at {early[0]} episodes, {last:.0f} MB at {samples[-1][0]}")
        grown = max(grown, last - first)
    return process.returncode == 0 and settled(out) == episodes and grown < GROWTH_LIMIT_MB


def _resident(group: int) -> dict[int, float]:
    """Resident memory in MB of the Python processes of a group, Prefect's own server left out."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(stat[2]) == group and b"uvicorn" not in (folder / "cmdline").read_bytes():
                found[int(folder.name)] = int((folder / "statm").read_text().split()[1]) * 4096 / 1e6
        except OSError:
            continue
    return found


def leaderboard(folder: Path) -> bool:
    """Let eight agents of the leaderboard play the paper's suite three times."""
    from ace.agents import LEADERBOARD

    tasks = suite(folder / "suite", "--workers", "2")
    agents = [text for name in LEADERBOARD[:1] + LEADERBOARD[5:] for text in ("--agent", name)]
    began = time.perf_counter()
    code = started(tasks, folder / "run", *agents, "--trials", "3", "--workers", "2").wait()
    wall, count = time.perf_counter() - began, settled(folder / "run")
    load = os.getloadavg()[0]
    print(f"\nleaderboard: {count} episodes, exit code {code}, {wall:.0f} s, load {load:.1f}")
    return code == 0 and count == 324 * 8 * 3 and wall < LEADERBOARD_LIMIT_SECONDS


def main() -> int:
    """Measure the parts; return 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="default: all")
    parser.add_argument("--episodes", type=int, help="episodes of each part, but for the leaderboard")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments at which the command is killed")
    options = parser.parse_args()
    count = options.episodes
    parts: dict[str, Callable[[Path], bool]] = {
        **{
            protocol: partial(under_fire, protocol=protocol, episodes=count or 1000, seed=options.seed)
            for protocol in ("chat", "gemini", "responses")
        },
        "overhead": partial(overhead, episodes=count or 512),
        "memory": partial(memory, episodes=count or 20_000),
        "leaderboard": leaderboard,
    }
    if unknown := set(options.parts) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    failed = []
    with tempfile.TemporaryDirectory() as name:
        ENVIRONMENT["PREFECT_HOME"] = str(Path(name) / "prefect")
        for part in options.parts or parts:
            (Path(name) / part).mkdir()
            if not parts[part](Path(name) / part):
                failed.append(part)
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall within their limits")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
