from collections import Counter
from pathlib import Path

import pytest

from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import Trajectory

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def source(corpora: Path) -> AgencyBench:
    return AgencyBench(corpora / "agencybench")


@pytest.fixture(scope="module")
def runs(source: AgencyBench) -> list[Trajectory]:
    quarantine = Quarantine()
    found = list(source.runs(source.root, quarantine))
    assert quarantine.items == []
    return found


def test_all_tasks_are_read(source: AgencyBench) -> None:
    quarantine = Quarantine()
    tasks = list(source.tasks(quarantine))
    assert quarantine.items == []
    assert len(tasks) == 138 and len({task.cluster for task in tasks}) == 32
    assert Counter(task.subtask for task in tasks) == {
        "Game": 50,
        "Code": 29,
        "Research": 19,
        "Backend": 15,
        "Frontend": 15,
        "MCP": 10,
    }
    unstated = {task.id for task in tasks if not task.metadata["criteria"]}
    assert unstated == {f"Code/scenario{number}/subtask1" for number in (2, 3, 6, 7)}


def test_the_released_run(runs: list[Trajectory]) -> None:
    assert len(runs) == 214
    assert Counter(run.model for run in runs) == {"claude-4.5-opus": 204, "claude-4.5-sonnet": 10}
    assert Counter(run.status for run in runs) == {
        "ok": 107,
        "agent_error": 95,
        "infrastructure_error": 11,
        "judge_error": 1,
    }


def test_the_published_figures_are_reproduced(source: AgencyBench, runs: list[Trajectory]) -> None:
    scores, measures, idle = source.figures(runs)
    last = {row[0]: row[3] for row in scores.rows}
    assert last == {
        "Backend": "46.2",
        "Code": "22.7",
        "Frontend": "49.3",
        "Game": "52.9",
        "MCP": "100.0",
        "Research": "72.1",
        "all": "49.4",
    }
    values = dict(measures.rows)
    assert values["Pass@1 by scenario, last attempt"] == "5/32 (15.6%)"
    assert values["Pass@2 by scenario, last attempt"] == "9/32 (28.1%)"
    assert values["Att, mean over scenarios"] == "1.525"
    assert values["Att, all attempts by all tasks"] == "1.551 (214 by 138)"
    assert values["Pass@1 by task that every judge passes, all tasks"] == "61/138 (44.2%)"
    total = dict(zip(idle.columns, idle.rows[6], strict=True))
    assert total == {
        "where": "all",
        "attempts": "214",
        "dead": "95",
        "share": "44%",
        "no reply": "4",
        "no call": "57",
        "one look, then the end": "32",
        "no changed line": "2",
        "one other call, then the end": "6",
        "infrastructure": "11",
        "judge": "1",
        "tasks with no live attempt": "39 of 138",
    }


@pytest.mark.parametrize(
    ("run", "asked"),
    [("Code/scenario5/subtask5#1", "write_file("), ("Research/scenario1/subtask5#2", "write_file(")],
)
def test_an_attempt_that_wrote_a_whole_file_is_not_dead(runs: list[Trajectory], run: str, asked: str) -> None:
    (found,) = [each for each in runs if each.id == f"claude/{run}"]
    assert found.status == "ok" and [message.role for message in found.messages][-2:] == ["assistant", "tool"]
    assert asked in found.messages[-2].content and "fileDiff" in found.messages[-1].content
