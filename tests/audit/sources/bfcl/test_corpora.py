import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask
from agenthard.taxonomy.accepted import concrete_values, is_any_of

pytestmark = pytest.mark.corpora

PER_CATEGORY = {
    "simple": 400,
    "multiple": 200,
    "parallel": 200,
    "parallel_multiple": 200,
    "java": 100,
    "javascript": 50,
    "irrelevance": 240,
    "live_simple": 258,
    "live_multiple": 1053,
    "live_parallel": 16,
    "live_parallel_multiple": 24,
    "live_irrelevance": 882,
    "live_relevance": 18,
    "multi_turn_base": 200,
    "multi_turn_miss_func": 200,
    "multi_turn_miss_param": 200,
    "multi_turn_long_context": 200,
}


@pytest.fixture(scope="module")
def root(corpora: Path) -> Path:
    return corpora / "bfcl_v3_2025-07-17"


@pytest.fixture(scope="module")
def tasks(root: Path) -> dict[str, AgentTask]:
    quarantine = Quarantine()
    found = {task.id: task for task in BFCL(root).tasks(quarantine)}
    assert quarantine.items == []
    return found


@pytest.mark.long
def test_all_tasks_are_read(tasks: dict[str, AgentTask]) -> None:
    assert len(tasks) == 4441
    assert Counter(task.subtask for task in tasks.values()) == PER_CATEGORY


@pytest.mark.long
def test_reading_takes_little_memory(root: Path) -> None:
    tracemalloc.start()
    count = sum(1 for _ in BFCL(root).tasks(Quarantine()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 4441
    assert peak < 150 * 1024 * 1024


def test_every_gold_call_is_readable_and_names_a_tool(tasks: dict[str, AgentTask]) -> None:
    calls = [(task, call) for task in tasks.values() for _, call in task.gold_calls()]
    assert len(calls) == 8001
    assert [task.id for task, call in calls if task.tool(call.name) is None] == []
    assert [task.id for task, call in calls if any(name.startswith("*") for name in call.arguments)] == []
    assert sum(call.positional for _, call in calls) == 160


def test_only_two_answers_name_another_function(tasks: dict[str, AgentTask]) -> None:
    other = {task.id: task.metadata["answer_function"] for task in tasks.values() if "answer_function" in task.metadata}
    assert other == {"simple_363": "find_closest", "javascript_41": "queue"}


def test_answers_that_no_run_can_match_stay_visible(tasks: dict[str, AgentTask]) -> None:
    gold = [(task, call) for task in tasks.values() for _, call in task.gold_calls()]
    assert [task.id for task, call in gold if not concrete_values(call.arguments)] == [
        "live_simple_106-63-0",
        "live_simple_112-68-0",
    ]
    assert [task.id for task in tasks.values() if "unlisted_values" in task.metadata] == ["java_64"]


@pytest.mark.long
def test_the_tools_are_valid_json_schema_and_shared(tasks: dict[str, AgentTask]) -> None:
    tools = {id(tool): tool for task in tasks.values() for tool in task.environment.tools}
    for tool in tools.values():
        Draft202012Validator.check_schema(tool.parameters)
        Draft202012Validator.check_schema(tool.returns or {})
    multi_turn = [task for task in tasks.values() if task.cluster]
    assert len(multi_turn) == 800
    assert Counter(Counter(task.cluster for task in multi_turn).values()) == {4: 200}
    shared = {id(tool) for task in multi_turn for tool in task.environment.tools}
    assert len(shared) == 129


def test_the_text_id_of_a_ticket_is_seen(tasks: dict[str, AgentTask]) -> None:
    task = tasks["multi_turn_base_173"]
    documented = {tool.name: tool.parameters["properties"] for tool in task.environment.tools}
    wrong = [
        (pointer, call.arguments["ticket_id"])
        for pointer, call in task.gold_calls()
        if isinstance(call.arguments.get("ticket_id"), str)
    ]
    assert [value for _, value in wrong] == ["ticket_001"]
    name = next(call.name for pointer, call in task.gold_calls() if pointer == wrong[0][0])
    assert documented[name]["ticket_id"]["type"] == "integer"


def test_withheld_tools_exist_and_appear_in_an_empty_turn(tasks: dict[str, AgentTask]) -> None:
    hiding = [task for task in tasks.values() if task.hidden_tools]
    assert {task.subtask for task in hiding} == {"multi_turn_miss_func"} and len(hiding) == 200
    for task in hiding:
        for turn, names in task.hidden_tools.items():
            assert task.user.turns[int(turn)] == ()
            assert all(task.tool(name) for name in names)


def test_the_empty_string_is_a_value_only_once(tasks: dict[str, AgentTask]) -> None:
    single = [(task, call) for task in tasks.values() if not task.cluster for _, call in task.gold_calls()]
    nodes = [(task.id, node) for task, call in single for node in call.arguments.values()]
    assert all(is_any_of(node) for _, node in nodes)
    assert [task_id for task_id, node in nodes if "" in node["$any_of"]] == ["live_multiple_507-149-4"]


def test_a_full_split_is_the_benchmark(root: Path, tasks: dict[str, AgentTask], tmp_path: Path) -> None:
    written = BFCL(root).write_split(list(tasks), tmp_path)
    assert len(written) == 17 + 14 + 8
    for path in written:
        original = (root / "data" / path.relative_to(tmp_path)).read_bytes()
        assert path.read_bytes().rstrip(b"\n") == original.rstrip(b"\n")


def test_a_split_keeps_lines_byte_for_byte(root: Path, tasks: dict[str, AgentTask], tmp_path: Path) -> None:
    keep = [task_id for index, task_id in enumerate(tasks) if index % 3 == 0]
    written = BFCL(root).write_split(keep, tmp_path)
    for path in written:
        original = (root / "data" / path.relative_to(tmp_path)).read_bytes().splitlines()
        assert set(path.read_bytes().splitlines()) <= set(original)
    quarantine = Quarantine()
    assert [task.id for task in BFCL(tmp_path).tasks(quarantine)] == keep
    assert quarantine.items == []
