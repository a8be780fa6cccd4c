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

WORDS = ("escape", "generate", "--size", "5", "--size", "10", "--size", "15", "--seed", "9", "--quiet")
AGENTS = ("oracle", "story", "clue-first", "greedy", "random")
_MEMORY = """
import resource, sys
from agenthard.flows.cli import app
sys.argv = ["agenthard", *sys.argv[1:]]
try:
    app()
finally:
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rooms", type=int, default=10_000)
    rooms = parser.parse_args().rooms
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for count in (rooms // 10, rooms):
            start = time.perf_counter()
            command = [
                sys.executable,
                "-c",
                _MEMORY,
                *WORDS[:2],
                *("--size", "10"),
                *("--rooms", str(count)),
                "--quiet",
            ]
            done = subprocess.run(
                [*command, "--out", str(root / f"m{count}")], capture_output=True, text=True, check=True
            )
            print(f"{count} rooms: peak {done.stderr.split()[-1]} MB, {time.perf_counter() - start:.0f} s", flush=True)
        hashes = {}
        for workers, seed in ((1, "0"), (2, "1"), (8, "0")):
            out = root / f"w{workers}"
            run(out, workers, seed)
            hashes[f"{workers} workers, hash seed {seed}"] = digest(out)
        hashes[f"killed {killed(root / 'k')} times"] = digest(root / "k")
        for label, found in hashes.items():
            print(f"{label}: {found}")
        print("equal" if len(set(hashes.values())) == 1 else "DIFFERENT")
    play()


def command(out: Path, workers: int) -> list[str]:
    words = [*WORDS, "--rooms", "40", "--workers", str(workers), "--out", str(out)]
    return [sys.executable, "-m", "agenthard", *words]


def run(out: Path, workers: int, hash_seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command(out, workers), env=environment, check=True, capture_output=True)


def digest(out: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(out.iterdir()) if path.is_file())).hexdigest()[
        :16
    ]


def killed(out: Path) -> int:
    """Make the suite with kills at random moments; return how many it survived."""
    rng, kills = random.Random(4), 0
    while True:
        process = subprocess.Popen(command(out, 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if process.wait(timeout=rng.uniform(0.7, 2.0)) == 0:
                return kills
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        if kills >= 8:
            subprocess.run(command(out, 1), check=True, capture_output=True)
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
