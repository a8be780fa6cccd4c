"""What is killed: audits, judgings and the server of a review."""

import random
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import httpx
import pyarrow.parquet

from agenthard.flows.demo import write_demo
from agenthard.flows.review.store import EventStore
from perf.faults.killing import Row, compare, complete, kill_once
from tests.builders import make_run
from tests.flows.judging.made import audit, model, panel, write_benchmark
from tests.flows.judging.test_command import judges
from tests.flows.review.web.served import Client, Process, users_file, verdict
from tests.loopback.fixtures import LoopbackProcess

TASKS = 30


def audits(folder: Path, kills: int, rng: random.Random, workers: int) -> Row:
    """Kill audits with so many workers."""
    row = Row(f"audit, {workers} worker{'s' * (workers > 1)}")
    benchmark = write_benchmark(folder / "benchmark", TASKS)
    runs = [make_run(f"lib/{i}", name, passed=(i + n) % 3 != 0) for i in range(TASKS) for n, name in enumerate("AB")]
    (benchmark / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs), encoding="utf-8")
    given = ["audit", "native", str(benchmark), "--runs", str(benchmark / "runs.jsonl"), "--workers", str(workers)]
    longest, wrong = complete([*given, "--out", str(folder / "sound")])
    row.problems += [wrong] * bool(wrong)
    for number in range(kills):
        out = folder / f"killed-{number}"
        kill_once([*given, "--out", str(out)], longest, rng, row)
        _, wrong = complete([*given, "--out", str(out)])
        row.problems += [wrong] * bool(wrong)
        compare(folder / "sound", out, _audit_bytes, row)
        table = pyarrow.parquet.read_table(out / "tables/trajectories.parquet")
        row.lost += max(0, len(runs) - table.num_rows)
        row.doubled += max(0, table.num_rows - len(runs))
        shutil.rmtree(out)
    return row


def _audit_bytes(path: Path) -> bool:
    """Costs differ from run to run, and the settings and the manifest name the folder or the cost."""
    return path.parts[:2] != ("work", "costs") and path.name not in ("settings.json", "manifest.json")


def judgings(folder: Path, kills: int, rng: random.Random) -> Row:
    """Kill judgings by a server on loopback; every question that the server answered beyond one is counted."""
    row = Row("judge run")
    run = audit(write_benchmark(folder / "benchmark", TASKS), folder / "run")
    server = LoopbackProcess(folder, {"brain": "tests.flows.judging.made:readable", "latency": 0.2})
    try:
        file = judges(folder, panel([{"model": model("chat", server.url), "samples": 2}]))
        given = ["judge", "run", str(run), "--judges", str(file), "--in-flight", "8", "--workers", "0"]
        longest, wrong = complete([*given, "--out", str(folder / "sound")])
        row.problems += [wrong] * bool(wrong)
        for number in range(kills):
            out = folder / f"killed-{number}"
            server.reset()
            kill_once([*given, "--out", str(out)], longest, rng, row)
            _, wrong = complete([*given, "--out", str(out)])
            row.problems += [wrong] * bool(wrong)
            compare(folder / "sound", out, lambda path: path.name == "panels.jsonl", row)
            _count_answers(out, row)
            billed = sum(each["requests"] for each in server.counts["billed"].values())
            row.asked_again += billed - 2 * TASKS
    finally:
        server.stop()
    return row


def _count_answers(out: Path, row: Row) -> None:
    connection = sqlite3.connect(out / "judge" / "questions.sqlite")
    found = Counter(connection.execute("SELECT task_id, judge, sample FROM answers WHERE error IS NULL").fetchall())
    connection.close()
    row.lost += 2 * TASKS - len(found)
    row.doubled += sum(found.values()) - len(found)


def reviews(folder: Path, kills: int, rng: random.Random) -> Row:
    """Kill the server of a review while a person sends verdicts; what was not acknowledged is sent again."""
    row, run = Row("review, SQLite"), folder / "demo"
    write_demo(folder / "bench")
    _, wrong = complete(["audit", "native", str(folder / "bench"), "--out", str(run), "--workers", "1"])
    row.problems += [wrong] * bool(wrong)
    tasks = [f"parcels/{number}" for number in (11,)]
    server = Process(run, folder, "--users", str(users_file(folder)))
    sent, client = [], Client(server, "ben")
    for _ in range(kills):
        fatal = rng.randrange(1, 8)
        for number in range(8):
            event = verdict(tasks[0], flaw=rng.choice(("yes", "no")))
            sent.append(event["id"])
            if number == fatal:
                client.http.timeout = httpx.Timeout(rng.uniform(0.001, 0.02))
                try:
                    client.send(event)
                except httpx.TransportError:
                    pass
                server.kill()
                row.kills += 1
                server.start()
                client = Client(server, "ben")
            answer = client.send(event)
            if answer.status_code != 200:
                row.problems.append(answer.text[:300])
    server.stop()
    with EventStore.of_run(run) as store:
        stored = Counter(event.id for event in store.since())
    row.compared, row.bytes_equal = 1, int(list(stored) == sent)
    row.lost = len(set(sent) - stored.keys())
    row.doubled = sum(stored.values()) - len(stored)
    return row
