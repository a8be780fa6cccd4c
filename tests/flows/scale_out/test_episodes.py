"""Episodes on the workers of a cluster: bytes of one process, one budget, one rate, lost workers, paid once."""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agenthard.ace.evaluation import AceEvaluation, AceTask
from agenthard.ace.generator import Parameters
from agenthard.flows.ace_generation import SuiteFormat, write_suite
from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.evaluation import remote
from agenthard.flows.evaluation.flow import run_evaluation
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import load_model
from tests.flows.scale_out.killing import killing
from tests.loopback import Loopback
from tests.loopback.brains import ace

OUTPUTS = ("tables/episodes.parquet", "trajectories.jsonl.gz")
REQUESTS = 4
"""Requests of the server's player for one episode."""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four instances of one hidden slot."""
    folder = tmp_path_factory.mktemp("suite")
    domains = ("course", "meal")
    small = Parameters(rows=3, cols=3, hidden_slots=(1,), decoy_budgets=(0,), candidates=6, domains=domains, per_cell=2)
    write_suite(small, folder, SuiteFormat.JSONL)
    return folder


@pytest.fixture
def server(loopback: Loopback, keys: str) -> Loopback:
    loopback.service.brain = ace
    return loopback


def wanted(suite: Path, folder: Path, server: Loopback | None = None, /, **changes: Any) -> EvaluationSettings:
    """Two agents without a model, and one that the server plays."""
    folder.mkdir(parents=True, exist_ok=True)
    models: tuple[Any, ...] = ()
    if server is not None:
        content = {
            "name": f"compatible/loop@{server.url}/v1",
            "label": "loop",
            "price": {"prompt": 1.0, "completion": 4.0, "date": "2026-11"},
            "sampling": {"max_output_tokens": 500},
            "timeout": 20,
            **changes.pop("model", {}),
        }
        (folder / "model.yaml").write_text(json.dumps(content), encoding="utf-8")
        models = (load_model(str(folder / "model.yaml")),)
    base = {"benchmark": "ace", "path": str(suite), "agents": ("solver", "random"), "models": models, "workers": 2}
    return EvaluationSettings(**{**base, "out": str(folder / "out"), **changes})


def outputs(settings: EvaluationSettings) -> dict[str, bytes]:
    manifest = json.loads((settings.folder.root / "manifest.json").read_text())
    # The sum of costs depends in its last digit on the order of requests, in one process too.
    costs = [(cost["answered"], cost["prompt_tokens"], round(cost["cost"], 9)) for cost in manifest["costs"]]
    manifest = {**manifest, "costs": costs}
    return {
        **{name: (settings.folder.root / name).read_bytes() for name in OUTPUTS},
        "manifest": repr(manifest).encode(),
    }


def test_a_cluster_plays_the_bytes_of_one_process_and_pays_once(
    suite: Path, server: Loopback, dask_cluster: str, tmp_path: Path
) -> None:
    here = wanted(suite, tmp_path / "here", server, trials=3)
    assert run_evaluation(here).complete
    sent = server.counts["received"]
    where = {"runner": "dask", "address": dask_cluster}
    there = wanted(suite, tmp_path / "there", server, trials=3, scale_out=where)
    assert run_evaluation(there).complete
    assert outputs(there) == outputs(here)
    assert server.counts["received"] == 2 * sent == 2 * 4 * 3 * REQUESTS
    assert run_evaluation(there).complete and server.counts["received"] == 2 * sent


@pytest.mark.long
@pytest.mark.parametrize("runner", ["prefect", "dask", "ray"])
def test_two_worker_processes_play_the_bytes_of_one(suite: Path, server: Loopback, tmp_path: Path, runner: str) -> None:
    here, there = (
        wanted(suite, tmp_path / name, server, trials=3, failure_rates=(0.0, 0.3), scale_out={"runner": name})
        for name in ("local", runner)
    )
    assert run_evaluation(here).complete and run_evaluation(there).complete
    assert outputs(there) == outputs(here)


@pytest.mark.long
@pytest.mark.parametrize(
    ("runner", "worker"), [("prefect", "job_worker"), ("dask", "spawn_main"), ("ray", "^ray::worker")]
)
def test_the_episodes_of_killed_workers_are_taken_over_and_nothing_is_paid_twice(
    suite: Path, server: Loopback, tmp_path: Path, runner: str, worker: str
) -> None:
    server.service.latency = 0.02
    here, there = (
        wanted(suite, tmp_path / name, server, trials=30, in_flight=8, scale_out={"runner": name})
        for name in ("local", runner)
    )
    assert run_evaluation(here).complete
    calm = server.counts["received"]
    done: Callable[[], int] = lambda: played(there)  # noqa: E731
    with killing(done, lambda line: re.search(worker, line) is not None, 80) as killed:
        assert run_evaluation(there).complete
    assert len(killed) >= 3
    assert outputs(there) == outputs(here)
    assert server.counts["received"] == 2 * calm


def played(settings: EvaluationSettings) -> int:
    file = settings.folder.store
    if not file.exists():
        return 0
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM attempts").fetchone()[0])
        except sqlite3.OperationalError:  # the table is not there yet
            return 0


@pytest.mark.parametrize("limit", ["budget", "token_budget"])
def test_a_budget_holds_for_all_workers_together(
    limit: str, suite: Path, server: Loopback, dask_cluster: str, tmp_path: Path
) -> None:
    free = wanted(suite, tmp_path / "free", server, agents=(), trials=4)
    cost = run_evaluation(free).costs[0]
    whole = cost.cost if limit == "budget" else cost.prompt_tokens + cost.completion_tokens
    assert whole is not None
    part = whole * 0.7 if limit == "budget" else int(whole * 0.7)
    where = {"runner": "dask", "address": dask_cluster}
    some = wanted(suite, tmp_path / "some", server, agents=(), trials=4, scale_out=where, **{limit: part})
    assert "the budget is spent" in run_evaluation(some).stopped["loop"]
    ledger = Ledger(some.folder.ledger)
    spent = ledger.spent()
    ledger.close()
    assert (spent.money if limit == "budget" else spent.tokens) <= part
    received = server.counts["received"]
    more = some.model_copy(update={"budget": None, "token_budget": None})
    assert run_evaluation(more).complete
    assert server.counts["received"] - received < 16 * REQUESTS, "what was paid for is not asked for again"
    assert outputs(more)["trajectories.jsonl.gz"] == outputs(free)["trajectories.jsonl.gz"]


@pytest.mark.long
def test_a_rate_holds_for_all_workers_together(
    suite: Path, server: Loopback, dask_cluster: str, tmp_path: Path
) -> None:
    """No span of the ledger has more requests than ten seconds' worth and what flows in meanwhile."""
    limits = {"limits": {"requests_per_minute": 900, "in_flight": 64}}
    where = {"runner": "dask", "address": dask_cluster}
    limited = wanted(suite, tmp_path, server, agents=(), trials=14, model=limits, scale_out=where)
    assert run_evaluation(limited).complete
    with sqlite3.connect(limited.folder.ledger) as ledger:
        times = [time for (time,) in ledger.execute("SELECT sent_at FROM attempts ORDER BY sent_at")]
    assert len(times) == 4 * 14 * REQUESTS
    for first in range(len(times)):
        for last in range(first, len(times)):
            assert last - first + 1 <= 150 + 15 * (times[last] - times[first]) + 2


def test_a_model_that_stops_leaves_the_agents(suite: Path, server: Loopback, dask_cluster: str, tmp_path: Path) -> None:
    server.service.key = "another"
    where = {"runner": "dask", "address": dask_cluster}
    settings = wanted(suite, tmp_path, server, scale_out=where)
    outcome = run_evaluation(settings)
    assert "refuses the key in $COMPATIBLE_API_KEY" in outcome.stopped["loop"]
    assert outcome.settled == played(settings) == 2 * 4


def test_an_unexpected_error_is_one_of_its_episode(
    suite: Path, dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = AceEvaluation.tasks

    def one_broken(self: AceEvaluation) -> Iterator[AceTask]:
        for number, task in enumerate(tasks(self)):
            yield replace(task, conditions=cast("Any", None)) if number == 0 else task

    monkeypatch.setattr(AceEvaluation, "tasks", one_broken)
    where = {"runner": "dask", "address": dask_cluster}
    settings = wanted(suite, tmp_path, agents=("random",), attempts=2, scale_out=where)
    outcome = run_evaluation(settings)
    assert (outcome.settled, outcome.without_verdict) == (4, 1)
    assert outcome.infrastructure_errors == {"unexpected AttributeError: 'NoneType' object has no attribute 'mode'": 2}


def test_a_worker_with_other_code_ends_the_evaluation(
    suite: Path, dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_code", lambda benchmark: "other")
    where = {"runner": "dask", "address": dask_cluster}
    with pytest.raises(InfrastructureError, match="a worker has other code of AgentHard or of the benchmark ace"):
        run_evaluation(wanted(suite, tmp_path, scale_out=where))
    store = EpisodeStore(wanted(suite, tmp_path).folder.store)
    assert store.claimants() == []
    store.close()


def test_tasks_that_cannot_be_sent_are_named(
    suite: Path, dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AceTask, "__reduce__", lambda self: 1 / 0)
    where = {"runner": "dask", "address": dask_cluster}
    with pytest.raises(CommandError, match="tasks of the benchmark ace cannot be sent to workers: ZeroDivisionError"):
        run_evaluation(wanted(suite, tmp_path, scale_out=where))


def test_an_address_without_a_cluster_is_refused(suite: Path, tmp_path: Path) -> None:
    settings = wanted(suite, tmp_path, scale_out={"runner": "prefect", "address": "tcp://127.0.0.1:1"})
    with pytest.raises(CommandError, match="--runner prefect has none; add --runner dask"):
        run_evaluation(settings)
    assert os.listdir(tmp_path) == []
