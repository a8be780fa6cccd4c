"""Evaluations that are disturbed: a model and an agent without one on ACE-Bench and in escape rooms."""

import gzip
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet

from agenthard.ace.generator import Parameters
from agenthard.escape.generator import EscapeGenerator, generate
from agenthard.escape.generator import Parameters as RoomParameters
from agenthard.flows.ace_generation import SuiteFormat, write_suite
from perf.faults.job import Job
from perf.faults.row import Row, files
from perf.faults.scenarios import RETRIES, Given, compare_ledger, count_results, disturb, disturb_wire, model_server

TRIALS = 2
SUITE = Parameters(
    rows=3, cols=3, hidden_slots=(1,), decoy_budgets=(0,), candidates=6, domains=("course", "meal"), per_cell=2
)
EPISODES = 2 * 4 * TRIALS
"""Two players, four instances."""
ROOMS = RoomParameters(sizes=(5, 8, 10, 12, 15), rooms=(5,), seed=3)
ROOM_EPISODES = 100
"""Episodes of each of two players."""


class _Evaluated(NamedTuple):
    """An evaluation of a model, next to an agent without one."""

    scenario: str
    benchmark: str
    suite: Path
    brain: str
    """How the model of the server plays."""
    trials: int
    episodes: int
    """All of them, those of the agent without a model included."""
    in_flight: int = 4


def evaluations(given: Given) -> Iterator[Row]:
    """A model and an agent without one on a suite of ACE-Bench."""
    suite = given.folder / "suite"
    suite.mkdir()
    write_suite(SUITE, suite, SuiteFormat.JSONL)
    yield from _evaluations(given, _Evaluated("evaluate", "ace", suite, "tests.loopback.brains:ace", TRIALS, EPISODES))


def rooms(given: Given) -> Iterator[Row]:
    """100 episodes of a model in escape rooms, and as many of an agent without one."""
    suite = given.folder / "suite"
    EscapeGenerator().suites.write(suite, generate(ROOMS), {}, count=ROOMS.count)
    brain = "tests.loopback.room_brain:escape"
    trials = ROOM_EPISODES // ROOMS.count
    yield from _evaluations(given, _Evaluated("evaluate escape", "escape", suite, brain, trials, 2 * ROOM_EPISODES, 20))


def _evaluations(given: Given, what: _Evaluated) -> Iterator[Row]:
    with model_server(given.folder, what.brain, latency=0.1) as (server, wire):
        file = given.folder / "model.yaml"
        name = f"compatible/loop@http://127.0.0.1:{wire.port}/v1"
        price = {"prompt": 1.0, "completion": 4.0, "date": "2026-11"}
        content: dict[str, Any] = {"name": name, "label": "loop", "price": price, "retries": RETRIES, "timeout": 20}
        file.write_text(json.dumps({**content, "sampling": {"max_output_tokens": 500}}), encoding="utf-8")
        options = ["--model", str(file), "--agent", "random", "--trials", str(what.trials)]

        def count(out: Path, row: Row) -> None:
            query = "SELECT agent, task_id, failure_rate, trial FROM attempts WHERE status <> 'infrastructure_error'"
            with closing(sqlite3.connect(out / "work" / "episodes.sqlite")) as connection:
                count_results(row, Counter(connection.execute(query).fetchall()), what.episodes)
            compare_ledger(out / "work" / "ledger.sqlite", server.counts, row)

        options += ["--in-flight", str(what.in_flight), "--workers", "1", "--out"]
        words = ["evaluate", what.benchmark, str(what.suite), *options]
        job = Job(
            what.scenario,
            words=lambda out: [*words, str(out)],
            hashes=files(_played),
            home=given.folder,
            store="SQLite",
            count=count,
            prepare=lambda out: server.reset(),
        )
        yield from disturb(job, given, disk=True, signals=True)
        patient = replace(job, hashes=_without_requests)
        yield from disturb_wire(patient, wire, given)


def _played(path: Path) -> bool:
    """Times are in a table of their own, in the usage and in the page."""
    named = path.name in ("episodes.parquet", "trajectories.jsonl.gz")
    return named or (path.suffix == ".csv" and path.name != "usage.csv")


def _without_requests(out: Path) -> dict[str, str]:
    """What a fault of the network may not change: everything but the number of requests that it took."""
    episodes = pyarrow.parquet.read_table(out / "tables" / "episodes.parquet").drop_columns("requests").to_pylist()
    with gzip.open(out / "trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    for run in runs:
        run["usage"].pop("requests", None)
    texts = {"episodes": json.dumps(episodes), "trajectories": json.dumps(runs)}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
