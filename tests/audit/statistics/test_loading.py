import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from agenthard.audit.statistics import MatrixError, matrix_from_rows, matrix_from_trajectories, read_matrix
from agenthard.taxonomy import RunStatus, Trajectory


def run(model: str, task: str, passed: bool | None, status: RunStatus = "ok", trial: int = 0) -> Trajectory:
    return Trajectory(id=f"{model}{task}{trial}", task_id=task, model=model, trial=trial, status=status, passed=passed)


RUNS = [
    run("a", "t1", True),
    run("a", "t2", None, "infrastructure_error"),
    run("b", "t1", None, "agent_error"),
    run("b", "t2", None, "judge_error"),
]


def test_an_infrastructure_error_is_missing_and_an_agent_error_a_failure() -> None:
    m = matrix_from_trajectories(RUNS)
    assert m.scored.tolist() == [[True, False], [True, False]]
    assert m.values[:, 0].tolist() == [1, 0]
    assert m.lost_runs == {"infrastructure_error": 1, "judge_error": 1}


def test_the_other_reading_counts_infrastructure_errors_as_failures() -> None:
    m = matrix_from_trajectories(RUNS, infrastructure="failure")
    assert m.scored.tolist() == [[True, True], [True, False]]
    assert m.values[0].tolist() == [1, 0]
    assert m.lost_runs == {"judge_error": 1}


def test_repetitions_share_a_cell_and_a_lost_one_is_counted() -> None:
    runs = [run("a", "t", True), run("a", "t", False, trial=1), run("a", "t", None, "infrastructure_error", 2)]
    m = matrix_from_trajectories([*runs, run("b", "t", None)])
    assert (m.passed[0, 0], m.runs[0, 0], m.lost[0, 0]) == (1, 2, 1)
    assert m.values[0, 0] == 0.5
    assert m.lost_runs == {"no_verdict": 1, "infrastructure_error": 1}


def test_two_runs_with_one_number_are_refused() -> None:
    with pytest.raises(MatrixError, match="model 'a' has two scores for task 't'"):
        matrix_from_trajectories([run("a", "t", True), run("a", "t", True)])


def test_rows_name_their_domain_and_trial() -> None:
    rows = [
        {"model": "a", "domain": "airline", "task_id": 3, "reward": 1.0, "trial": 0},
        {"model": "a", "domain": "airline", "task_id": 3, "reward": 0.0, "trial": 1},
        {"model": "b", "domain": "retail", "task_id": 3, "reward": None},
    ]
    m = matrix_from_rows(rows)
    assert m.tasks == ("airline/3", "retail/3")
    assert m.runs.tolist() == [[2, 0], [0, 0]]
    assert m.lost_runs == {"not_run": 2, "no_verdict": 1}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"model": "a", "task": "t"}, "row 1 needs the columns"),
        ({"model": "", "task": "t", "score": 1}, "row 1 needs the columns"),
        ({"model": "a", "task": "t", "score": float("nan")}, "undefined because row 1 .*nan"),
        ({"model": "a", "task": "t", "score": 1.25}, "a score is a number from 0 to 1"),
        ({"model": "a", "task": "t", "score": "pass"}, "a score is a number from 0 to 1"),
    ],
)
def test_bad_rows_are_named(row: dict[str, Any], message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        matrix_from_rows([row])


WIDE = "model,t1,t2\na,1,0\nb,,1.0\n"
TASK_ROWS = "task,a,b\nt1,1,\nt2,0,true\n"
LONG = "model,task,score\na,t1,1\na,t2,0\nb,t1,\nb,t2,1\n"


@pytest.mark.parametrize("text", [WIDE, TASK_ROWS, LONG])
@pytest.mark.parametrize("packed", [False, True])
def test_tables_of_each_shape_give_the_same_matrix(tmp_path: Path, text: str, packed: bool) -> None:
    path = tmp_path / ("scores.v1.csv.gz" if packed else "scores.v1.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    m = read_matrix(path)
    assert (m.models, m.tasks) == (("a", "b"), ("t1", "t2"))
    assert m.values.tolist() == [[1, 0], [0, 1]]
    assert m.scored.tolist() == [[True, True], [False, True]]


def test_parquet_and_json_files_are_read(tmp_path: Path) -> None:
    wide = pd.DataFrame({"model": ["a", "b"], "t1": [1, 0], "t2": [0.0, None]})
    wide.to_parquet(tmp_path / "wide.parquet")
    rows = [{"model": "a", "task": "t1", "passed": True}, {"model": "b", "task": "t1", "passed": False}]
    (tmp_path / "long.json").write_text(json.dumps(rows))
    (tmp_path / "long.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    assert read_matrix(tmp_path / "wide.parquet").scored.tolist() == [[True, True], [True, False]]
    assert read_matrix(tmp_path / "long.json").values.tolist() == [[1], [0]]
    assert read_matrix(tmp_path / "long.jsonl").values.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "model,t1\na,nan\n", "has the score 'nan'"),
        ("x.csv", "model,t1\na,1.5\n", "has the score '1.5'"),
        ("x.csv", "model,t1,t1\na,1,0\n", "task id.*'t1'"),
        ("x.csv", "model,t1\na,1\na,0\n", "model id.*'a'"),
        ("x.csv", "model,t1\na,1,1\n", "row 2 has 3 cells, the header has 2"),
        ("x.csv", "name,t1\na,1\n", "first column"),
        ("x.csv", "", "first column"),
        ("x.json", '{"a": 1}', "expected a list of rows"),
        ("x.xlsx", "", "not '.xlsx'"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(MatrixError, match=message):
        read_matrix(tmp_path / name)


@pytest.mark.corpora
def test_published_matrices_are_read(corpora: Path) -> None:
    tau = read_matrix(corpora / "trajectories" / "tau1_paper_reward_matrix.json")
    assert (len(tau.models), len(tau.tasks), tau.coverage) == (16, 165, (2590, 2640))
    assert len(tau.complete_models().models) == 15
    bfcl = read_matrix(corpora / "bfcl_v1_results" / "bfcl_v1_results_2024-08-11.csv.gz")
    assert (len(bfcl.models), len(bfcl.tasks), bfcl.coverage) == (71, 1700, (120_700, 120_700))
