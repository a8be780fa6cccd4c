"""Times a review by a real client on loopback: python -m perf.bench_review [listing|queue|instance|reviewers ...]

listing: choosing, ordering and counting among 20,000 simulated tasks with a finding each, without HTTP. queue: pages of
the queue of 1,000 tasks with a finding each. instance: a task with a run
of 200 turns. reviewers: 8 people with 500 verdicts each at once, into SQLite; every event is counted afterwards.
Exit code 1 when a limit is exceeded: p95 of a verdict 100 ms, a queue page 150 ms, an instance 300 ms.
"""

import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from threading import RLock
from types import SimpleNamespace
from typing import Any

from agenthard.audit.decisions.policy import Decision
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import read_decisions
from agenthard.flows.demo import write_demo
from agenthard.flows.review.state import ReviewState
from agenthard.flows.review.store import EventStore
from agenthard.flows.review.web.listing import Listing
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Tier
from tests.flows.audits import audit_by_steps
from tests.flows.review.web.served import Process, Served, users_file, verdict

PEOPLE, VERDICTS = ("ana", "ben", "cleo", "dan", "eva", "finn", "gil", "hal"), 500
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
    """Give the first run of parcels/11 so many turns."""
    rows = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()]
    row = next(row for row in rows if row["task_id"] == "parcels/11")
    row["messages"] = [message for _ in range(turns) for message in row["messages"]][: 2 * turns]
    runs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def timed(call: object, times: int) -> list[float]:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        found.append(time.perf_counter() - start)
    return found


def told(what: str, seconds: list[float], limit: float) -> bool:
    p95 = quantiles(seconds, n=20)[-1]
    print(f"{what}: median {1000 * median(seconds):.0f} ms, p95 {1000 * p95:.0f} ms, n = {len(seconds)}", flush=True)
    return p95 <= limit


def bench_queue(server: Served) -> bool:
    with server.client("ana") as ana:
        first = timed(lambda: ana.page("queue"), 1)
        print(f"queue, first request: {1000 * first[0]:.0f} ms", flush=True)
        results = [
            told(f"queue {name}", timed(lambda query=query: ana.page("queue", **query), 30), LIMITS["queue"])
            for name, query in (("page 1", {}), ("page 20", {"page": "20"}), ("filtered", {"tier": "confirmed"}))
        ]
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
    )
    listing = Listing(run)
    listing.__dict__["values"] = []
    print(f"listing, first request: {1000 * timed(lambda: listing.select({}, 'ana'), 1)[0]:.0f} ms", flush=True)
    results = [
        told(f"listing {name}", timed(lambda query=query: listing.select(query, "ana"), 30), LIMITS["queue"])
        for name, query in (("all", {}), ("filtered", {"tier": "confirmed"}), ("search", {"q": "99"}))
    ]
    return all(results)


def bench_instance(server: Served) -> bool:
    with server.client("rea") as rea:
        rea.page("task", task="library/0")
        cold = timed(lambda: rea.page("task", task="parcels/11"), 1)
        print(f"instance with a run of 200 turns, first time: {1000 * cold[0]:.0f} ms", flush=True)
        return told("instance again", timed(lambda: rea.page("task", task="parcels/11"), 30), LIMITS["instance"])


def bench_reviewers(server: Served, run: Path) -> bool:
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

    start = time.perf_counter()
    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        seconds = [each for found in pool.map(work, PEOPLE) for each in found]
    print(f"{len(seconds):,} verdicts of {len(PEOPLE)} people in {time.perf_counter() - start:.1f} s", flush=True)
    with EventStore.of_run(run) as store:
        events = list(store.since())
    whole = len({event.id for event in events}) == len(events) == len(PEOPLE) * VERDICTS
    print(f"stored: {len(events):,} events, {'none lost or doubled' if whole else 'NOT ALL'}", flush=True)
    return told("verdict", seconds, LIMITS["verdict"]) and whole


def main() -> int:
    wanted = sys.argv[1:] or ["listing", "queue", "instance", "reviewers"]
    good = True
    for what in wanted:
        if what == "listing":
            good &= bench_listing(20_000)
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run = audited(folder, tasks=1_000 if what == "queue" else 0, turns=200 if what == "instance" else 0)
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
