import pytest

from agenthard.audit.leaderboard import ModelRow, leaderboard
from agenthard.audit.statistics.intervals import clustered_wilson, wilson
from agenthard.taxonomy import Trajectory
from tests.builders import make_run


def rows(*runs: Trajectory) -> list[ModelRow]:
    return leaderboard(runs)


def test_both_readings_of_infrastructure_errors() -> None:
    (row,) = rows(make_run("a"), make_run("b", passed=False), make_run("c", passed=None))
    # 1 of 2 when the error is left out, 1 of 3 when it counts as a failure
    assert (row.runs, row.tasks, row.passed, row.infrastructure_errors) == (3, 3, 1, 1)
    assert (row.accuracy, row.accuracy_counting_errors) == (0.5, pytest.approx(1 / 3))
    assert (row.low, row.high) == wilson(1, 2)


def test_a_model_that_only_crashed_has_no_accuracy() -> None:
    (row,) = rows(make_run("a", passed=None))
    assert (row.accuracy, row.low, row.high, row.accuracy_counting_errors) == (None, None, None, 0.0)


def test_a_run_without_a_verdict_that_nothing_broke_is_no_infrastructure_error() -> None:
    path = make_run("a", "recorded path", passed=None).model_copy(update={"status": "ok", "status_reason": ""})
    assert rows(path) == []
    (row,) = rows(path, make_run("b", "recorded path"), make_run("c", "recorded path", passed=None))
    assert (row.runs, row.unscored, row.infrastructure_errors) == (3, 1, 1)
    assert (row.accuracy, row.accuracy_counting_errors) == (1.0, 0.5)


def test_repetitions_of_a_task_do_not_narrow_the_interval() -> None:
    runs = [make_run(task, passed=task in "ab", trial=k) for task in "abcd" for k in range(10)]
    (row,) = rows(*runs)
    # All ten trials of a task agree, so 40 runs say no more than about 4 tasks.
    # V = 4/3 * 4 * 25 / 1600 = 1/12, and 0.25 / (1/12) = 3 effective trials
    assert (row.low, row.high) == clustered_wilson([(10, 10), (10, 10), (0, 10), (0, 10)])
    assert row.low is not None and row.low < wilson(2, 4)[0] < wilson(20, 40)[0]


def test_experiments_are_kept_apart_and_the_best_comes_first() -> None:
    board = rows(
        make_run("a", "m1", protocol="x", passed=False),
        make_run("a", "m2", protocol="x"),
        make_run("a", "m1", protocol="y"),
    )
    assert [(row.protocol, row.model) for row in board] == [("x", "m2"), ("x", "m1"), ("y", "m1")]


def test_clusters_of_one_trial_give_nearly_the_plain_interval() -> None:
    clusters = [(1, 1)] * 30 + [(0, 1)] * 70
    assert clustered_wilson(clusters) == pytest.approx(wilson(30, 100), abs=2e-3)
    assert clustered_wilson([]) == (0.0, 1.0)
