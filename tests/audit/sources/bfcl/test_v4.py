from collections import Counter
from collections.abc import Callable
from pathlib import Path

from agenthard.taxonomy import AgentTask

Read = Callable[[Path], dict[str, AgentTask]]


def test_a_line_gives_a_task_for_each_way_in_which_it_is_run(v4: Path, read: Read) -> None:
    tasks = read(v4)
    assert Counter(task.subtask for task in tasks.values()) == {
        "simple_python": 2,
        "simple_java": 1,
        "simple_javascript": 1,
        "multi_turn_base": 1,
        "memory_kv": 2,
        "memory_vector": 2,
        "memory_rec_sum": 2,
        "web_search_base": 1,
        "web_search_no_snippet": 1,
    }
    task = tasks["memory_kv_1-sailor-1"]
    assert (task.native_id, task.cluster) == ("memory_1-sailor-1", "memory/1-sailor-1")
    assert tasks["memory_vector_1-sailor-1"].cluster == task.cluster


def test_a_memory_task(v4: Path, read: Read) -> None:
    tasks = read(v4)
    task = tasks["memory_kv_1-sailor-1"]
    assert [(tool.group, tool.name) for tool in task.environment.tools] == [("MemoryAPI_kv", "core_memory_add")]
    assert task.environment.state_name == "bfcl_eval/data/memory_prereq_conversation/memory_sailor.json"
    assert task.environment.state[0]["topic"] == "The boat"
    assert task.environment is tasks["memory_kv_0-sailor-0"].environment
    assert task.ground_truth.answers == ("Port Merrow", "Merrow")
    assert (task.ground_truth.semantics, task.ground_truth.call_matching) == ("none", "none")
    (check,) = task.evaluation.checks
    assert (check.kind, check.scored, check.pointer) == ("output_substring", True, "/ground_truth/answers")
    assert check.expected == ["Port Merrow", "Merrow"]
    assert task.traits == {"redundant_calls_free"}
    assert task.metadata["scenario"] == "sailor"
    assert task.metadata["answer"] == {"source": "It lies in Port Merrow."}
    assert task.origins["/ground_truth/answers"].line == 2


def test_a_web_search_task(v4: Path, read: Read) -> None:
    tasks = read(v4)
    base, bare = tasks["web_search_base_0"], tasks["web_search_no_snippet_0"]
    assert base.initial_state == {"WebSearchAPI": {"show_snippet": True}}
    assert bare.initial_state == {"WebSearchAPI": {"show_snippet": False}}
    assert base.cluster == bare.cluster == "web_search/0"
    assert base.metadata["answer"]["num_hops"] == 1


def test_lists_of_ids_are_metadata_not_tasks(v4: Path, read: Read) -> None:
    tasks = read(v4)
    marked = [task.id for task in tasks.values() if task.metadata.get("format_sensitivity")]
    assert marked == ["simple_python_1"]
    assert tasks["multi_turn_base_0"].metadata["excluded_function"] == ["delete_message"]
