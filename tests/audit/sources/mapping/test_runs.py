import json
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.runs import read_runs

RUNS = {
    "model": "_stem",
    "task_id": "task",
    "trial": "n",
    "score": "points",
    "pass_score": 0.5,
    "error": "failure",
    "messages": "log",
}


def test_run_files_are_mapped_too(open_mapping: Any, tmp_path: Path) -> None:
    rows = [
        {"task": "a", "n": 1, "points": 0.7, "log": [{"role": "user", "content": "Hi"}]},
        {"task": "b", "points": "0.2"},
        {"task": "b", "failure": "connection reset"},
        {"task": "b"},
        {"points": 1},
        {"task": "a", "points": "many"},
        {"task": "a", "points": 1, "log": 7},
    ]
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "small.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    quarantine = Quarantine()
    first, second, third = read_runs(open_mapping(runs=RUNS), folder, quarantine)
    assert (first.model, first.task_id, first.trial, first.score, first.passed) == ("small", "a", 1, 0.7, True)
    assert first.messages[0].content == "Hi"
    assert (second.passed, second.status) == (False, "ok")
    assert (third.passed, third.status, third.status_reason) == (None, "infrastructure_error", "connection reset")
    assert [(q.kind, q.line, q.pointer) for q in quarantine.items] == [
        ("run", 4, ""),
        ("run", 5, "/task"),
        ("run", 6, "/points"),
        ("run", 7, "/log"),
    ]


def test_a_table_of_runs_is_read_as_the_mapping_says(open_mapping: Any, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("who,task,verdict\nm1,a,PASS\nm1,b,no\nm1,b,perhaps\n")
    source = open_mapping(runs={"model": "who", "task_id": "task", "passed": "verdict"})
    quarantine = Quarantine()
    assert [run.passed for run in read_runs(source, tmp_path / "results.csv", quarantine)] == [True, False]
    assert [item.line for item in quarantine.items] == [4]


def test_without_runs_in_the_mapping_native_runs_are_read(open_mapping: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"task_id": "a", "model": "m", "passed": true}\n')
    (run,) = read_runs(open_mapping(), tmp_path / "runs.jsonl", Quarantine())
    assert run.model == "m"
