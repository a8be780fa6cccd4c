"""How an audit speeds up with worker processes: python perf/bench_scale_out.py [--runner R] [--repeat N] [TASKS ...]

With --benchmark NAME PATH, a benchmark is audited instead of so many made tasks, executed where that is possible.

With --kill-every SECONDS: what an audit costs whose workers are killed. One thread audits each size, then N workers of
the runner, of which one is killed with SIGKILL after every so many seconds.

Each size is audited with one worker process and with N, in turn, as often as --repeat says, and the fastest of each
counts. The time from the first to the last shard counts, without the start of the cluster. Prints wall time, CPU time
of all processes, the load of the machine before each run, and whether the outputs are the same bytes. On an idle
machine two workers are to be at least 1.7 times as fast from 500 tasks on; the last line says when it was busy, and how
much faster two independent processes without any input or output are than one after the other: no audit can do better.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from bench_growth import write_library

from tests.flows.scale_out.killing import children

WORK = "import json; text = json.dumps([[n, str(n)] for n in range(2000)])\nfor _ in range(4000): json.loads(text)"
"""What an independent process does: about two seconds of Python."""


class Run(NamedTuple):
    """One audit."""

    wall: float
    """Seconds of the whole command."""
    checking: float
    """Seconds from the first finished shard to the last, for one shard less than there are."""
    cpu: float
    """CPU seconds of all processes."""
    load: float
    """Load of the machine before it."""
    outputs: dict[str, bytes]
    """Everything a reader gets."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", type=int, default=[2_000])
    parser.add_argument("--runner", default="dask")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--kill-every", type=float, metavar="SECONDS")
    parser.add_argument("--benchmark", nargs=2, metavar=("NAME", "PATH"))
    options = parser.parse_args()
    if options.benchmark:
        compare(options.benchmark[0], options.benchmark, options.runner, options.workers, options.repeat)
        return
    for tasks in options.tasks:
        if options.kill_every:
            under_fire(tasks, options.runner, options.workers, options.kill_every)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            write_library(Path(scratch) / "library", tasks)
            source = ["native", str(Path(scratch) / "library")]
            compare(f"{tasks:,} tasks", source, options.runner, options.workers, options.repeat)


def compare(name: str, source: Sequence[str], runner: str, workers: int, repeat: int) -> None:
    """Audit with one worker and with several, in turn, and print how much faster several are."""
    ones, manys, machine = list[Run](), list[Run](), list[float]()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(repeat):
            machine.append(independent(workers))
            ones.append(measured(source, Path(scratch) / f"one{number}", runner, 1))
            manys.append(measured(source, Path(scratch) / f"many{number}", runner, workers))
    one, many = (min(runs, key=lambda run: run.checking) for runs in (ones, manys))
    same = all(run.outputs == one.outputs for run in (*ones, *manys))
    busy = ones[0].load > (os.cpu_count() or 1) / 2
    print(
        f"{name}, {runner}: {workers} workers are {one.checking / many.checking:.2f} x as fast while checking, "
        f"{one.wall / many.wall:.2f} x in all; CPU {many.cpu / one.cpu:.2f} x; same bytes: {same}; {workers} "
        f"independent processes: {min(machine):.2f} to {max(machine):.2f} x"
        f"{'; the machine was busy: run it again when it is idle' if busy else ''}",
        flush=True,
    )


def independent(processes: int) -> float:
    """Return how much faster independent processes do some work at the same time than one after the other."""
    command = [sys.executable, "-c", WORK]

    def seconds(count: int) -> float:
        start = time.perf_counter()
        for process in [subprocess.Popen(command) for _ in range(count)]:
            process.wait()
        return time.perf_counter() - start

    return processes * seconds(1) / seconds(processes)


def under_fire(tasks: int, runner: str, workers: int, seconds: float) -> None:
    """Audit while workers are killed, and print what that took and whether the bytes are those of one thread."""
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "library"
        write_library(data, tasks)
        source = ["native", str(data)]
        one = measured(source, Path(scratch) / "one", "local", 1)
        killed = list[float]()
        many = measured(
            source, Path(scratch) / "many", runner, workers, lambda run, shards: _kill(run, shards, seconds, killed)
        )
    print(
        f"{tasks:,} tasks, {runner}: {len(killed)} workers killed, one every {seconds:g} s; {many.wall:.0f} s with "
        f"{workers} workers, {one.wall:.0f} s with one thread; same bytes: {one.outputs == many.outputs}",
        flush=True,
    )


def _kill(process: "subprocess.Popen[bytes]", shards: Path, seconds: float, killed: list[float]) -> None:
    """Kill a worker process of the command's cluster every so many seconds, from the first finished shard on."""
    due = float("inf")
    while process.poll() is None:
        time.sleep(0.1)
        if due == float("inf") and list(shards.glob("*.zip")):
            due = time.monotonic() + seconds
        if time.monotonic() < due:
            continue
        found = [pid for pid, line in children(process.pid) if _is_worker(line)]
        if found:
            os.kill(found[len(killed) % len(found)], signal.SIGKILL)
            killed.append(time.monotonic())
            due = time.monotonic() + seconds


def _is_worker(line: str) -> bool:
    """Tell by its command line whether a process works: Dask spawns its workers, Ray names them after their tasks."""
    return "spawn_main" in line or line.startswith("ray::check")


def measured(
    source: Sequence[str],
    out: Path,
    runner: str,
    workers: int,
    meanwhile: "Callable[[subprocess.Popen[bytes], Path], None]" = lambda process, shards: None,
) -> Run:
    """Audit with some workers, and print what that took; something may happen to its process meanwhile."""
    load, before, began = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "agenthard.flows.cli", "audit", *source, "--out", str(out)]
    said = out.with_suffix(".stderr")
    with said.open("wb") as errors:
        process = subprocess.Popen(
            [*command, "--runner", runner, "--workers", str(workers)], stdout=subprocess.DEVNULL, stderr=errors
        )
    times = list[float]()
    watch = threading.Thread(target=_watch, args=(process, out / "work" / "shards", times))
    watch.start()
    meanwhile(process, out / "work" / "shards")
    if process.wait() not in (0, 1, 2):  # 1 and 2 are results of an audit
        last = "".join(said.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)[-40:])
        sys.exit(f"{' '.join(command)} ended with exit code {process.returncode} and said last:\n{last}")
    watch.join()
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    checking = times[-1] - times[workers - 1] if len(times) > workers else wall
    checking *= (len(times) - 1) / max(1, len(times) - workers)
    print(
        f"  {workers} worker(s): {wall:.1f} s, checking {checking:.1f} s, CPU {cpu:.1f} s, load before {load:.1f}",
        flush=True,
    )
    files = (path for path in out.rglob("*") if path.is_file() and "work" not in path.relative_to(out).parts)
    return Run(wall, checking, cpu, load, {path.relative_to(out).as_posix(): path.read_bytes() for path in files})


def _watch(process: "subprocess.Popen[bytes]", shards: Path, times: list[float]) -> None:
    """Note when each shard is finished."""
    while process.poll() is None:
        done = sum(name.endswith(".zip") and name[0] != "." for name in os.listdir(shards)) if shards.is_dir() else 0
        times.extend([time.perf_counter()] * (done - len(times)))
        time.sleep(0.02)


if __name__ == "__main__":
    main()
