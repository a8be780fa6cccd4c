import json
from pathlib import Path

import pytest

from agenthard.audit.evidence import text_at
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.tau.tau_bench import TauBench
from tests.audit.sources.tau.tau_bench.conftest import POLICY, STATE, TASKS, write_json


def test_tasks_of_the_test_split_are_read_in_order(export: Path) -> None:
    quarantine = Quarantine()
    tasks = list(TauBench(export).tasks(quarantine))
    assert quarantine.items == []
    assert [task.id for task in tasks] == ["airline/0", "airline/1", "airline/2", "retail/0"]
    first = tasks[0]
    assert (first.native_id, first.benchmark, first.subtask) == ("0", "tau-bench", "airline")
    assert first.user.kind == "simulated"
    assert first.user.instruction == TASKS[0]["instruction"]
    assert first.metadata == {"task_id": 0, "split": "test", "user_id": "ada_1"}
    assert first.environment is tasks[1].environment
    assert first.environment is not tasks[3].environment
    assert first.environment.policy == POLICY
    assert first.environment.state == STATE
    assert first.environment.state_name == "airline/db.json"


def test_the_gold_is_a_reference_path_scored_through_state_and_outputs(export: Path) -> None:
    task = next(TauBench(export).tasks(Quarantine()))
    assert (task.ground_truth.semantics, task.ground_truth.call_matching) == ("reference_path", "state")
    assert [(call.name, call.arguments) for _, call in task.gold_calls()] == [
        ("get_user_details", {"user_id": "ada_1"}),
        ("book_reservation", {"user_id": "ada_1", "seats": 2}),
    ]
    assert task.ground_truth.outputs == ("1144", "two")
    assert [(check.kind, check.expected, check.scored) for check in task.evaluation.checks] == [
        ("final_state", None, True),
        ("output_substring", "1144", True),
        ("output_substring", "two", True),
    ]
    assert [text_at(task, check.pointer) for check in task.evaluation.checks[1:]] == ["1144", "two"]
    assert "commas" in task.evaluation.checks[1].note
    assert task.traits == {"redundant_calls_free"}


def test_an_empty_gold_is_one_empty_turn(export: Path) -> None:
    task = list(TauBench(export).tasks(Quarantine()))[1]
    assert task.ground_truth.turns == ((),)
    assert [check.kind for check in task.evaluation.checks] == ["final_state"]


def test_effects_follow_the_names_of_the_public_domains(export: Path) -> None:
    tasks = list(TauBench(export).tasks(Quarantine()))
    effects = {tool.name: tool.effect for task in (tasks[0], tasks[3]) for tool in task.environment.tools}
    assert effects == {
        "book_reservation": "write",
        "get_user_details": "read",
        "return_delivered_order_items": "write",
        "modify_user_address": "write",
        "calculate": "read",
        "transfer_to_human_agents": "read",
    }


def test_origins_lead_to_the_values_in_the_files(export: Path) -> None:
    task = next(TauBench(export).tasks(Quarantine()))
    document = json.loads((export / "airline" / "tasks.json").read_text())
    place = task.origins["/ground_truth/turns/0/1/arguments"]
    assert (place.file, place.pointer) == ("airline/tasks.json", "/0/actions/1/kwargs")
    assert document[0]["actions"][1]["kwargs"] == task.ground_truth.turns[0][1].arguments
    assert task.origins["/ground_truth/outputs/1"].pointer == "/0/outputs/1"
    assert task.origins["/user/instruction"].pointer == "/0/instruction"
    assert task.origins["/environment/policy"].file == "airline/policy.json"
    assert task.origins["/environment/policy"].pointer == "/wiki.md"
    tool = task.environment.tools[1]
    assert tool.origin is not None
    assert (tool.origin.file, tool.origin.pointer) == ("airline/tools.json", "/1/function")


def test_other_splits_are_opened_by_name_and_share_the_environment(export: Path) -> None:
    source = TauBench(export, ["retail-dev", "retail"])
    tasks = list(source.tasks(Quarantine()))
    assert [task.id for task in tasks] == ["retail-dev/0", "retail-dev/1", "retail/0"]
    assert tasks[0].environment is tasks[2].environment
    assert tasks[0].origins[""].file == "retail/tasks_dev.json"


def test_version_names_the_commit_and_follows_the_content(export: Path) -> None:
    before = TauBench(export).version()
    assert (before.label, before.files) == ("59a200c", 8)
    assert TauBench(export, ["airline"]).version().files == 4
    write_json(export / "airline" / "db.json", {"users": {}})
    assert TauBench(export).version().content_hash != before.content_hash


@pytest.mark.parametrize(
    ("change", "pointer", "reason"),
    [
        ({"actions": [{"name": "x"}]}, "/1/actions/0/kwargs", "Field required"),
        ({"instruction": None}, "/1/instruction", "valid string"),
        ({"outputs": [7]}, "/1/outputs/0", "valid string"),
        ({"actions": "none"}, "/1/actions", "valid list"),
    ],
)
def test_a_malformed_task_is_quarantined_and_the_others_go_on(
    export: Path, change: dict[str, object], pointer: str, reason: str
) -> None:
    write_json(export / "airline" / "tasks.json", [TASKS[0], {**TASKS[1], **change}, TASKS[2]])
    quarantine = Quarantine()
    tasks = list(TauBench(export, ["airline"]).tasks(quarantine))
    assert [task.id for task in tasks] == ["airline/0", "airline/2"]
    (item,) = quarantine.items
    assert (item.file, item.task_id, item.pointer) == ("airline/tasks.json", "airline/1", pointer)
    assert reason in item.reason
    line = (export / "airline" / "tasks.json").read_text().splitlines()[(item.line or 0) - 1]
    assert line.strip() == "{"


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("tools.json", "{}", "array of tools"),
        ("tools.json", '[{"function": {"name": "x"}}]', "/function/parameters"),
        ("tools.json", "[", "as JSON"),
        ("policy.json", '{"rules": []}', "wiki.md"),
        ("db.json", "[1,", "as JSON"),
    ],
)
def test_a_broken_shared_file_takes_only_its_domain_out(export: Path, file: str, text: str, reason: str) -> None:
    (export / "airline" / file).write_text(text)
    quarantine = Quarantine()
    assert [task.id for task in TauBench(export).tasks(quarantine)] == ["retail/0"]
    (item,) = quarantine.items
    assert item.file == f"airline/{file}"
    assert reason in item.reason + item.pointer and "no task of this domain" in item.reason


def test_a_folder_of_something_else_is_refused(tmp_path: Path, export: Path) -> None:
    assert TauBench.recognises(export)
    assert not TauBench.recognises(tmp_path / "nothing")
    with pytest.raises(SourceError, match="not τ-bench; expected a folder"):
        TauBench(tmp_path / "nothing")
    with pytest.raises(SourceError, match="no domain trains; there are airline, retail, retail-dev"):
        TauBench(export, ["trains"])
