"""When a habit splits by another field of the logs."""

import pytest

from agenthard.audit.detectors.runs import CrashSignature
from agenthard.audit.detectors.runs.label_conflicts import Margins, added, count, label_split
from agenthard.taxonomy import Judgement, Origin
from agenthard.taxonomy.finding import Level
from tests.audit.detectors.runs.conversations import audit
from tests.builders import make_run, make_task


def split(**agents: tuple[int, int]) -> object:
    return label_split({"agent": {name: list(cell) for name, cell in agents.items()}})


def test_it_splits_where_the_habit_is_the_rule_with_some_and_never_seen_with_others() -> None:
    found = split(a=(64, 64), b=(103, 100), c=(311, 0))
    assert found == ("agent", ("a", "b"), ("c",), 164, 167, 311)


@pytest.mark.parametrize(
    "agents",
    [
        {"a": (50, 1), "b": (700, 0)},
        {"a": (50, 50), "b": (700, 1)},
        {"a": (50, 50), "b": (20, 0)},
        {"a": (50, 50)},
        {"a": (50, 0), "b": (50, 0)},
        {"a": (3, 3), "b": (300, 0)},
    ],
    ids=["rare", "also with the other", "too few of the others", "one agent", "nobody", "too few with it"],
)
def test_what_is_no_perfect_split(agents: dict[str, tuple[int, int]]) -> None:
    assert split(**agents) is None


def test_counts_of_tasks_add_up() -> None:
    one: Margins = {}
    count(one, {"agent": "a", "source file": "x"}, True)
    count(one, {"agent": "a", "source file": "y"}, False)
    assert added([one, one]) == {"agent": {"a": [4, 2]}, "source file": {"x": [2, 2], "y": [2, 0]}}


def test_crashes_of_one_file_do_not_blame_the_model() -> None:
    crashed = (Judgement(judge="j", kind="script", reason="TimeoutError"),)
    runs = [
        make_run(trial=i, judgements=crashed if i < 10 else (), origin=Origin(file="a" if i < 10 else "b"))
        for i in range(50)
    ]
    (finding,), _ = audit(CrashSignature(), [make_task()], runs)
    assert finding.level is Level.SUITE
    assert "in 10 of 10 runs whose source file is a, and in none of 40 runs whose source file is b" in finding.claim
