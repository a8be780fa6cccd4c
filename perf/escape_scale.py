"""Many escape rooms: memory of 10,000, equal bytes for workers, hash seeds and after kills, cost of playing.

python perf/escape_scale.py [--rooms 10000]
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AGENTS = ("oracle", "story", "clue-first", "greedy", "random")
ROOMS = ("--size", "5", "--size", "10", "--size", "15", "--rooms", "100", "--seed", "9")
"""The suite of which the bytes are compared: 300 rooms."""
KILLS = 8
_MEASURED = """
import resource, sys, time
from agenthard.flows.cli import app
start = time.perf_counter()
sys.argv = ["agenthard", *sys.argv[1:]]
try:
    app()
finally:
    own, others = (resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(each.ru_utime + each.ru_stime for each in (own, others))
    peak = max(each.ru_maxrss for each in (own, others)) // 1024
    print(f"peak {peak} MB, {cpu:.1f} CPU s, {time.perf_counter() - start:.1f} s", file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, default=10_000)
    rooms = parser.parse_args().rooms
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for count, workers in ((rooms // 10, 1), (rooms, 1), (rooms, 2)):
            words = ("--size", "10", "--rooms", str(count), "--workers", str(workers), "--out", str(root / "m"))
            print(
                f"{count:,} rooms of 10 parts, {workers} workers: {measured(*words)}, {digest(root / 'm')}", flush=True
            )
            remove(root / "m")
        for workers in (1, 2):
            cost = measured("--workers", str(workers), "--out", str(root / "p"))
            print(f"270 rooms of the paper's tiers, {workers} workers: {cost}", flush=True)
            remove(root / "p")
        hashes = {}
        for workers, hash_seed in ((1, "0"), (1, "1"), (2, "0"), (2, "1"), (8, "0"), (8, "1")):
            out = root / f"w{workers}{hash_seed}"
            generate(out, workers, hash_seed)
            hashes[f"{workers} workers, hash seed {hash_seed}"] = digest(out)
        for workers in (1, 2):
            kills = killed(root / f"k{workers}", workers)
            hashes[f"{workers} workers, killed {kills} times"] = digest(root / f"k{workers}")
        for label, found in hashes.items():
            print(f"300 rooms, {label}: {found}")
        print("equal" if len(set(hashes.values())) == 1 else "DIFFERENT", flush=True)
    play()


def remove(out: Path) -> None:
    for path in out.iterdir():
        path.unlink()


def measured(*words: str) -> str:
    """Generate a suite in a process of its own; return its memory and times."""
    command = [sys.executable, "-c", _MEASURED, "escape", "generate", "--quiet", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.strip().splitlines()[-1]


def command(out: Path, workers: int) -> list[str]:
    words = ("escape", "generate", "--quiet", *ROOMS, "--workers", str(workers), "--out", str(out))
    return [sys.executable, "-m", "agenthard", *words]


def generate(out: Path, workers: int, hash_seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command(out, workers), env=environment, check=True, capture_output=True)


def digest(out: Path) -> str:
    """Hash a suite block by block: what this process takes at most, its children are said to take, too."""
    found = hashlib.sha256()
    for path in sorted(path for path in out.iterdir() if path.is_file()):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()[:16]


def killed(out: Path, workers: int) -> int:
    """Make the suite with kills while it works, at random moments; return how many kills it survived."""
    rng, kills = random.Random(4), 0
    while kills < KILLS:
        process = subprocess.Popen(
            command(out, workers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(timeout=rng.uniform(0.4, 0.7))
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
    subprocess.run(command(out, workers), check=True, capture_output=True)
    return kills


def play() -> None:
    from agenthard.escape.evaluation import EscapeConditions, EscapeTask
    from agenthard.escape.generator import Parameters, generate

    rooms = list(generate(Parameters()))
    start = time.process_time()
    for room in rooms:
        for agent in AGENTS:
            for trial in range(3):
                EscapeTask(room.id, room, EscapeConditions(), 42).play(agent, "", 0.0, trial)
    seconds = time.process_time() - start
    print(f"{len(rooms)} rooms x {len(AGENTS)} agents x 3 trials: {seconds:.0f} CPU s")


if __name__ == "__main__":
    main()
