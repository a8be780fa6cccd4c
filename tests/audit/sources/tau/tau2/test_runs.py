import copy
import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau2.results import normalised
from agenthard.taxonomy.trajectory import Trajectory
from tests.audit.sources.tau.tau2.conftest import CALL, FIRST, SECOND, write

TALK = [
    {"role": "assistant", "content": "Hi", "tool_calls": None, "turn_idx": 0},
    {"role": "user", "tool_calls": [{"id": "u1", "name": "toggle_roaming", "arguments": {}, "requestor": "user"}]},
    {"id": "u1", "role": "tool", "content": "on", "requestor": "user", "error": False},
]


def simulation(task_id: str = "0", reward: float | None = 1.0, **changes: Any) -> dict[str, Any]:
    row = {
        "id": "s",
        "task_id": task_id,
        "trial": 1,
        "duration": 12.5,
        "agent_cost": 0.5,
        "user_cost": None,
        "termination_reason": "user_stop",
        "reward_info": None if reward is None else {"reward": reward},
        "messages": TALK,
    }
    return {**row, **changes}


def results(simulations: list[Any], domain: str = "airline", tasks: list[Any] | None = None) -> dict[str, Any]:
    return {
        "timestamp": "2025-08-01",
        "info": {
            "git_commit": "x",
            "user_info": {"implementation": "user_simulator", "llm": "u"},
            "agent_info": {"implementation": "llm_agent", "llm": "m1"},
            "environment_info": {"domain_name": domain, "policy": "..."},
        },
        "tasks": tasks if tasks is not None else [FIRST, SECOND],
        "simulations": simulations,
    }


def read(root: Path, path: Path, domains: tuple[str, ...] = ()) -> tuple[list[Trajectory], Quarantine]:
    quarantine = Quarantine()
    return list(Tau2Bench(root, domains).runs(path, quarantine)), quarantine


def test_a_result_file_becomes_trajectories(checkout: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write(path, results([simulation(), simulation("1", 0.0)]))
    (first, second), quarantine = read(checkout, path)
    assert quarantine.items == []
    assert (first.task_id, first.model, first.user_model, first.protocol) == ("airline/0", "m1", "u", "llm_agent")
    assert (first.trial, first.status, first.score, first.passed) == (1, "ok", 1.0, True)
    assert first.usage == {"agent_cost": 0.5, "seconds": 12.5}
    assert first.origin is not None and (first.origin.file, first.origin.pointer) == ("run.json", "/simulations/0")
    assert first.messages[1].tool_calls[0].requestor == "user"
    assert (first.messages[2].tool_call_id, first.messages[2].requestor) == ("u1", "user")
    assert second.passed is False
    assert first.id != second.id


@pytest.mark.parametrize(
    ("termination", "status", "passed"),
    [
        ("user_stop", "ok", False),
        ("agent_stop", "ok", False),
        ("max_steps", "agent_error", False),
        ("too_many_errors", "agent_error", False),
        ("agent_error", "agent_error", False),
        ("user_error", "infrastructure_error", None),
        ("infrastructure_error", "infrastructure_error", None),
    ],
)
def test_how_a_run_ended_decides_its_status(
    checkout: Path, tmp_path: Path, termination: str, status: str, passed: bool | None
) -> None:
    write(tmp_path / "run.json", results([simulation(reward=0.0, termination_reason=termination)]))
    (run,), _ = read(checkout, tmp_path / "run.json")
    assert (run.status, run.passed, run.score) == (status, passed, 0.0)
    assert (termination in run.status_reason) == (status != "ok")


def test_a_run_without_a_reward_has_no_verdict(checkout: Path, tmp_path: Path) -> None:
    write(tmp_path / "run.json", results([simulation(reward=None)]))
    (run,), _ = read(checkout, tmp_path / "run.json")
    assert (run.status, run.passed) == ("judge_error", None)


def test_flat_records_with_text_ids_are_read(checkout: Path, tmp_path: Path) -> None:
    rows = [
        {
            "benchmark": "tau2", "domain": "telecom", "model": "m", "task_id": CALL["id"], "trial": 0, "reward": 1.0,
            "termination": "user_stop", "messages": TALK, "protocol": "paper_run",
        },
        {"benchmark": "tau1", "domain": "airline", "model": "m", "task_id": 0, "reward": 1.0, "messages": []},
        {"benchmark": "tau2", "domain": "airline", "model": "m", "task_id": 7, "reward": 1.0, "messages": []},
    ]  # fmt: skip
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run,), quarantine = read(checkout, tmp_path / "runs.jsonl")
    assert run.task_id == f"telecom/{CALL['id']}"
    (item,) = quarantine.items
    assert (item.line, item.task_id) == (3, "airline/7")


def test_a_folder_is_searched_for_result_files(checkout: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write(logs / "a" / "one.json", results([simulation()]))
    write(logs / "b" / "one.json", results([simulation()]))
    write(logs / "c" / "telecom.json", results([simulation(CALL["id"])], "telecom"))
    write(logs / "tasks.json", [FIRST])
    write(logs / "db.json", {"simulations": 3, "seats": {}})
    runs, quarantine = read(checkout, logs, ("airline",))
    assert quarantine.items == []
    assert [run.origin.file for run in runs if run.origin] == ["a/one.json", "b/one.json"]
    assert len({run.id for run in runs}) == 2


def test_simulations_that_cannot_be_read_are_quarantined(checkout: Path, tmp_path: Path) -> None:
    rows = [simulation("9"), "text", simulation(messages="none"), simulation(), simulation(trial="x")]
    write(tmp_path / "run.json", results(rows))
    runs, quarantine = read(checkout, tmp_path / "run.json")
    assert [run.task_id for run in runs] == ["airline/0"]
    assert [item.pointer for item in quarantine.items] == [f"/simulations/{i}" for i in (0, 1, 2, 4)]
    assert "not one of the 2 tasks" in quarantine.items[0].reason


def test_a_cut_off_file_keeps_the_runs_before_the_cut(checkout: Path, tmp_path: Path) -> None:
    text = json.dumps(results([simulation(), simulation("1")]))
    (tmp_path / "run.json").write_text(text[:-30])
    runs, quarantine = read(checkout, tmp_path / "run.json")
    assert [run.task_id for run in runs] == ["airline/0"]
    assert "the rest left out" in quarantine.items[0].reason


def test_something_else_is_said_to_be_no_log(checkout: Path, tmp_path: Path) -> None:
    write(tmp_path / "other.json", {"info": 1})
    runs, quarantine = read(checkout, tmp_path / "other.json")
    assert runs == [] and "no run log of this benchmark" in quarantine.items[0].reason


def test_embedded_tasks_are_compared_after_normalising(checkout: Path, tmp_path: Path) -> None:
    dumped = copy.deepcopy(FIRST)
    dumped["ticket"] = None
    dumped["evaluation_criteria"]["env_assertions"] = []
    dumped["evaluation_criteria"]["reward_basis"] = ["COMMUNICATE", "DB"]
    dumped["evaluation_criteria"]["actions"][0] |= {"requestor": "assistant", "compare_args": None}
    del dumped["annotations"]
    changed = {**SECOND, "user_scenario": {"instructions": "Say goodbye."}}
    write(tmp_path / "run.json", results([simulation()], tasks=[dumped, changed, {**SECOND, "id": "2"}]))
    assert Tau2Bench(checkout).embedded_tasks(tmp_path / "run.json") == {
        "airline/0": "equal",
        "airline/1": "different",
        "airline/2": "absent",
    }


def test_a_basis_that_is_not_the_default_is_a_difference() -> None:
    assert normalised({"reward_basis": ["DB", "COMMUNICATE"]}) == normalised({})
    assert normalised({"reward_basis": ["DB"]}) != normalised({})
    assert normalised({"reward_basis": ["B", "A"]}) == normalised({"reward_basis": ["A", "B"]})
    assert normalised({"requestor": "user"}) != normalised({})
    assert normalised({"arguments": {"flag": False}}) != normalised({})


def test_embedded_tasks_need_a_result_file_of_an_open_domain(checkout: Path, tmp_path: Path) -> None:
    write(tmp_path / "other.json", [1])
    write(tmp_path / "telecom.json", results([], "telecom"))
    (tmp_path / "cut.json").write_text(json.dumps(results([]))[:-400])
    source = Tau2Bench(checkout, ["airline"])
    for name, message in (("other.json", "no result file"), ("telecom.json", "of airline"), ("cut.json", "damaged")):
        with pytest.raises(SourceError, match=message):
            source.embedded_tasks(tmp_path / name)
