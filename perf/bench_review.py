"""Times a review by a real client on loopback: python -m perf.bench_review [listing|queue|instance|reviewers ...]

queue: pages of the queue of an audit of 20,000 tasks with a finding each. instance: a task with a failed and a passed
run of 200 turns, and a page of their messages. reviewers: 8 people with 500 verdicts each at once, into SQLite; every
event is counted afterwards. listing: choosing, ordering and counting among 20,000 simulated tasks, without HTTP.
CPU times are those of the server. Exit code 1 when a limit is exceeded: p95 of a verdict 100 ms, a queue page 150 ms,
an instance 300 ms.
"""

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from threading import RLock
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from agenthard.audit.decisions.policy import Decision
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import read_decisions
from agenthard.flows.demo import write_demo
from agenthard.flows.review.state import ReviewState
from agenthard.flows.review.store import EventStore
from agenthard.flows.review.web.listing import Listing
from agenthard.flows.review.web.series import Series
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Tier
from tests.flows.audits import audit_by_steps
from tests.flows.review.web.served import Process, users_file, verdict

PEOPLE, VERDICTS = ("ana", "ben", "cleo", "dan", "eva", "finn", "gil", "hal"), 500
LONG_RUN = "library/9/quill-3/0"
LIMITS = {"verdict": 0.1, "queue": 0.15, "instance": 0.3}


def audited(folder: Path, tasks: int = 0, turns: int = 0) -> Path:
    """Audit the demo benchmark with more tasks, or with a long run."""
    benchmark = folder / "bench"
    write_demo(benchmark)
    if tasks:
        repeat(benchmark, tasks)
    if turns:
        lengthen(benchmark / "runs.jsonl", turns)
    runs, select = ((), ("call-schema",)) if tasks else ((str(benchmark / "runs.jsonl"),), ())
    out = str(folder / "demo")
    with patch("agenthard.reports.page.write_page"):  # a review does not read it, and it takes minutes for 20,000
        audit_by_steps(AuditSettings(source="native", path=str(benchmark), runs=runs, select=select, out=out))
    return folder / "demo"


def repeat(benchmark: Path, tasks: int) -> None:
    """Write parcels/11, in which call-schema finds a flaw, again and again under other ids."""
    lines = (benchmark / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    task = next(task for task in map(json.loads, lines) if task["id"] == "parcels/11")
    with (benchmark / "tasks.jsonl").open("w", encoding="utf-8") as file:
        for number in range(tasks):
            file.write(json.dumps({**task, "id": f"parcels/{number}"}) + "\n")


def lengthen(runs: Path, turns: int) -> None:
    """Give a failed and a passed run of library/9 by one model so many turns, two messages each."""
    rows = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["id"] in (LONG_RUN, "library/9/quill-3/1"):
            row["messages"] = [message for _ in range(turns) for message in row["messages"]][: 2 * turns]
            row["passed"] = row["id"] != LONG_RUN
            row["score"] = float(row["passed"])
    runs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def timed(call: object, times: int) -> list[float]:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        found.append(time.perf_counter() - start)
    return found


def cpu_of(server: Process) -> float:
    """CPU seconds of a server so far."""
    fields = Path(f"/proc/{server.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(what: str, seconds: list[float], limit: float, cpu: float | None = None) -> bool:
    p95 = quantiles(seconds, n=20)[-1]
    used = "" if cpu is None else f", CPU {1000 * cpu / len(seconds):.1f} ms each"
    print(
        f"{what}: median {1000 * median(seconds):.0f} ms, p95 {1000 * p95:.0f} ms, n = {len(seconds)}{used}", flush=True
    )
    return p95 <= limit


def requests(server: Process, what: str, call: object, limit: float) -> bool:
    """Time a request 30 times."""
    before = cpu_of(server)
    seconds = timed(call, 30)
    return told(what, seconds, limit, cpu_of(server) - before)


def bench_queue(server: Process) -> bool:
    with server.client("ana") as ana:  # signing in opens the queue for the first time
        chosen = (
            ("page 1", {}),
            ("page 200", {"page": "200"}),
            ("filtered", {"tier": "confirmed"}),
            ("q", {"q": "99"}),
        )
        results = [
            requests(server, f"queue {name}", lambda query=query: ana.page("queue", **query), LIMITS["queue"])
            for name, query in chosen
        ]
        results.append(
            requests(server, "a task of it", lambda: ana.page("task", task="parcels/77"), LIMITS["instance"])
        )
    return all(results)


def bench_listing(tasks: int) -> bool:
    ids = [f"parcels/{number}" for number in range(tasks)]
    categories = load_taxonomy().categories
    findings = {
        str(n): Finding(
            **{"id": str(n), "check": f"check-{n % 60}", "check_version": "1", "claim": "", "task_ids": (task_id,)},
            category=categories[n % len(categories)].id,
            severity=list(Severity)[n % 3],
            tier=list(Tier)[n % 2],
            evidence=(Evidence(task_id=task_id, pointer="", quote=""),),
        )
        for n, task_id in enumerate(ids)
    }
    run: Any = SimpleNamespace(
        decisions={each: Decision(task_id=each, action="review", reasons=("simulated",)) for each in ids},
        findings=findings,
        findings_of={each.task_ids[0]: [each] for each in findings.values()},
        taxonomy=load_taxonomy(),
        lock=RLock(),
        state=ReviewState(),
        folder=Path("/nonexistent"),
        name="simulated",
    )
    listing = Listing(run, Series((run,)))
    listing.__dict__["values"] = []
    print(f"listing, first request: {1000 * timed(lambda: listing.select({}, 'ana'), 1)[0]:.0f} ms", flush=True)
    results = [
        told(f"listing {name}", timed(lambda query=query: listing.select(query, "ana"), 30), LIMITS["queue"])
        for name, query in (("all", {}), ("filtered", {"tier": "confirmed"}), ("search", {"q": "99"}))
    ]
    return all(results)


def bench_instance(server: Process) -> bool:
    with server.client("rea") as rea:
        cold = timed(lambda: rea.page("task", task="library/9"), 1)
        print(f"instance with two runs of 200 turns, first time: {1000 * cold[0]:.0f} ms", flush=True)
        again = requests(server, "instance again", lambda: rea.page("task", task="library/9"), LIMITS["instance"])

        def messages() -> None:
            query = {"task": "library/9", "trajectory": LONG_RUN, "start": "120"}
            assert len(rea.http.get("/runs/demo/messages", params=query).json()["messages"]) == 120

        return again & (cold[0] <= LIMITS["instance"]) & requests(server, "120 messages", messages, LIMITS["instance"])


def bench_reviewers(server: Process, run: Path) -> bool:
    ids = [decision.task_id for decision in read_decisions(run)]

    def work(name: str) -> list[float]:
        seconds = []
        with server.client(name) as client:
            for number in range(VERDICTS):
                task_id = ids[number % len(ids)]
                start = time.perf_counter()
                client.stored(verdict(task_id, "no" if (number + len(name)) % 3 else "cannot_tell"))
                seconds.append(time.perf_counter() - start)
        return seconds

    start, cpu = time.perf_counter(), cpu_of(server)
    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        seconds = [each for found in pool.map(work, PEOPLE) for each in found]
    print(f"{len(seconds):,} verdicts of {len(PEOPLE)} people in {time.perf_counter() - start:.1f} s", flush=True)
    used = cpu_of(server) - cpu
    with EventStore.of_run(run) as store:
        events = list(store.since())
    whole = len({event.id for event in events}) == len(events) == len(PEOPLE) * VERDICTS
    print(f"stored: {len(events):,} events, {'none lost or doubled' if whole else 'NOT ALL'}", flush=True)
    return told("verdict", seconds, LIMITS["verdict"], used) and whole


def main() -> int:
    wanted = sys.argv[1:] or ["listing", "queue", "instance", "reviewers"]
    good = True
    for what in wanted:
        if what == "listing":
            good &= bench_listing(20_000)
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run = audited(folder, tasks=20_000 if what == "queue" else 0, turns=200 if what == "instance" else 0)
            start = time.perf_counter()
            server = Process(run, folder, "--users", str(users_file(folder)))
            print(f"{what}: server ready after {time.perf_counter() - start:.1f} s", flush=True)
            try:
                if what == "queue":
                    good &= bench_queue(server)
                elif what == "instance":
                    good &= bench_instance(server)
                else:
                    good &= bench_reviewers(server, run)
            finally:
                server.stop()
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
