"""The commands that are disturbed: audit, judge, publish and schedule, each with what it must not lose."""

import json
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet

from agenthard.flows.demo import write_demo
from agenthard.flows.publishing.signature import verify_folder
from agenthard.models.ledger import Ledger
from perf.faults.faults import FULL, cut_connections, full_disks, interrupts, kills, outages
from perf.faults.job import Job
from perf.faults.row import Row, files
from perf.faults.wire import Wire
from tests.builders import make_run
from tests.flows.judging.made import audit, model, panel, write_benchmark
from tests.loopback.fixtures import LoopbackProcess

TASKS = 30
RETRIES = {"attempts": 15, "first_wait": 0.05, "longest_wait": 1.0}
"""Patient enough for a server that is gone for some seconds."""
SCHEDULE = """name: nightly
source: native
origin: {path: bench}
folder: out
workers: 1
runs: [bench/runs.jsonl]
publish: {split: clean, gate: false}
"""


class Given(NamedTuple):
    """How much of each kind of fault, and the source of all moments."""

    folder: Path
    kills: int
    faults: int
    rng: random.Random


def audits(given: Given) -> Iterator[Row]:
    """Audits with one worker and with two, and one that keeps results by content."""
    variants = {"audit, 1 worker": ["--workers", "1"], "audit, 2 workers": ["--workers", "2"]}
    variants["audit --reuse"] = ["--workers", "1", "--reuse", "results.sqlite"]
    for number, (name, options) in enumerate(variants.items()):
        share = given.kills // 3 + (number < given.kills % 3)
        job = _audit_job(given.folder / str(number), name, options)
        yield from disturb(job, given._replace(kills=share), disk=number == 0, signals=number == 1)


def _audit_job(home: Path, name: str, options: list[str]) -> Job:
    runs = [make_run(f"lib/{i}", n, passed=(i + k) % 3 != 0) for i in range(TASKS) for k, n in enumerate("AB")]
    benchmark = write_benchmark(home / "benchmark", TASKS)
    (benchmark / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs), encoding="utf-8")
    given = ["audit", "native", str(benchmark), "--runs", str(benchmark / "runs.jsonl"), *options]

    def count(out: Path, row: Row) -> None:
        columns = ["task_id", "model", "trial"]
        found = pyarrow.parquet.read_table(out / "tables" / "trajectories.parquet").select(columns).to_pylist()
        count_results(row, Counter(tuple(each.values()) for each in found), len(runs))
        results = out.parent / "results.sqlite"
        if "--reuse" in options:
            with closing(sqlite3.connect(results)) as connection:
                [(kept,)] = connection.execute("SELECT count(*) FROM results").fetchall()
            count_results(row, Counter(range(kept)), TASKS)

    return Job(
        name,
        words=lambda out: [*given, "--out", str(out)],
        hashes=files(lambda path: path.parts[0] != "work"),
        home=home,
        store="SQLite" if "--reuse" in options else "files",
        count=count,
    )


def judgings(given: Given) -> Iterator[Row]:
    """Two judges who differ in their temperature, so that no two questions are the same request."""
    run = audit(write_benchmark(given.folder / "benchmark", TASKS), given.folder / "run")
    with model_server(given.folder, "tests.flows.judging.made:readable", latency=0.2) as (server, wire):
        judges = []
        for temperature in (0.2, 0.8):
            sampling = {"max_output_tokens": 1000, "temperature": temperature}
            judges.append({"model": model("chat", f"http://127.0.0.1:{wire.port}", retries=RETRIES, sampling=sampling)})
        file = given.folder / "judges.yaml"
        file.write_text(json.dumps(panel(judges)), encoding="utf-8")
        options = ["--judges", str(file), "--in-flight", "8", "--workers", "0"]

        def count(out: Path, row: Row) -> None:
            query = "SELECT task_id, judge, sample FROM answers WHERE error IS NULL"
            with closing(sqlite3.connect(out / "judge" / "questions.sqlite")) as connection:
                count_results(row, Counter(connection.execute(query).fetchall()), 2 * TASKS)
            compare_ledger(out / "judge" / "ledger.sqlite", server.counts, row)

        job = Job(
            "judge run",
            words=lambda out: ["judge", "run", str(run), *options, "--out", str(out)],
            hashes=files(_judged),
            home=given.folder,
            store="SQLite",
            count=count,
            prepare=lambda out: server.reset(),
        )
        yield from disturb(job, given, disk=True, signals=True)
        yield from disturb_wire(job, wire, given)


def _judged(path: Path) -> bool:
    """Money that a fault wastes is in the manifest and the account of stages; the stores are counted by their rows."""
    counted = ("manifest.json", "checksums.json", "cascade.json", "cascade.md")
    return path.parts[0] != "work" and path.suffix != ".sqlite" and path.name not in counted


def publications(given: Given) -> Iterator[Row]:
    """A second publication over the first: its history, version and files."""
    runs = [given.folder / name for name in ("before", "after")]
    for run, tasks in zip(runs, (TASKS, TASKS - 5), strict=True):
        audit(write_benchmark(given.folder / f"benchmark-{tasks}", tasks), run)
    first = given.folder / "first"
    before = Job("publish", lambda out: ["publish", str(runs[0]), "--out", str(out)], files(lambda path: True), first)
    before.begun = _publishes
    wrong = before.measure()

    def whole(out: Path) -> str:
        if not out.exists():  # between two renames: the next start puts the old one back
            return "" if out.with_name(f".{out.name}.before").exists() else "no publication is left"
        return "" if verify_folder(out).intact else "the publication is damaged"

    def copy(out: Path) -> None:
        shutil.copytree(first / "undisturbed" / "out", out)

    job = Job(
        "publish",
        words=lambda out: ["publish", str(runs[1]), "--out", str(out)],
        hashes=files(lambda path: True),
        home=given.folder,
        prepare=copy,
        begun=_publishes,
        whole=whole,
        is_run=False,
        count=lambda out, row: row.note(_left_next_to(out)),
    )
    for row in disturb(job, given, disk=True):
        row.note(wrong)
        yield row


def _publishes(out: Path, pid: int) -> bool:
    return out.with_name(f".{out.name}.partial").exists()


def _left_next_to(out: Path) -> str:
    left = sorted(path.name for path in out.parent.iterdir() if path != out)
    return f"left next to the publication: {', '.join(left)}" if left else ""


def schedules(given: Given) -> Iterator[Row]:
    """An audit of a schedule that publishes: `results.sqlite` holds the results by content."""

    def prepare(out: Path) -> None:
        write_demo(out.parent / "bench")
        (out.parent / "schedule.yaml").write_text(SCHEDULE, encoding="utf-8")

    def count(out: Path, row: Row) -> None:
        history = json.loads((out / "history.json").read_bytes())
        count_results(row, Counter(each["run"] for each in history if each["run"]), 1)

    job = Job(
        "schedule run",
        words=lambda out: ["schedule", "run", "schedule.yaml"],
        hashes=files(lambda path: path.parts[0] in ("runs", "published", "benchmarks") and "work" not in path.parts),
        home=given.folder,
        store="SQLite",
        count=count,
        prepare=prepare,
        begun=lambda out, pid: (out / "lock").exists(),
        is_run=False,
    )
    yield from disturb(job, given)


def disturb(job: Job, given: Given, *, disk: bool = False, signals: bool = False) -> Iterator[Row]:
    job.home.mkdir(parents=True, exist_ok=True)
    wrong = job.measure()
    steps = ((kills, given.kills), (interrupts, signals * given.faults), (full_disks, disk * given.faults))
    for disturb, count in steps:
        if count:
            row = disturb(job, count, given.rng)
            row.note(wrong)
            wrong = ""
            yield row


def disturb_wire(job: Job, wire: Wire, given: Given) -> Iterator[Row]:
    if not given.faults:
        return
    job.expected = job.hashes(job.home / "undisturbed" / "out")
    yield outages(job, wire, given.faults, given.rng)
    yield cut_connections(job, wire, given.faults, given.rng)


def count_results(row: Row, found: "Counter[Any]", expected: int) -> None:
    row.lost += max(0, expected - len(found))
    row.doubled += found.total() - len(found) + max(0, len(found) - expected)


def compare_ledger(file: Path, counts: dict[str, Any], row: Row) -> None:
    """Each distinct request of the server is answered once in the ledger, and each further reply is accounted for."""
    with closing(sqlite3.connect(file)) as connection:
        [(answered, once)] = connection.execute(
            "SELECT count(*), count(DISTINCT digest) FROM attempts WHERE state = 'answered'"
        ).fetchall()
    ledger = Ledger(file)
    (total,) = ledger.totals(by=())
    ledger.close()
    distinct, billed = (sum(each["requests"] for each in counts[kind].values()) for kind in ("distinct", "billed"))
    row.lost += max(0, distinct - once)
    # A full disk cannot keep a reply that came, so it is paid for twice, and the ledger says so.
    row.doubled += (0 if row.fault == FULL else answered - once) + max(0, once - distinct)
    row.asked_again += billed - distinct
    if not 0 <= billed - answered <= total.unknown + total.maybe_billed:
        row.note(f"server billed {billed}, ledger answered {answered}, open {total.unknown + total.maybe_billed}")


@contextmanager
def model_server(folder: Path, brain: str, latency: float) -> Iterator[tuple[LoopbackProcess, Wire]]:
    """A model's server on loopback, and the wire to it."""
    server = LoopbackProcess(folder, {"brain": brain, "latency": latency})
    wire = Wire(int(server.url.rpartition(":")[2]))
    try:
        yield server, wire
    finally:
        wire.close()
        server.stop()
