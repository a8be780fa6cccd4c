"""The evaluation: 64 requests in flight, memory over many episodes, and the leaderboard.

Usage: python perf/bench_evaluate.py [PART ...] [--episodes N]. Parts: overhead (64 in flight at 1 s latency), memory
(20,000 episodes of agents, 3,000 of a model), leaderboard (324 instances x 8 agents x 3 trials); all by default.
Exit code 1 when one is above its limit.
"""

import argparse
import asyncio
import os
import sys
import threading
import time
from functools import partial
from pathlib import Path

from evaluations import measure, model_file, settled, small_suite, started, suite

from agenthard.flows.evaluation.flow import play_models, prepare
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.model_file import load_model
from tests.loopback.app import KEY
from tests.loopback.fixtures import LoopbackProcess

OVERHEAD_LIMIT, GROWTH_LIMIT_MB, LEADERBOARD_LIMIT_SECONDS = 0.05, 40.0, 180.0
PARTS = ("overhead", "memory", "leaderboard")


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
    from agenthard.ace.agents import LEADERBOARD

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
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--episodes", type=int, help="episodes of each part, except the leaderboard")
    options = parser.parse_args()
    parts = {
        "overhead": partial(overhead, episodes=options.episodes or 512),
        "memory": partial(memory, episodes=options.episodes or 20_000),
        "leaderboard": leaderboard,
    }
    return measure(options.parts, parts)


if __name__ == "__main__":
    sys.exit(main())
