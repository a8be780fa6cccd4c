"""Judging: 64 questions in flight at 1 s a reply against the ideal time, and the command killed ten times at random.

Usage: python perf/bench_judge.py [PART ...] [--tasks N] [--seed N]. Parts: overhead (4,000 tasks), fire (400 tasks, a
server that fails on purpose, ten kills); both by default. Exit code 1 when a run takes over 5 % longer than ideal, when
a verdict is lost or doubled, or when the ledger and the server disagree.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from evaluations import ENVIRONMENT, measure, rows

from agenthard.flows.judging.prompts import prompt_builder
from agenthard.flows.judging.run import run_judging
from agenthard.flows.judging.settings import JudgingSettings
from tests.flows.judging.made import audit, judging, model, panel, write_benchmark
from tests.loopback.app import KEY
from tests.loopback.fixtures import LoopbackProcess

OVERHEAD_LIMIT, IN_FLIGHT, KILLS = 0.05, 64, 10
SAMPLED = 100
"""Tasks whose prompts are timed alone."""
BRAIN = "tests.flows.judging.made:readable"
CHANCES = {"429": 0.03, "429_silent": 0.01, "500": 0.02, "503": 0.01, "hang": 0.01, "malformed": 0.02, "dropped": 0.02}
"""About one request in eight fails."""


def overhead(folder: Path, tasks: int) -> bool:
    """Judge generated tasks; ideal is the time that the server itself took, over 64."""
    run = _audited(folder, tasks)
    server = LoopbackProcess(folder, {"brain": BRAIN, "latency": 1.0})
    os.environ["COMPATIBLE_API_KEY"] = KEY
    out = folder / "judged"
    settings = judging(run, out, panel([{"model": model("chat", server.url)}]), workers=1, in_flight=IN_FLIGHT)
    _time_prompts(settings)
    began, cpu = time.perf_counter(), time.process_time()
    outcome = run_judging(settings)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    counts = server.counts
    server.stop()
    [(first, last)] = rows(out / "judge" / "ledger.sqlite", "SELECT min(sent_at), max(closed_at) FROM attempts")
    asking, ideal, bare = last - first, counts["seconds"] / IN_FLIGHT, tasks / IN_FLIGHT
    print(
        f"{outcome.answered:,} of {outcome.questions:,} questions answered, {counts['answered']:,} by the server, at "
        f"most {counts['most_in_flight']} in flight\n"
        f"asking {asking:.2f} s for {ideal:.2f} s of the server's own time / {IN_FLIGHT} ({asking / ideal - 1:.1%}), "
        f"for {bare:.2f} s of latency alone ({asking / bare - 1:.1%})\n"
        f"the whole run, with reading the audit and writing the report, {wall:.1f} s, {cpu:.1f} CPU s in this process; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return outcome.complete and asking / ideal - 1 < OVERHEAD_LIMIT


def fire(folder: Path, tasks: int, seed: int) -> bool:
    """Judge with a server that fails on purpose, killed ten times, and compare what is on disk with its count."""
    rng, run = random.Random(seed), _audited(folder, tasks)
    server = LoopbackProcess(folder, {"brain": BRAIN, "latency": 0.5, "faults": {"chances": CHANCES}})
    retries = {"attempts": 6, "first_wait": 0.05, "longest_wait": 0.5}
    judges = folder / "judges.yaml"
    judges.write_text(json.dumps(panel([{"model": model("chat", server.url, timeout=8, retries=retries)}])))
    out, kills = folder / "judged", 0
    command = [sys.executable, "-m", "agenthard", "judge", "run", str(run), "--judges", str(judges), "--out", str(out)]
    query = "SELECT coalesce(max(id), 0) FROM attempts"
    for _ in range(KILLS):
        before = rows(out / "judge" / "ledger.sqlite", query) or [(0,)]
        process = _started([*command, "--in-flight", "8"], folder)
        while process.poll() is None and (rows(out / "judge" / "ledger.sqlite", query) or [(0,)]) == before:
            time.sleep(0.05)
        try:
            process.wait(rng.uniform(0.0, 3.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
    code = _started(command, folder).wait()
    if code:
        print((folder / "log").read_text(encoding="utf-8")[-3000:])
    counts = server.counts
    server.stop()
    return _compare(out, counts, tasks, kills, code)


def _compare(out: Path, counts: dict[str, Any], tasks: int, kills: int, code: int) -> bool:
    answers = rows(out / "judge" / "questions.sqlite", "SELECT task_id, error FROM answers")
    ledger = out / "judge" / "ledger.sqlite"
    states = dict(rows(ledger, "SELECT state, count(*) FROM attempts WHERE state <> 'cached' GROUP BY 1"))
    columns = "count(*), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens)"
    [ours] = rows(ledger, f"SELECT {columns} FROM (SELECT * FROM attempts WHERE state = 'answered' GROUP BY digest)")
    distinct, billed = counts["distinct"]["loop"], counts["billed"]["loop"]
    theirs = tuple(distinct[name] for name in ("requests", "prompt", "completion", "cached"))
    sent, unknown, twice = sum(states.values()), states.get("sent", 0), states["answered"] - ours[0]
    lost = billed["requests"] - states["answered"]
    errors = sum(bool(error) for _, error in answers)
    print(f"killed {kills} times, exit code {code}: {len(answers)} answers of {tasks}, {errors} errors")
    print(f"  ledger, distinct (requests, prompt, completion, cached): {ours}; server, distinct: {theirs}")
    print(f"  ledger: {states}; server: {counts['received']} received, faults {counts['faults']}")
    print(f"  paid twice: {twice}; answered to a dead process: {lost} of {unknown} of unknown outcome")
    once = len(answers) == len({task for task, _ in answers}) == tasks and not errors
    books = ours == theirs and 0 <= sent - counts["received"] <= unknown and 0 <= lost <= unknown
    print(f"  each question once: {once}; ledger equals server: {books}")
    return once and books and code == 0 and kills == KILLS


def _audited(folder: Path, tasks: int) -> Path:
    began = time.perf_counter()
    run = audit(write_benchmark(folder / "benchmark", tasks), folder / "run")
    print(f"\n{tasks:,} tasks audited in {time.perf_counter() - began:.0f} s")
    return run


def _time_prompts(settings: JudgingSettings) -> None:
    builder = prompt_builder(settings)
    ids = builder.inputs.plan.task_ids[:SAMPLED]
    builder.prepare(ids[0])
    began = time.perf_counter()
    for task_id in ids:
        builder.prepare(task_id)
    print(f"a prompt takes {(time.perf_counter() - began) / len(ids) * 1000:.1f} ms")


def _started(command: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    log = (folder / "log").open("ab")
    return subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True)


def main() -> int:
    """Measure the parts; return 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["overhead", "fire", []], help="default: both")
    parser.add_argument("--tasks", type=int, help="tasks of each part")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments at which the command is killed")
    options = parser.parse_args()
    parts = {
        "overhead": partial(overhead, tasks=options.tasks or 4000),
        "fire": partial(fire, tasks=options.tasks or 400, seed=options.seed),
    }
    return measure(options.parts, parts)


if __name__ == "__main__":
    sys.exit(main())
