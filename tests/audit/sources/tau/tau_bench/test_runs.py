import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy.trajectory import Trajectory
from tests.audit.sources.tau.tau_bench.conftest import TASKS, write_json

TALK = [
    {"role": "system", "content": "policy"},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "aid", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "name": "aid", "content": "ok"},
]


def record(**changes: Any) -> dict[str, Any]:
    row = {
        "benchmark": "tau1",
        "domain": "airline",
        "model": "m1",
        "user_model": "u",
        "task_id": 0,
        "trial": 0,
        "reward": 1.0,
        "infra_error": None,
        "messages": TALK,
        "protocol": "paper_run",
    }
    return {**row, **changes}


def result(task_id: int = 0, reward: float = 1.0, **info: Any) -> dict[str, Any]:
    return {"task_id": task_id, "reward": reward, "info": info, "traj": TALK, "trial": 0}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    opened = gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w")
    with opened as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def read(export: Path, path: Path, domains: tuple[str, ...] = ()) -> tuple[list[Trajectory], Quarantine]:
    quarantine = Quarantine()
    return list(TauBench(export, domains).runs(path, quarantine)), quarantine


def test_flat_records_become_trajectories(export: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl.gz", [record(), record(task_id=2, reward=0.0, trial=3)])
    (first, second), quarantine = read(export, path)
    assert quarantine.items == []
    assert (first.task_id, first.model, first.trial, first.status, first.score, first.passed) == (
        "airline/0", "m1", 0, "ok", 1.0, True,
    )  # fmt: skip
    assert (first.user_model, first.protocol) == ("u", "paper_run")
    assert [message.role for message in first.messages] == ["system", "user", "assistant", "tool"]
    assert first.origin is not None and (first.origin.file, first.origin.line) == ("runs.jsonl.gz", 1)
    assert (second.task_id, second.trial, second.passed) == ("airline/2", 3, False)


def test_a_crashed_run_has_a_score_but_no_verdict(export: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl", [record(reward=0.0, infra_error="Timeout", messages=[])])
    (run,), _ = read(export, path)
    assert (run.status, run.status_reason, run.score, run.passed) == ("infrastructure_error", "Timeout", 0.0, None)


def test_the_same_trial_in_two_files_and_twice_in_one_keeps_distinct_stable_ids(export: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        write_lines(logs / name, [record(), record()])
    runs, _ = read(export, logs)
    assert len({run.id for run in runs}) == 4
    assert [run.id for run in read(export, logs)[0]] == [run.id for run in runs]
    assert [run.id for run in read(export, logs / "a.jsonl")[0]] == [run.id for run in runs[:2]]


def test_tasks_out_of_range_and_unknown_domains_are_quarantined_with_the_model(export: Path, tmp_path: Path) -> None:
    rows = [record(task_id=3), record(domain="trains"), record(), record(task_id=-1)]
    runs, quarantine = read(export, write_lines(tmp_path / "runs.jsonl", rows))
    assert [run.task_id for run in runs] == ["airline/0"]
    assert [(item.kind, item.line, item.task_id) for item in quarantine.items] == [
        ("run", 1, "airline/3"),
        ("run", 2, "trains/0"),
        ("run", 4, "airline/-1"),
    ]
    assert "'m1'" in quarantine.items[0].reason and "not one of the 3 tasks" in quarantine.items[0].reason
    assert "'trains'" in quarantine.items[1].reason


def test_runs_of_domains_that_are_not_open_are_passed_over(export: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "runs.jsonl", [record(domain="retail"), record()])
    runs, quarantine = read(export, path, ("airline",))
    assert [run.task_id for run in runs] == ["airline/0"]
    assert quarantine.items == []


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (record(reward="1"), "/reward"),
        (record(model=None), "/model"),
        (record(messages=[{"role": "ghost"}]), "ghost"),
        (record(reward=float("nan")), "finite"),
    ],
)
def test_a_malformed_run_is_quarantined_and_the_others_go_on(
    export: Path, tmp_path: Path, row: dict[str, Any], reason: str
) -> None:
    runs, quarantine = read(export, write_lines(tmp_path / "runs.jsonl", [record(), row, record(task_id=1)]))
    assert [run.task_id for run in runs] == ["airline/0", "airline/1"]
    (item,) = quarantine.items
    assert (item.line, item.kind) == (2, "run")
    assert reason in item.reason


def test_a_missing_reward_is_no_failure(export: Path, tmp_path: Path) -> None:
    (run,), _ = read(export, write_lines(tmp_path / "runs.jsonl", [record(reward=None)]))
    assert (run.status, run.passed, run.score) == ("judge_error", None, None)


def test_a_folder_is_searched_for_this_benchmarks_logs_only(export: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    (logs / "deep").mkdir(parents=True)
    write_lines(logs / "ours.jsonl", [record()])
    write_lines(logs / "theirs.jsonl", [record(benchmark="tau2")])
    without = {key: value for key, value in record().items() if key != "messages"}
    write_lines(logs / "rewards.jsonl", [without])
    write_json(logs / "inventory.json", [{"file": "x", "benchmark": "tau1", "domain": "airline", "model": "m1"}])
    (logs / "broken.json").write_text("{")
    (logs / "notes.txt").write_text("x")
    write_json(logs / "deep" / "gpt-4o-airline.json", [result()])
    runs, quarantine = read(export, logs)
    assert [run.origin.file for run in runs if run.origin] == ["deep/gpt-4o-airline.json", "ours.jsonl"]
    assert quarantine.items == []


def test_a_reward_table_named_itself_gives_runs_without_messages(export: Path, tmp_path: Path) -> None:
    rows = [{"benchmark": "tau1", "domain": "airline", "model": "m", "task_id": i, "reward": 1.0} for i in range(2)]
    write_json(tmp_path / "matrix.json", rows)
    runs, quarantine = read(export, tmp_path / "matrix.json")
    assert [(run.task_id, run.passed, run.messages) for run in runs] == [
        ("airline/0", True, ()),
        ("airline/1", True, ()),
    ]
    assert quarantine.items == []


@pytest.mark.parametrize("rows", [[], [record(benchmark="tau2")]])
def test_nothing_found_is_said(export: Path, tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    runs, quarantine = read(export, write_lines(tmp_path / "other.jsonl", rows))
    assert runs == []
    assert "no run log of this benchmark" in quarantine.items[-1].reason
    assert quarantine.items[-1].file == "other.jsonl"


NAME = "tool-calling-gpt-4.1-mini-0.0_range_0--1_user-gpt-4o-llm_0816084901.json"


def test_a_result_file_takes_models_from_its_name_and_the_domain_from_the_embedded_task(
    export: Path, tmp_path: Path
) -> None:
    write_json(tmp_path / NAME, [result(1, 0.0, task=TASKS[1], user_cost=0.25), result(2, 1.0, task=TASKS[2])])
    (first, second), quarantine = read(export, tmp_path / NAME)
    assert quarantine.items == []
    assert (first.task_id, first.model, first.user_model) == ("airline/1", "gpt-4.1-mini", "gpt-4o")
    assert first.usage == {"user_cost": 0.25}
    assert first.origin is not None and first.origin.pointer == "/0"
    assert second.passed is True
    assert second.messages[2].tool_calls[0].name == "aid"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-4o-airline.json", "gpt-4o"),
        ("tool-calling-airline-o3-high-0.0_range_0--1_user-gpt-4o-llm_1.json", "o3-high"),
        ("bench_results_tool-calling-airline-o3-high-0.0_range_0-5_user-openai-gpt-4o-llm_1.json", "o3-high"),
        ("airline-x.json.gz", "x"),
    ],
)
def test_the_domain_may_stand_in_the_files_name(export: Path, tmp_path: Path, name: str, model: str) -> None:
    text = json.dumps([result()]).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    (run,), _ = read(export, tmp_path / name)
    assert (run.task_id, run.model) == ("airline/0", model)


def test_a_result_without_any_sign_of_its_domain_is_quarantined(export: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "gpt.json", [result()])
    runs, quarantine = read(export, tmp_path / "gpt.json")
    assert runs == []
    assert "does not tell the domain" in quarantine.items[0].reason
    assert [run.task_id for run in read(export, tmp_path / "gpt.json", ("airline",))[0]] == ["airline/0"]


def test_runs_of_another_domain_are_not_taken_for_the_only_open_one(export: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "gpt-4o-retail.json", [result()])
    assert read(export, tmp_path / "gpt-4o-retail.json", ("airline",))[0] == []
    stranger = {**TASKS[0], "user_id": "zed_9"}
    write_json(tmp_path / "gpt.json", [result(0, 1.0, task=stranger)])
    runs, quarantine = read(export, tmp_path / "gpt.json", ("airline",))
    assert runs == [] and "does not tell the domain" in quarantine.items[0].reason


def test_a_crash_in_a_result_file_is_an_infrastructure_error(export: Path, tmp_path: Path) -> None:
    crashed = {"task_id": 0, "reward": 0.0, "info": {"error": "503", "traceback": "..."}, "traj": [], "trial": 0}
    write_json(tmp_path / "m-airline.json", [crashed])
    (run,), _ = read(export, tmp_path / "m-airline.json")
    assert (run.status, run.status_reason, run.passed) == ("infrastructure_error", "503", None)


def test_a_cut_off_result_file_keeps_the_runs_before_the_cut(export: Path, tmp_path: Path) -> None:
    text = json.dumps([result(), result(1)])
    (tmp_path / "m-airline.json").write_text(text[:-20])
    runs, quarantine = read(export, tmp_path / "m-airline.json")
    assert [run.task_id for run in runs] == ["airline/0"]
    assert "the rest left out" in quarantine.items[0].reason
    assert quarantine.items[0].kind == "run"
