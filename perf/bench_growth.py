"""How CPU time, memory and disk grow with the number of tasks: python perf/bench_growth.py [--workers N] [TASKS ...]

Each size is audited by its own process; default: 10,000 tasks of 1 kB. With --workers, also by so many processes: on an
idle machine two take at most 1/1.7 of the time from 500 tasks on. Targets of 10,000 tasks are in bench_commands.py;
1,000,000 tasks are to take less than 1 GB. `python perf/bench_growth.py --write FOLDER TASKS [SHARE]` only writes such
a benchmark; SHARE of its tasks have a flaw.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import used

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
    options = parser.parse_args()
    for tasks in options.tasks:
        alone = measure(tasks, 1)
        if options.workers:
            print(f"{options.workers} workers: {alone / measure(tasks, options.workers):.2f} x as fast")


def measure(tasks: int, workers: int) -> float:
    """Audit a library of so many tasks, print what that takes, and return the seconds that passed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        size = write_library(folder / "library", tasks)
        began = time.perf_counter()
        taken = used(["audit", "native", "library", "--out", "run", "--workers", str(workers)], folder)
        passed = time.perf_counter() - began - taken.unit
        disk = sum(path.stat().st_size for path in (folder / "run").rglob("*") if path.is_file())
    print(
        f"{tasks:>9,} tasks, {size / 1e6:6.1f} MB: {taken.cpu:7.1f} CPU s ({passed:.1f} s), "
        f"{taken.cpu / tasks * 1000:5.2f} ms per task, peak {taken.mb:,.0f} MB, run folder {disk / 1e6:.1f} MB"
    )
    return passed


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
