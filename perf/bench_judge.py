"""Judging: 64 questions in flight at 1 s a reply, against the ideal time.

Usage: python perf/bench_judge.py [--tasks 4000] [--latency 1.0]. Exit code 1 when it takes over 5 % longer than ideal.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from flows.judging.judging import run_judging  # noqa: E402
from flows.judging.workbench import open_workbench  # noqa: E402
from models.ledger import Ledger  # noqa: E402
from tests.flows.judging.made import audit, judging, model, panel, write_benchmark  # noqa: E402
from tests.loopback.app import KEY  # noqa: E402
from tests.loopback.fixtures import LoopbackProcess  # noqa: E402

LIMIT = 0.05
IN_FLIGHT = 64
SAMPLED = 100
"""Tasks whose prompts are timed alone."""


def measure(folder: Path, tasks: int, latency: float) -> float:
    """Judge generated tasks; returns how much longer that took than the server's own time over 64."""
    began = time.perf_counter()
    run = audit(write_benchmark(folder / "benchmark", tasks), folder / "run")
    print(f"{tasks:,} tasks audited in {time.perf_counter() - began:.0f} s")
    server = LoopbackProcess(folder, {"brain": "tests.flows.judging.made:readable", "latency": latency})
    os.environ["COMPATIBLE_API_KEY"] = KEY
    out = folder / "judged"
    settings = judging(run, out, panel([{"model": model("chat", server.url)}]), workers=1, in_flight=IN_FLIGHT)
    _time_prompts(settings)
    began, cpu = time.perf_counter(), time.process_time()
    outcome = run_judging(settings)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    counts = server.counts
    server.stop()
    ledger = Ledger(out / "judge" / "ledger.sqlite")
    rows = ledger._database.read("SELECT min(sent_at), max(closed_at), count(*) FROM attempts")
    ledger.close()
    asking = rows[0][1] - rows[0][0]
    ideal, bare = counts["seconds"] / IN_FLIGHT, tasks * latency / IN_FLIGHT
    over = asking / ideal - 1
    print(
        f"{outcome.answered:,} of {outcome.questions:,} questions answered, {counts['answered']:,} by the server, at "
        f"most {counts['most_in_flight']} in flight\n"
        f"asking {asking:.2f} s for {ideal:.2f} s of the server's own time / {IN_FLIGHT} ({over:.1%}), "
        f"for {bare:.2f} s of latency alone ({asking / bare - 1:.1%})\n"
        f"the whole run, with reading the audit and writing the report, {wall:.1f} s, {cpu:.1f} CPU s in this process; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return over


def _time_prompts(settings: object) -> None:
    workbench = open_workbench(settings)  # type: ignore[arg-type]
    ids = workbench.inputs.plan.task_ids[:SAMPLED]
    workbench.prepare(ids[0])
    began = time.perf_counter()
    for task_id in ids:
        workbench.prepare(task_id)
    print(f"a prompt takes {(time.perf_counter() - began) / len(ids) * 1000:.1f} ms")


def main() -> int:
    """Measure; return 1 when it takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=4000)
    parser.add_argument("--latency", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        over = measure(Path(name), options.tasks, options.latency)
    return int(over > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
