"""An audit opens its source once, reads its tasks once, and validates each run once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json
from typer.testing import CliRunner

from agenthard.audit.sources.native import Native
from agenthard.audit.sources.tau.tau_bench.source import TauBench
from agenthard.flows.cli import app
from agenthard.flows.run_spool import RunSpool, read_spool, spool_name, trusted
from agenthard.taxonomy import Judgement, Message, Origin, ToolCall, Trajectory
from tests.builders import make_run, make_task


class _Counting:
    """The validator of a record class, counting what it validates."""

    def __init__(self, validator: Any, counts: Counter[str]) -> None:
        self._validator, self._counts = validator, counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._validator, name)
        if not name.startswith("validate_"):
            return found

        def counted(*arguments: Any, **options: Any) -> Any:
            self._counts["validated"] += 1
            return found(*arguments, **options)

        return counted


def count(monkeypatch: pytest.MonkeyPatch, source: type[Any], *words: str | Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    opened, tasks = source.__init__, source.tasks

    def counted_open(self: Any, *arguments: Any) -> None:
        counts["opened"] += 1
        opened(self, *arguments)

    def counted_tasks(self: Any, quarantine: Any) -> Any:
        counts["tasks"] += 1
        return tasks(self, quarantine)

    monkeypatch.setattr(source, "__init__", counted_open)
    monkeypatch.setattr(source, "tasks", counted_tasks)
    monkeypatch.setattr(Trajectory, "__pydantic_validator__", _Counting(Trajectory.__pydantic_validator__, counts))
    result = CliRunner().invoke(app, ["audit", source.name, *map(str, words), "--workers", "1"])
    assert result.exit_code in (0, 1, 2), result.output
    return counts


def test_one_pass_over_a_small_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [make_task(f"lib/{i}") for i in range(3)]
    runs = [make_run(task.id, model, passed=True) for task in tasks for model in "AB"]
    (tmp_path / "tasks.jsonl").write_text("".join(t.model_dump_json(exclude={"origins"}) + "\n" for t in tasks))
    (tmp_path / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs))
    counts = count(monkeypatch, Native, tmp_path, "--runs", tmp_path / "runs.jsonl", "--out", tmp_path / "run")
    assert counts == {"opened": 1, "tasks": 1, "validated": len(runs)}


@pytest.mark.long
@pytest.mark.corpora
def test_one_pass_over_tau_airline(corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark, runs = corpora / "tau-bench_59a200c", corpora / "trajectories" / "tau1_airline.jsonl.gz"
    words = ("--domain", "airline", "--runs", runs, "--out", tmp_path / "run")
    counts = count(monkeypatch, TauBench, benchmark, *words)
    assert counts == {"opened": 1, "tasks": 1, "validated": 1550}


def test_a_run_comes_back_from_the_spool_as_it_was(tmp_path: Path) -> None:
    call = ToolCall(name="f", arguments={"a": [1, {"b": None}], "c": 1.0}, id="1")
    full = Trajectory(
        id='run "1"\n',
        task_id="t",
        model="m",
        score=0.5,
        passed=False,
        messages=(Message(role="assistant", tool_calls=(call, ToolCall(name="g"))), Message(role="user", content="ü")),
        usage={"tokens": 3.0},
        judgements=(Judgement(judge="j", kind="text", shown=("a",), diagnostics=("b",)),),
        origin=Origin(file="f", line=2),
    )
    plain = Trajectory(id="run 2", task_id="t", model="m")
    spool = RunSpool(tmp_path / "runs")
    for run in (full, plain):
        spool.add(0, run)
    spool.finish()
    file = tmp_path / "runs" / spool_name(0)
    read = {run.id: run for run in read_spool(file)}
    for run in (full, plain):
        assert read[run.id] == run and read[run.id].model_dump_json() == run.model_dump_json()
        assert repr(read[run.id]) == repr(run)
    assert [run.id for run in read_spool(file, {full.id})] == [full.id]
    assert trusted(Trajectory, from_json(full.model_dump_json())) == full
