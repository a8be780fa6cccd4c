import gzip
import hashlib
import json
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.tau import Tau2Environment, TauBenchEnvironment
from agenthard.audit.execution.tau.environment import TauEnvironment
from agenthard.audit.execution.tau.fidelity import measure_replays
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask

pytestmark = pytest.mark.corpora

RELEASES: list[tuple[str, str, TauEnvironment]] = [
    ("tau-bench", "tau-bench_59a200c", TauBenchEnvironment()),
    ("tau2", "tau2-bench_v0.1.3", Tau2Environment()),
]
EVERY = 10
"""Every tenth run is replayed here; the whole is measured by perf/bench_replay.py."""


def read(corpora: Path, name: str, folder: str) -> dict[str, AgentTask]:
    source = open_source(name, corpora / folder, ("airline", "retail"))
    return {task.id: task for task in source.tasks(Quarantine())}


@pytest.mark.long
@pytest.mark.parametrize(("name", "folder", "environment"), RELEASES, ids=lambda value: str(value)[:9])
@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_recorded_runs_answer_and_score_the_same(
    corpora: Path, name: str, folder: str, environment: TauEnvironment, domain: str
) -> None:
    log = corpora / "trajectories" / f"{'tau1' if name == 'tau-bench' else 'tau2'}_{domain}.jsonl.gz"
    source = open_source(name, corpora / folder, (domain,))
    runs = [run for run in source.runs(log, Quarantine()) if (run.protocol or "").startswith("paper")]
    found = measure_replays(environment, read(corpora, name, folder), islice(runs, 0, None, EVERY))
    assert found.calls.total() > 100
    assert (found.differences, found.disagreements) == ([], [])
    assert found.agreeing == found.scored > 20


@pytest.mark.parametrize(("name", "folder", "environment"), RELEASES, ids=lambda value: str(value)[:9])
def test_what_doing_nothing_passes(corpora: Path, name: str, folder: str, environment: TauEnvironment) -> None:
    tasks = read(corpora, name, folder).values()
    verdicts = [(task.subtask, environment.evaluate(task, Attempt())) for task in tasks]
    airline = [verdict for domain, verdict in verdicts if domain == "airline"]
    assert (sum(v.parts["database"] for v in airline), sum(v.passed for v in airline)) == (20, 19)


@pytest.mark.parametrize(("name", "folder", "environment"), RELEASES, ids=lambda value: str(value)[:9])
def test_every_ground_truth_passes(corpora: Path, name: str, folder: str, environment: TauEnvironment) -> None:
    for task in read(corpora, name, folder).values():
        gold = Attempt(turns=task.ground_truth.turns, replies=task.ground_truth.outputs)
        assert environment.evaluate(task, gold).passed, task.id


@pytest.mark.parametrize(("domain", "known"), [("airline", 46), ("retail", 78)])
def test_the_final_state_of_a_ground_truth_is_the_logged_one(corpora: Path, domain: str, known: int) -> None:
    """Logs of τ-bench hold the hash of the state after the ground truth, for tasks without required outputs."""
    logged: dict[str, set[str]] = defaultdict(set)
    with gzip.open(corpora / "trajectories" / f"tau1_{domain}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for run in map(json.loads, lines):
            if run["protocol"] == "paper_run":
                digest = (run["reward_info"] or {}).get("info", {}).get("gt_data_hash")
                logged[f"{domain}/{run['task_id']}"] |= {digest} if digest else set()
    environment, equal = TauBenchEnvironment(), []
    written: dict[str, dict[str, str]] = {}
    for task in read(corpora, "tau-bench", "tau-bench_59a200c").values():
        if not logged.get(task.id):
            continue
        tables = task.environment.state
        written = written or {name: {key: entry(key, tables[name][key]) for key in tables[name]} for name in tables}
        environment.reset(task)
        for _, call in task.gold_calls():
            environment.call(call)
        after = {name: dict(entries) for name, entries in written.items()}
        for name, changed in environment.snapshot().items():
            after[name] |= {key: entry(key, record) for key, record in changed.items()}
        listed = [
            f"({name!r}, ({', '.join(after[name][key] for key in sorted(after[name]))}))" for name in sorted(after)
        ]
        digest = hashlib.sha256(f"({', '.join(listed)})".encode()).hexdigest()
        equal.append(logged[task.id] == {digest})
    assert (sum(equal), len(equal)) == (known, known)


def entry(key: str, record: Any) -> str:
    """Write a record as the benchmark does before it hashes: pairs sorted by key, in tuples."""
    return f"({key!r}, {as_pairs(record)})"


def as_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, as_pairs(item)) for key, item in sorted(value.items()))
    return tuple(as_pairs(item) for item in value) if isinstance(value, list) else value
