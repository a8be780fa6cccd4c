from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.taxonomy import AgentTask, Message
from agenthard.taxonomy.accepted import any_of

Read = Callable[[Path], dict[str, AgentTask]]


def test_every_category_is_read(v3: Path, read: Read) -> None:
    assert Counter(task.subtask for task in read(v3).values()) == {
        "simple": 2,
        "multiple": 1,
        "parallel": 1,
        "parallel_multiple": 1,
        "java": 1,
        "javascript": 1,
        "irrelevance": 1,
        "live_simple": 1,
        "live_multiple": 1,
        "live_parallel": 1,
        "live_parallel_multiple": 1,
        "live_irrelevance": 1,
        "live_relevance": 1,
        "multi_turn_base": 2,
        "multi_turn_miss_func": 1,
        "multi_turn_miss_param": 1,
        "multi_turn_long_context": 1,
    }


def test_a_single_turn_task(v3: Path, read: Read) -> None:
    task = read(v3)["simple_0"]
    assert (task.native_id, task.benchmark, task.subtask, task.cluster) == ("simple_0", "bfcl", "simple", None)
    assert task.user.turns == ((Message(role="user", content="How high is the tide in Port Merrow at noon?"),),)
    (tool,) = task.environment.tools
    assert (tool.name, tool.language, tool.effect) == ("tide.height", "python", "unknown")
    assert tool.parameters["properties"]["hour"]["enum"] == [0, 6, 12, 18]
    assert tool.parameters["properties"]["unit"]["default"] == "metre"
    assert tool.parameters["properties"]["limits"]["type"] == "array"
    assert "type" not in tool.parameters["properties"]["anything"]
    ((call,),) = task.ground_truth.turns
    assert call.arguments == {
        "harbour": any_of(["Port Merrow", "Merrow"]),
        "hour": any_of([12]),
        "unit": any_of(["metre"], optional=True),
        "zone": any_of([], optional=True),
        "limits": any_of([[0.0, 2.5]]),
        "anything": any_of([{"raw": ["a", "b"]}]),
    }
    assert (task.ground_truth.semantics, task.ground_truth.call_matching) == ("required", "exact")
    (check,) = task.evaluation.checks
    assert (check.kind, check.scored, check.pointer) == ("tool_calls", True, "/ground_truth/turns/0")
    assert task.traits == frozenset()


def test_the_one_function_counts_whatever_name_the_answer_gives(v3: Path, read: Read) -> None:
    task = read(v3)["simple_1"]
    ((call,),) = task.ground_truth.turns
    assert call.name == "bakery_order"
    assert task.metadata["answer_function"] == "order"
    assert call.arguments["customer"] == any_of([{"name": any_of(["Ada"]), "phone": any_of(["none"], optional=True)}])
    assert call.arguments["loaves"] == any_of([[{"kind": any_of(["rye", "rye bread"]), "count": any_of([2])}]])
    assert call.arguments["extras"] == any_of([[]], optional=True)
    assert call.arguments["note"] == any_of([""])
    assert call.arguments["sliced"] == any_of([])
    assert call.arguments["tray"] == any_of([[[1, 2]]])


@pytest.mark.parametrize("task_id", ["parallel_0", "parallel_multiple_0", "live_parallel_0-0-0"])
def test_parallel_calls_may_come_in_any_order(v3: Path, read: Read, task_id: str) -> None:
    task = read(v3)[task_id]
    assert task.ground_truth.call_matching == "any_order"
    assert len(task.ground_truth.turns[0]) == 2


def test_values_in_other_languages(v3: Path, read: Read) -> None:
    java, script = read(v3)["java_0"], read(v3)["javascript_0"]
    assert java.environment.tools[0].language == "java"
    assert java.environment.tools[0].parameters["properties"]["boxes"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "Boxes.",
    }
    assert java.metadata["unlisted_values"] == ["/ground_truth/turns/0/0/arguments/labels/$any_of/0/a"]
    assert script.environment.tools[0].language == "javascript"
    assert script.ground_truth.turns[0][0].arguments["options"] == any_of([{"dim": any_of([0.5])}])


def test_where_no_call_or_any_call_is_expected(v3: Path, read: Read) -> None:
    tasks = read(v3)
    for task_id in ("irrelevance_0", "live_irrelevance_0-0-0"):
        task = tasks[task_id]
        assert task.traits == {"expects_no_call"}
        assert [check.kind for check in task.evaluation.checks] == ["no_call"]
        assert task.ground_truth.turns == ((),)
    relevance = tasks["live_relevance_0-0-0"]
    assert relevance.traits == {"expects_any_call"}
    assert (relevance.ground_truth.semantics, relevance.ground_truth.call_matching) == ("none", "none")
    assert [check.kind for check in relevance.evaluation.checks] == ["tool_calls"]


def test_system_messages_stay_in_the_turn(v3: Path, read: Read) -> None:
    (turn,) = read(v3)["live_simple_0-0-0"].user.turns
    assert [message.role for message in turn] == ["system", "user"]


def test_a_multi_turn_task(v3: Path, read: Read) -> None:
    task = read(v3)["multi_turn_base_0"]
    assert task.cluster == "multi_turn/0"
    assert task.traits == {"unchecked_turns", "redundant_calls_free"}
    assert task.initial_state["MessageAPI"]["users"] == {"Ada": "U1", "Bo": "U2"}
    assert (task.ground_truth.semantics, task.ground_truth.call_matching) == ("reference_path", "state")
    send, delete, nothing = task.ground_truth.turns
    assert send[0].arguments == {"receiver_id": "U2", "message": "lunch is ready"}
    assert (send[0].positional, send[0].text) == (1, "send_message('U2', message='lunch is ready')")
    assert delete[0].arguments == {"receiver_id": "U2"}
    assert nothing == ()
    assert [(check.kind, check.pointer) for check in task.evaluation.checks] == [
        ("final_state", "/ground_truth/turns/0"),
        ("final_state", "/ground_truth/turns/1"),
    ]


def test_a_gold_call_that_cannot_be_read_is_kept_as_text(v3: Path, read: Read) -> None:
    ((add, cut, computed),) = read(v3)["multi_turn_base_1"].ground_truth.turns
    assert add.arguments == {"a": 2, "b": -3.5, "places": [1, 2]}
    assert [(call.name, call.text) for call in (cut, computed)] == [("", "add(2,"), ("", "mean(numbers=sorted([1]))")]


def test_variants_share_a_cluster_and_the_tools(v3: Path, read: Read) -> None:
    tasks = read(v3)
    names = ("base", "miss_func", "miss_param", "long_context")
    variants = [tasks[f"multi_turn_{name}_0"] for name in names]
    assert {task.cluster for task in variants} == {"multi_turn/0"}
    assert len({id(task.environment) for task in variants}) == 1
    assert [(tool.group, tool.name, tool.effect) for tool in variants[0].environment.tools] == [
        ("MessageAPI", "send_message", "unknown"),
        ("MessageAPI", "delete_message", "unknown"),
        ("MathAPI", "add", "read"),
        ("MathAPI", "mean", "read"),
    ]
    assert variants[0].environment.tools[2].returns == {
        "type": "object",
        "properties": {"pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}},
    }


def test_withheld_tools_and_turns_that_ask_back(v3: Path, read: Read) -> None:
    tasks = read(v3)
    miss_func, miss_param = tasks["multi_turn_miss_func_0"], tasks["multi_turn_miss_param_0"]
    assert miss_func.hidden_tools == {"1": ("send_message",)}
    assert miss_func.user.turns[1] == ()
    assert "clarification_turns" in miss_func.traits & miss_param.traits
    assert "clarification_turns" not in tasks["multi_turn_long_context_0"].traits


def test_equal_documentation_is_one_object(v3: Path, read: Read) -> None:
    tasks = read(v3)
    environments = [tasks[i].environment for i in ("multiple_0", "parallel_multiple_0", "live_multiple_0-0-0")]
    assert len({id(environment) for environment in environments}) == 1
    assert tasks["live_irrelevance_0-0-0"].environment.tools[0] is environments[0].tools[0]


def test_fields_that_no_code_reads_are_metadata(v3: Path, read: Read) -> None:
    task = read(v3)["multi_turn_base_1"]
    assert task.metadata == {"path": ["MessageAPI.send_message"], "excluded_function": ["mean"]}
    assert task.hidden_tools == {}


def test_origins_lead_to_file_line_and_place(v3: Path, read: Read) -> None:
    tasks = read(v3)
    question, answers = "data/BFCL_v3_simple.json", "data/possible_answer/BFCL_v3_simple.json"
    origins = {pointer: (o.file, o.line, o.pointer) for pointer, o in tasks["simple_1"].origins.items()}
    assert origins == {
        "": (question, 2, ""),
        "/user/turns": (question, 2, "/question"),
        "/environment/tools": (question, 2, "/function"),
        "/ground_truth": (answers, 2, ""),
        "/ground_truth/turns/0": (answers, 2, "/ground_truth"),
        "/ground_truth/turns/0/0/arguments": (answers, 2, "/ground_truth/0/order"),
    }
    state = tasks["multi_turn_miss_func_0"].origins
    assert state["/ground_truth/turns"].pointer == "/ground_truth"
    assert state["/hidden_tools"].pointer == "/missed_function"
    assert state["/initial_state"].pointer == "/initial_config"
    tool = tasks["multi_turn_base_0"].environment.tools[1]
    assert tool.origin is not None
    assert (tool.origin.file, tool.origin.line) == ("data/multi_turn_func_doc/message_api.json", 2)
