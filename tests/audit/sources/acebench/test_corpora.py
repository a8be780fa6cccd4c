from collections import Counter
from pathlib import Path

import pytest

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import AgentTask
from agenthard.taxonomy.finding import Severity

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def root(corpora: Path) -> Path:
    return corpora / "acebench_2025-02-26"


@pytest.fixture(scope="module")
def tasks(root: Path) -> dict[str, AgentTask]:
    quarantine = Quarantine()
    found = {task.id: task for task in AceBench(root).tasks(quarantine)}
    assert quarantine.items == []
    return found


def test_all_tasks_are_read(tasks: dict[str, AgentTask]) -> None:
    assert len(tasks) == 1023
    families = Counter(task.subtask.partition("_")[0] for task in tasks.values())
    assert families == {"normal": 823, "special": 150, "agent": 50}


def test_every_readable_gold_call_names_a_tool(tasks: dict[str, AgentTask]) -> None:
    calls = [(task, call) for task in tasks.values() for _, call in task.gold_calls()]
    assert [task.id for task, call in calls if call.name and task.tool(call.name) is None] == []
    unreadable = [task.id for task, call in calls if not call.name]
    assert len(unreadable) == 14 and all(task_id.startswith("agent_") for task_id in unreadable)


def test_special_tasks_give_no_schema_finding(tasks: dict[str, AgentTask]) -> None:
    check = CallSchema()
    hits = [(task, hit) for task in tasks.values() if check.not_applicable(task) is None for hit in check.inspect(task)]
    assert not [task.id for task, _ in hits if task.subtask.startswith("special_")]
    assert len([task for task, _ in hits if task.subtask.startswith("normal_")]) == 12
    assert {hit.severity for task, hit in hits if task.subtask.startswith("agent_")} == {Severity.MAY_AFFECT_SCORE}


def test_a_full_split_is_the_benchmark(root: Path, tasks: dict[str, AgentTask], tmp_path: Path) -> None:
    written = AceBench(root).write_split(list(tasks), tmp_path)
    assert len(written) == 34
    for path in written:
        original = (root / "data_all" / "data_en" / path.relative_to(tmp_path)).read_bytes()
        assert path.read_bytes().rstrip(b"\n") == original.rstrip(b"\n")
