import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.environment.wrong_entity_response import WrongEntityResponse
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.complexfuncbench import ComplexFuncBench
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.registry import sources
from tests.audit.sources.audited import findings, quarantined, read, write
from tests.audit.sources.complexfuncbench.conftest import record


def test_it_is_registered_and_recognises_its_file(file: Path, tmp_path: Path) -> None:
    assert sources()["complexfuncbench"] is ComplexFuncBench
    assert ComplexFuncBench.recognises(file) and ComplexFuncBench.recognises(file.parent)
    other = write(tmp_path / "other" / "x.jsonl", '{"id": "a", "question": []}\n')
    assert not ComplexFuncBench.recognises(other)
    with pytest.raises(SourceError, match="no ComplexFuncBench here; looked for rows with id, conversations"):
        ComplexFuncBench(other)


def test_the_recorded_path_is_the_gold(file: Path) -> None:
    task = read(ComplexFuncBench(file))["Hotels-0"]
    assert [(call.name, call.arguments) for _, call in task.gold_calls()] == [
        ("find_inns", {"town": "Oldham"}),
        ("book_inn", {"inn_id": "inn_77012", "nights": 3}),
    ]
    assert task.ground_truth.call_matching == "any_order"
    assert [len(turn) for turn in task.user.turns] == [1]
    assert "primitive" in task.evaluation.checks[0].note
    assert task.origins[""].line == 1 and task.origins["/environment/tools"].pointer == "/functions"


def test_tasks_share_their_tools(file: Path) -> None:
    first, second, *_ = read(ComplexFuncBench(file)).values()
    assert first.environment is second.environment


def test_responses_are_the_state_that_checks_can_read(file: Path) -> None:
    state = read(ComplexFuncBench(file))["Hotels-0"].initial_state
    assert [item["tool"] for item in state["responses"]] == ["find_inns", "book_inn"]
    assert json.loads(state["responses"][1]["response"]) == {"inn_id": "inn_77012", "booked": True}


def test_a_domain_precedes_the_number_of_an_id(file: Path) -> None:
    assert {task.subtask for task in read(ComplexFuncBench(file)).values()} == {"Hotels", "Cross", "Car-Rental"}
    assert list(read(ComplexFuncBench(file, ["Cross"]))) == ["Cross-0"]
    with pytest.raises(SourceError, match="unknown domain: Trains; there are: Car-Rental, Cross, Hotels"):
        ComplexFuncBench(file, ["Trains"])


def test_the_planted_flaw_is_found_and_the_rest_is_clean(file: Path) -> None:
    assert findings(ComplexFuncBench(file)) == {("Hotels-1", "call-schema")}


def test_the_recorded_path_is_a_run_without_a_verdict(tmp_path: Path) -> None:
    records = [record("Hotels-0"), record("Hotels-1", booked="inn_50000")]
    file = write(tmp_path / "c.jsonl", "".join(json.dumps(item) + "\n" for item in records))
    source = ComplexFuncBench(file)
    quarantine = Quarantine()
    runs = list(read_runs(source, file, quarantine))
    assert quarantine.items == []
    assert [(run.task_id, run.model, run.passed, run.status) for run in runs] == [
        ("Hotels-0", "recorded path", None, "ok"),
        ("Hotels-1", "recorded path", None, "ok"),
    ]
    assert [m.tool_call_id for m in runs[0].messages if m.role == "tool"] == ["call_0", "call_1"]
    check = WrongEntityResponse()
    tasks = read(source)
    seen = [item for run in runs for item in check.observe(tasks[run.task_id], iter([run]))]
    assert {(item.task_id, item.value["wrong"]) for item in seen} == {("Hotels-0", 0), ("Hotels-1", 1)}


@pytest.mark.parametrize(
    ("change", "pointer", "reason"),
    [
        ({"id": 7}, "/id", "expected a string at /id, found int"),
        ({"conversations": {}}, "/conversations", "expected an array"),
        ({"conversations": []}, "/conversations", "no message of the user"),
        ({"conversations": [{"role": "robot", "content": ""}]}, "/conversations/0/role", "unknown role 'robot'"),
        (
            {"conversations": [{"role": "user", "content": "Hi"}, {"role": "assistant", "function_call": [{}]}]},
            "/conversations/1/function_call/0",
            "the field 'name' is missing",
        ),
        ({"functions": [{"name": "f", "parameters": 3}]}, "/functions/0/parameters", "expected an object"),
        ({"id": "Hotels-0"}, "", "the id 'Hotels-0' was already used at c.jsonl:1"),
    ],
)
def test_a_bad_record_is_quarantined_alone(tmp_path: Path, change: dict[str, Any], pointer: str, reason: str) -> None:
    records = [record("Hotels-0"), {**record("Hotels-1"), **change}, record("Hotels-2")]
    file = write(tmp_path / "c.jsonl", "".join(json.dumps(item) + "\n" for item in records))
    [item] = quarantined(ComplexFuncBench(file))
    assert (item.file, item.line, item.pointer) == ("c.jsonl", 2, pointer) and reason in item.reason


def test_a_split_is_byte_identical(file: Path, tmp_path: Path) -> None:
    source = ComplexFuncBench(file)
    assert source.version() == ComplexFuncBench(file.parent).version()
    [written] = source.write_split(["Cross-0", "Hotels-0"], tmp_path / "out")
    lines = file.read_bytes().splitlines(keepends=True)
    assert written.read_bytes() == lines[0] + lines[2]
    with pytest.raises(SourceError, match="no such task"):
        source.write_split(["Hotels-9"], tmp_path / "none")
