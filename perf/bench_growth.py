"""How CPU time, memory and disk grow with the number of tasks: python perf/bench_growth.py [--workers N] [TASKS ...]

Each size is audited by its own process; default: 10,000 tasks of 1 kB. With --workers, also by so many processes: on an
idle machine two take at most 1/1.7 of the time from 500 tasks on. With --only they are not compared
with one process. With --curve FILE.svg the memory over time is drawn.
Targets of 10,000 tasks are in bench_commands.py; 1,000,000 tasks are to take less than 1 GB.
`python perf/bench_growth.py --write FOLDER TASKS [SHARE]` only writes such a benchmark; SHARE of its tasks have a flaw.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

FLAWED = 0.002
"""Share of the tasks whose gold call breaks the documented schema."""

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
WORDS = "quiet amber river stone winter garden silver paper hollow northern little copper distant early morning".split()


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        write_library(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]) if len(sys.argv) > 4 else FLAWED)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", type=int, default=[10_000])
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", action="store_true")
    parser.add_argument("--curve", type=Path)
    options = parser.parse_args()
    for tasks in options.tasks:
        if options.only:
            measure(tasks, options.workers or 1, options.curve)
            continue
        alone = measure(tasks, 1, options.curve)
        if options.workers:
            print(f"{options.workers} workers: {alone / measure(tasks, options.workers):.2f} x as fast")


def measure(tasks: int, workers: int, curve: Path | None = None) -> float:
    """Audit a library of so many tasks, print what that takes, and return the seconds that passed.

    Args:
        tasks: number of tasks.
        workers: processes.
        curve: where to write the memory over the tasks that are done: a figure, and its numbers as JSON.
    """
    with tempfile.TemporaryDirectory() as scratch:
        data, run = Path(scratch) / "library", Path(scratch) / "run"
        size = write_library(data, tasks)
        command = [sys.executable, "-m", "agenthard.flows.cli", "audit", "native", str(data), "--out", str(run)]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen([*command, "--workers", str(workers)], stdout=subprocess.DEVNULL)
        samples = list[Sample]()
        while process.poll() is None:
            samples += filter(None, [sample(process.pid, run)])
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(1.0, tasks / 200_000))
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        disk = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    first, last = tenths(tasks, samples)
    peak = after.ru_maxrss / 1024
    print(
        f"{tasks:>9,} tasks, {size / 1e6:6.1f} MB: {cpu:7.1f} CPU s ({wall:.1f} s), {cpu / tasks * 1000:5.2f} ms per "
        f"task, peak {peak:,.0f} MiB, run folder {disk / 1e6:.1f} MB; CPU ms per task {first:.2f} in the first tenth, "
        f"{last:.2f} in the last",
        flush=True,
    )
    if curve is not None:
        figures = {"tasks": tasks, "cpu_s": round(cpu), "peak_mib": round(peak), "first_ms": first, "last_ms": last}
        curve.with_suffix(".json").write_text(json.dumps({**figures, "samples": samples}) + "\n")
        draw(tasks, samples, curve)
    return wall


Sample = tuple[float, float, int]
"""CPU seconds of the process and its workers, their memory in MiB, and the shards that are done."""


def sample(process: int, run: Path) -> Sample | None:
    """Look at an audit and its workers; None when it has ended. Reads ``/proc``, so it needs Linux."""
    try:
        threads = Path(f"/proc/{process}/task").glob("*/children")  # each thread lists those that it started
        children = [int(pid) for thread in threads for pid in thread.read_text().split()]
        used = [_used(pid) for pid in (process, *children)]
    except (OSError, IndexError):
        return None
    shards = run / "work" / "shards"
    done = len(os.listdir(shards)) if shards.is_dir() else 0
    return sum(cpu for cpu, _ in used), sum(memory for _, memory in used), done


def _used(process: int) -> tuple[float, float]:
    """Return CPU seconds and MiB of one process."""
    memory = int(Path(f"/proc/{process}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK"), memory


def tenths(tasks: int, samples: list[Sample]) -> tuple[float, float]:
    """Return the CPU milliseconds per task while the first and while the last tenth of the shards were checked."""
    reached = dict[int, float]()
    for cpu, _, done in samples:
        if done:
            reached.setdefault(done, cpu)
    shards = max(reached, default=1)
    ends = np.array([1, 1 + shards / 10, shards - shards / 10, shards])
    began, tenth, nine_tenths, ended = np.interp(ends, list(reached) or [1], list(reached.values()) or [0.0])
    return round(1e4 * (tenth - began) / tasks, 2), round(1e4 * (ended - nine_tenths) / tasks, 2)


def draw(tasks: int, samples: list[Sample], path: Path) -> None:
    """Draw the memory of an audit with its workers over CPU time, with the tasks that are checked, as SVG."""
    import altair as alt

    shards = max(done for *_, done in samples) or 1
    rows = [{"cpu": cpu / 60, "memory": memory, "done": done / shards * tasks / 1e3} for cpu, memory, done in samples]
    x = alt.X("cpu:Q", title="CPU minutes")
    memory = alt.Chart(alt.Data(values=rows)).mark_line().encode(x, alt.Y("memory:Q", title="memory, MiB"))
    done = memory.mark_line(strokeDash=[4, 3], color="gray").encode(x, alt.Y("done:Q", title="thousand tasks checked"))
    title = f"An audit of {tasks:,} tasks: memory (line), tasks checked (dashed)"
    alt.layer(memory, done, title=title, width=560, height=280).resolve_scale(y="independent").save(path)


def write_library(folder: Path, tasks: int, flawed: float = FLAWED) -> int:
    """Write a benchmark of a lending library in the native format; all tasks share one environment.

    Args:
        folder: where the files go; made when absent.
        tasks: number of tasks.
        flawed: share of the tasks whose gold call gives a number of days as a word.

    Returns:
        Size of the tasks in bytes.
    """
    rng = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "environments.jsonl").write_text(json.dumps(_environment()) + "\n")
    with (folder / "tasks.jsonl").open("w") as stream:
        for number in range(tasks):
            stream.write(json.dumps(_task(number, rng, flawed)) + "\n")
    return (folder / "tasks.jsonl").stat().st_size


def _environment() -> dict[str, Any]:
    def tool(name: str, effect: str, doc: str, **properties: Any) -> dict[str, Any]:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return {"name": name, "description": doc, "effect": effect, "parameters": schema}

    return {
        "name": "desk",
        "policy": "Help readers of the library. Lend a book only to its member, and pay fees only when asked to.",
        "tools": [
            tool("find_book", "read", "Find a book by its title.", title=TEXT),
            tool("lend_book", "write", "Lend a book to a member for some days.", book=TEXT, member=TEXT, days=NUMBER),
            tool("pay_fee", "write", "Pay a fee of a member in cents.", member=TEXT, cents=NUMBER),
            tool("leave_note", "write", "Leave a note for a member.", member=TEXT, text=TEXT),
        ],
    }


def _task(number: int, rng: random.Random, flawed: float) -> dict[str, Any]:
    title = " ".join(rng.sample(WORDS, 4)).title()
    book, member = f"b{rng.randrange(10**6):06d}", f"m{rng.randrange(10**6):06d}"
    days, cents, note = rng.randint(3, 40), rng.randint(10, 900), " ".join(rng.choices(WORDS, k=6))
    said = (
        f"Please look for “{title}” ({book}) and lend it to member {member} for {days} days. The member also pays "
        f"a fee of {cents} cents today. Leave the note “{note}” for the same member."
    )
    calls = [
        {"name": "find_book", "arguments": {"title": title}},
        {"name": "lend_book", "arguments": {"book": book, "member": member, "days": days}},
        {"name": "pay_fee", "arguments": {"member": member, "cents": cents}},
        {"name": "leave_note", "arguments": {"member": member, "text": note}},
    ]
    if rng.random() < flawed:
        calls[1]["arguments"] |= {"days": f"{days} days"}
    return {
        "id": f"library_{number:07d}",
        "benchmark": "library",
        "subtask": f"lending_{number % 20:02d}",
        "user": {"kind": "scripted", "turns": [[{"role": "user", "content": said}]]},
        "environment": {"$ref": "desk"},
        "evaluation": {"checks": [{"kind": "tool_calls", "scored": True, "pointer": "/ground_truth/turns/0"}]},
        "ground_truth": {"semantics": "required", "turns": [calls]},
    }


if __name__ == "__main__":
    main()
