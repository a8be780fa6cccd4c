import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.registry import sources
from agenthard.taxonomy import AgentTask
from agenthard.taxonomy.accepted import any_of
from agenthard.taxonomy.pointer import resolve
from tests.audit.sources.acebench.conftest import BIRDS, normal, write_files


def read(root: Path, *domains: str) -> dict[str, AgentTask]:
    quarantine = Quarantine()
    tasks = {task.id: task for task in AceBench(root, domains).tasks(quarantine)}
    assert quarantine.items == []
    return tasks


def test_it_is_registered_and_recognises_its_folders(root: Path, tmp_path: Path) -> None:
    assert sources()["acebench"] is AceBench
    for folder in (root, root / "data_all" / "data_en"):
        assert AceBench.recognises(folder)
        assert len(read(folder)) == 13
    assert not AceBench.recognises(tmp_path)
    with pytest.raises(SourceError, match="looked for data_normal"):
        AceBench(tmp_path)


def test_a_domain_is_a_category(root: Path) -> None:
    assert list(read(root, "special_irrelevant")) == ["special_irrelevant_0"]
    with pytest.raises(SourceError, match="unknown ACEBench category: atom; this copy has: agent_multi_step"):
        AceBench(root, ["atom"])


def test_a_conversation_is_one_turn_of_messages(root: Path) -> None:
    task = read(root)["normal_atom_bool_0"]
    assert [(m.role, m.content) for m in task.user.turns[0]] == [
        ("system", "It is Monday."),
        ("user", "Find books on birds."),
        ("assistant", "Since when?"),
        ("user", "1990; see user: page 2."),
    ]
    preference = read(root)["normal_preference_0"]
    assert preference.user.turns[0][0].content == "{'likes': 'birds'}"


def test_both_spellings_of_the_schema_are_read(root: Path) -> None:
    library, printer = read(root)["normal_atom_bool_0"].environment.tools
    assert library.parameters["type"] == "object"
    assert library.parameters["properties"]["shelves"]["type"] == "array"
    assert printer.parameters["properties"] == {"pages": {"type": "integer"}}
    assert printer.returns == {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    for tool in (library, printer):
        Draft202012Validator.check_schema(tool.parameters)


def test_times_without_a_zone_break_no_format(root: Path) -> None:
    task = read(root)["normal_atom_bool_0"]
    properties = task.environment.tools[0].parameters["properties"]
    assert properties["since"] == {"type": "string", "x-format": "date-time"}
    assert properties["shelves"]["items"]["properties"]["opens"] == {"x-format": "time"}
    assert list(CallSchema().inspect(task)) == []


def test_repeated_calls_lose_their_number(root: Path) -> None:
    task = read(root)["normal_multi_turn_user_switch_3_0"]
    assert [call.name for _, call in task.gold_calls()] == ["Library_findBooks", "Library_findBooks", "printer.print_2"]
    assert task.ground_truth.call_matching == "any_order"


def test_alternatives_in_one_value_are_one_answer(root: Path) -> None:
    tasks = read(root)
    [(_, merged)] = tasks["normal_atom_bool_1"].gold_calls()
    assert merged.arguments == {"topic": any_of(["birds", "owls"])}
    [(_, first)] = tasks["normal_atom_bool_2"].gold_calls()
    assert first.arguments == {"topic": "birds"}
    assert tasks["normal_atom_bool_2"].metadata["alternatives"] == [{"printer.print_2": {"pages": 1}}]


def test_parts_of_a_dialogue_are_a_cluster(root: Path) -> None:
    tasks = read(root, "normal_multi_turn_user_switch")
    assert {task.cluster for task in tasks.values()} == {"normal_multi_turn_user_switch_3"}
    assert read(root)["normal_atom_bool_0"].cluster is None


def test_special_tasks_want_words_and_no_call(root: Path) -> None:
    tasks = read(root)
    for name, outputs in {
        "special_incomplete_0": ("topic", "since"),
        "special_error_param_0": ("1990x",),
        "special_error_param_1": ("1990x",),
        "special_irrelevant_0": (),
    }.items():
        task = tasks[name]
        assert task.traits == {"expects_no_call"}
        assert task.ground_truth.turns == ((),) and task.ground_truth.outputs == outputs
        assert [check.kind for check in task.evaluation.checks] == ["no_call"] + ["output_substring"] * len(outputs)
        for check in task.evaluation.checks[1:]:
            assert resolve(task, check.pointer) == check.expected
    assert tasks["special_error_param_1"].metadata["about"] == ["since"]
    assert tasks["special_irrelevant_0"].evaluation.checks[0].expected == "Beyond the functions."


def test_agent_tasks_are_scored_by_states(root: Path) -> None:
    tasks = read(root)
    step, paths, turn = (tasks[f"agent_multi_{name}"] for name in ("step_0", "step_1", "turn_0"))
    assert [call.name for _, call in step.gold_calls()] == ["turn_on_wifi", "send_message"]
    assert (step.ground_truth.semantics, step.ground_truth.call_matching) == ("milestones", "state")
    assert step.evaluation.checks[0].expected[0] == {"BaseApi": {"wifi": True}}
    assert step.initial_state == {"BaseApi": {"wifi": False}}
    assert step.user.turns[0][0].content == "Tell Eve: user: hi"
    assert [call.arguments for _, call in paths.gold_calls()] == [{}, {"to": "Eve", "message": "hi"}]
    assert paths.metadata["alternatives"] == [["[turn_on_wifi()]"]]
    assert turn.user.kind == "simulated" and turn.user.instruction
    [(_, unreadable)] = turn.gold_calls()
    assert (unreadable.name, unreadable.text) == ("", "[send_message(to='Eve', message='It's me')]")


def test_equal_documentation_is_one_object(root: Path) -> None:
    tasks = read(root)
    assert tasks["normal_atom_bool_0"].environment is tasks["special_irrelevant_0"].environment


def test_origins_lead_to_both_lines(root: Path) -> None:
    task = read(root)["normal_atom_bool_1"]
    assert task.origins[""].file == "data_all/data_en/data_normal_atom_bool.json" and task.origins[""].line == 2
    gold = task.origins["/ground_truth"]
    line = (root / gold.file).read_text().splitlines()[(gold.line or 0) - 1]
    assert isinstance(resolve(json.loads(line), gold.pointer), list)


def test_bad_records_are_quarantined_and_the_rest_is_read(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "normal_atom_bool": [
                normal("good", BIRDS),
                normal("no_question", BIRDS, question=7),
                normal("bad_answer", ["no object"]),
                normal("no_schema", BIRDS, function=[{"name": "f"}]),
                normal("good", BIRDS),
            ],
            "special_incomplete": [normal("empty", {})],
            "agent_multi_step": [normal("no_list", {}, initial_config={})],
            "normal_extra": [],
        },
    )
    answers = tmp_path / "possible_answer" / "data_normal_atom_bool.json"
    answers.write_text(answers.read_text() + '{"id": "lonely", "ground_truth": {}}\n{"broken\n')
    (tmp_path / "data_special_other.json").write_text("{}\n")
    quarantine = Quarantine()
    assert [task.id for task in AceBench(tmp_path).tasks(quarantine)] == ["good"]
    found = {(item.task_id or item.file, item.pointer) for item in quarantine.items}
    assert {
        ("no_question", "/question"),
        ("bad_answer", "/ground_truth/0"),
        ("no_schema", "/function/0"),
        ("good", "/id"),
        ("empty", "/ground_truth"),
        ("no_list", "/ground_truth"),
        ("lonely", "/id"),
        ("data_normal_extra.json", ""),
    } <= found
    assert any("not valid JSON" in item.reason for item in quarantine.items)


def test_a_split_keeps_lines_byte_for_byte(root: Path, tmp_path: Path) -> None:
    keep = ["normal_atom_bool_1", "agent_multi_turn_0"]
    written = AceBench(root).write_split(keep, tmp_path / "split")
    assert sorted(read(tmp_path / "split")) == sorted(keep)
    assert len(written) == 4
    for path in written:
        original = root / "data_all" / "data_en" / path.relative_to(tmp_path / "split")
        assert set(path.read_bytes().splitlines()) <= set(original.read_bytes().splitlines())
    with pytest.raises(SourceError, match="no such task"):
        AceBench(root).write_split(["nobody"], tmp_path / "other")


def test_the_version_covers_what_is_read(root: Path) -> None:
    whole, part = AceBench(root).version(), AceBench(root, ["normal_preference"]).version()
    assert (whole.files, part.files) == (16, 2)
    assert whole.label == "ACEBench data_en" and whole.content_hash != part.content_hash
    assert AceBench(root / "data_all" / "data_en").version() == whole
