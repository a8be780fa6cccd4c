"""Kill audits and judgings at random moments, resume them, and compare with an undisturbed run.

Usage: python -m perf.faults.kill_resume [--kills N] [--tasks N] [--seed N]. Half of the kills hit `agenthard audit`
(two runs per task, 2 workers), half `agenthard judge run` (a loopback server that fails one time in ten). Each kill is
SIGKILL of the process, SIGKILL of its group, SIGTERM or SIGINT. Exit code 1 when a file differs from the undisturbed
run, a run is lost or doubled, an answer was paid for twice beyond the requests that a kill cut off, or a process is
left.
"""

import argparse
import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet

from agenthard.models.ledger import Ledger
from tests.builders import make_run
from tests.flows.judging.made import audit, model, panel, write_benchmark
from tests.flows.judging.test_command import judges
from tests.flows.test_surroundings import processes
from tests.loopback.app import KEY
from tests.loopback.fixtures import LoopbackProcess

KINDS = ("SIGKILL", "SIGKILL of the group", "SIGTERM", "SIGINT")
CHANCES = {"429": 0.04, "500": 0.03, "malformed": 0.02, "dropped": 0.01}
PATIENCE, LEFT_SECONDS = 300.0, 10.0


def start(arguments: list[str]) -> "subprocess.Popen[bytes]":
    """Start a command in a group of its own."""
    command = [sys.executable, "-m", "agenthard", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def disturbed(arguments: list[str], kills: int, longest: float, rng: random.Random, count: Counter[str]) -> bool:
    """Run a command to its end, killing it so many times; tells whether no process was left and the end was orderly."""
    sound = True
    for _ in range(kills):
        process = start(arguments)
        kind, delay = rng.choice(KINDS), rng.uniform(0.5, longest)
        deadline = time.monotonic() + delay
        family: set[int] = set()
        while process.poll() is None and time.monotonic() < deadline:
            family |= descendants(process.pid)
            time.sleep(0.1)
        if process.poll() is not None:
            count["ended before the kill"] += 1
            process.communicate()
            continue
        family |= descendants(process.pid)
        count[kind] += 1
        if kind == "SIGKILL of the group":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.send_signal(getattr(signal, kind))
        _, error = process.communicate(timeout=PATIENCE)
        if kind in ("SIGTERM", "SIGINT") and b"Traceback" in error:
            print(f"{kind} after {delay:.1f} s: {error.decode()[-400:]}")
            sound = False
        until = time.monotonic() + LEFT_SECONDS
        while (left := family & processes().keys()) and time.monotonic() < until:
            time.sleep(0.1)
        if left:
            print(f"{kind} after {delay:.1f} s left {[processes().get(pid) for pid in left]}")
            sound = False
    process = start(arguments)
    _, error = process.communicate(timeout=PATIENCE)
    if process.returncode not in (0, 1, 2):
        print(f"the last run ended with {process.returncode}: {error.decode()[-400:]}")
        return False
    return sound


def descendants(pid: int) -> set[int]:
    """All processes below a process."""
    found, all_, size = {pid}, processes(), 0
    while size != len(found):
        size = len(found)
        found |= {number for number, (parent, _) in all_.items() if parent in found}
    return found - {pid}


def digests(folder: Path, wanted: Callable[[Path], bool]) -> dict[str, str]:
    """Hash the files of a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and wanted(path.relative_to(folder)))
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def audits(folder: Path, kills: int, tasks: int, rng: random.Random) -> bool:
    """Kill audits."""
    benchmark = write_benchmark(folder / "benchmark", tasks)
    runs = [make_run(f"lib/{i}", name, passed=(i + n) % 3 != 0) for i in range(tasks) for n, name in enumerate("AB")]
    (benchmark / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs), encoding="utf-8")
    count: Counter[str] = Counter()

    def command(out: str) -> list[str]:
        given = ["--runs", str(benchmark / "runs.jsonl"), "--out", str(folder / out), "--workers", "2"]
        return ["audit", "native", str(benchmark), *given]

    began = time.monotonic()
    sound = disturbed(command("sound"), 0, 0, rng, count)
    longest = time.monotonic() - began
    sound &= disturbed(command("killed"), kills, longest, rng, count)

    def bytes_matter(path: Path) -> bool:  # what each check took differs from run to run
        return path.parts[:2] != ("work", "costs") and path.name != "settings.json"

    undisturbed, killed = (digests(folder / name, bytes_matter) for name in ("sound", "killed"))
    differ = {name for name in undisturbed.keys() | killed.keys() if undisturbed.get(name) != killed.get(name)}
    rows = pyarrow.parquet.read_metadata(folder / "killed" / "tables" / "trajectories.parquet").num_rows
    print(f"audit: {dict(count)}; files {len(killed)}, different {sorted(differ)}; runs {rows} of {len(runs)}")
    return sound and rows == len(runs) and {name for name in differ if name not in ("manifest.json",)} == set()


def judgings(folder: Path, kills: int, tasks: int, rng: random.Random) -> bool:
    """Kill judgings."""
    run = audit(write_benchmark(folder / "judged-benchmark", tasks), folder / "run")
    faults = {"chances": CHANCES, "seed": 1, "most_in_a_row": 3}
    server = LoopbackProcess(folder, {"brain": "tests.flows.judging.made:readable", "latency": 0.2, "faults": faults})
    settings = model("chat", server.url, retries={"attempts": 8, "first_wait": 0.05, "longest_wait": 0.2})
    file, count = judges(folder, panel([{"model": settings, "samples": 2}])), Counter[str]()
    out = folder / "judged"

    def command(to: Path) -> list[str]:
        given = ["--judges", str(file), "--out", str(to), "--in-flight", "8", "--workers", "0"]
        return ["judge", "run", str(run), *given]

    began = time.monotonic()
    sound = disturbed(command(folder / "judged-sound"), 0, 0, rng, count)
    longest = time.monotonic() - began
    server.reset()
    sound &= disturbed(command(out), kills, longest, rng, count)
    counts = server.counts
    server.stop()
    connection = sqlite3.connect(out / "judge" / "questions.sqlite")
    [(answers, errors)] = connection.execute("SELECT count(*), count(error) FROM answers").fetchall()
    connection.close()
    ledger = Ledger(out / "judge" / "ledger.sqlite")
    (books,) = ledger.totals(by=())
    ledger.close()
    billed = sum(each["requests"] for each in counts["billed"].values())
    cut_off = billed - books.answered
    alike = (out / "judge" / "panels.jsonl").read_bytes() == (folder / "judged-sound/judge/panels.jsonl").read_bytes()
    print(
        f"judge run: {dict(count)}; answers {answers} of {2 * tasks}, errors {errors}; server billed {billed}, ledger "
        f"answered {books.answered}, cut off {cut_off} of {books.unknown + books.maybe_billed} rows without an answer; "
        f"panels {'equal' if alike else 'DIFFERENT'}"
    )
    kept_once = books.answered == answers and 0 <= cut_off <= books.unknown + books.maybe_billed
    return sound and alike and (answers, errors) == (2 * tasks, 0) and kept_once


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ |= {"PREFECT_HOME": str(folder / "prefect"), "COMPATIBLE_API_KEY": KEY}
        half = options.kills // 2
        sound = audits(folder, half, options.tasks, rng)
        sound &= judgings(folder, options.kills - half, options.tasks, rng)
    print("nothing lost, nothing doubled" if sound else "SOMETHING IS WRONG")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
