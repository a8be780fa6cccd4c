"""Leaderboards that say how sure they are.

Scores on the same and on different tasks, with ranks.
"""

import numpy as np
import pytest

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    clustered_mean,
    compare_pairs,
    effective_wilson,
    rank_sets,
    top_unchanged,
)
from agenthard.reports.cleaning.counted_scores import CountedScores, lead_in_resamples
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.leaderboard import Board, make_board
from agenthard.reports.cleaning.splits import split_id
from agenthard.reports.cleaning.summary import board_cells
from agenthard.reports.cleaning.ties import shared_ranks

SETTINGS = AnalysisSettings(resamples=200)


def board(matrix: ScoreMatrix, failures: ScoreMatrix | None = None) -> Board:
    scores, other = CountedScores.on_all(matrix), CountedScores.on_all(failures or matrix)
    return make_board("initial", matrix.tasks, scores, other, matrix, None, SETTINGS)


def test_infrastructure_errors_are_left_out_and_the_other_reading_is_shown_too() -> None:
    tasks = [f"t{i}" for i in range(4)]
    missing = ScoreMatrix.from_array([[1, 1, 1, None], [1, 1, 0, 1]], ["a", "b"], tasks)
    failures = ScoreMatrix.from_array([[1, 1, 1, 0], [1, 1, 0, 1]], ["a", "b"], tasks)
    found = board(missing, failures)
    assert (found.n, found.complete, found.split_id) == (4, 3, split_id(tasks))
    first, second = found.rows
    # On t0 to t2: a 3/3, b 2/3. With errors as failures on all four: a 3/4, b 3/4, a first as before.
    assert (first.model, first.rank, first.passed, first.runs, first.tasks, first.of) == ("a", 1, 3, 3, 3, 4)
    assert (second.model, second.rank, second.passed, second.runs) == ("b", 2, 2, 3)
    values = [row.errors_as_failures.value for row in found.rows if isinstance(row.errors_as_failures, Estimate)]
    assert values == [0.75, 0.75]
    assert [row.rank_errors_as_failures for row in found.rows] == [1, 2]


def test_models_that_no_test_separates_are_tied_and_the_worst_stands_alone() -> None:
    # a passes 20 of 20, b 18, c 2. a and b differ on 2 tasks: p = 2 · 1/4 = .5. c differs from both on 16 or more.
    rows = [[1] * 20, [0] * 2 + [1] * 18, [1] * 2 + [0] * 18]
    found = board(ScoreMatrix.from_array(rows, ["a", "b", "c"], [f"t{i}" for i in range(20)]))
    assert found.tied_sets == (("a", "b"), ("c",))
    assert [row.tied_with for row in found.rows] == [("b",), ("a",), ()]
    assert isinstance(found.paired_separability, Estimate)
    assert round(found.paired_separability.value, 6) == round(100 * 2 / 3, 6)
    assert "exact McNemar" in found.method


def test_repeated_runs_use_the_bootstrap_and_name_it() -> None:
    base = ScoreMatrix.from_array([[1, 1, 0, 1], [0, 0, 1, 0]], ["a", "b"], [f"t{i}" for i in range(4)])
    twice = ScoreMatrix(base.models, base.tasks, base.passed * 2, base.runs * 2, base.lost, base.reasons)
    found = board(twice)
    assert found.rows[0].passed == 6 and found.rows[0].runs == 8 and found.rows[0].tasks == 4
    assert "paired bootstrap, 20,000 resamples" in found.method and "repeated runs of a task" in found.method


def test_one_model_all_pass_and_no_complete_task_are_named_not_numbered() -> None:
    one = board(ScoreMatrix.from_array([[1, 0]], ["a"], ["t0", "t1"]))
    assert one.rows[0].rank == 1 and isinstance(one.rows[0].rank_interval, Undefined)
    assert isinstance(one.tied_sets, Undefined) and "1 model(s)" in one.tied_sets.reason
    every = board(ScoreMatrix.from_array([[1, 1], [1, 1]], ["a", "b"], ["t0", "t1"]))
    assert isinstance(every.top_unchanged, Undefined) and "every scored run passes" in every.top_unchanged.reason
    none = board(ScoreMatrix.from_array([[1, None], [None, 1]], ["a", "b"], ["t0", "t1"]))
    assert none.complete == 0
    assert [row.rank for row in none.rows] == [None, None]
    assert all(isinstance(row.score, Undefined) for row in none.rows)


def test_equal_scores_share_a_range_of_ranks_wherever_ranks_are_written() -> None:
    # a and b have equal outcomes, d and e equal scores on different tasks.
    rows = [[1] * 9 + [0], [1] * 9 + [0], [1] * 6 + [0] * 4, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0] * 8 + [1, 1]]
    found = board(ScoreMatrix.from_array(rows, list("abcde"), [f"t{i}" for i in range(10)]))
    assert shared_ranks(found) == {"a": "1–2", "b": "1–2", "c": "3", "d": "4–5", "e": "4–5"}
    assert [row[:2] for row in board_cells(found)[:3]] == [("1–2", "a"), ("1–2", "b"), ("3", "c")]
    first, second = found.rows[:2]
    assert isinstance(first.rank_interval, Estimate) and isinstance(second.rank_interval, Estimate)
    assert (first.rank_interval.low, first.rank_interval.high) == (second.rank_interval.low, second.rank_interval.high)


def test_the_resamples_of_a_board_are_those_that_its_tests_drew() -> None:
    rng = np.random.default_rng(0)
    models, tasks = [f"m{i}" for i in range(36)], [f"t{i}" for i in range(12)]
    base = ScoreMatrix.from_array((rng.random((36, 12)) < 0.5).astype(int), models, tasks)
    found = board(ScoreMatrix(base.models, base.tasks, base.passed * 2, base.runs * 2, base.lost, base.reasons))
    # 36 · 35 / 0.05 resamples, so that the smallest p-value is below 0.05 after Holm's correction of 630 pairs.
    assert "paired bootstrap, 25,200 resamples" in found.method and not isinstance(found.tied_sets, Undefined)


RANK_SETTINGS = AnalysisSettings(resamples=300, seed=3)


@pytest.fixture
def matrix() -> ScoreMatrix:
    rng = np.random.default_rng(1)
    values = (rng.random((5, 40)) < np.array([[0.8], [0.7], [0.6], [0.5], [0.2]])).astype(int)
    return ScoreMatrix.from_array(values, list("abcde"), [f"t{i}" for i in range(40)])


def test_on_equal_tasks_the_lead_is_that_of_the_statistics(matrix: ScoreMatrix) -> None:
    top = lead_in_resamples(CountedScores.on_all(matrix), None, RANK_SETTINGS)
    oracle = top_unchanged(matrix, resamples=300, seed=3)
    assert isinstance(oracle, Estimate) and isinstance(top, Estimate) and top.value == oracle.value
    clusters = {task: f"c{i // 4}" for i, task in enumerate(matrix.tasks)}
    clustered = lead_in_resamples(CountedScores.on_all(matrix), clusters, RANK_SETTINGS)
    oracle = top_unchanged(matrix, resamples=300, seed=3, clusters=[clusters[t] for t in matrix.tasks])
    assert isinstance(oracle, Estimate) and isinstance(clustered, Estimate) and clustered.value == oracle.value


def test_ranges_of_ranks_are_what_the_tests_support(matrix: ScoreMatrix) -> None:
    found = board(matrix)
    pairs = compare_pairs(matrix)
    assert not isinstance(pairs, Undefined)
    expected = rank_sets(matrix.scores(), pairs)
    assert {row.model: row.rank_interval for row in found.rows} == expected
    assert not isinstance(found.differences, Undefined)
    first, second, third = (row.model for row in found.rows[:3])
    named = [(row.first, row.second) for row in found.differences[:3]]
    assert named == [(first, second), (first, third), (second, third)]


def test_identical_models_share_a_range() -> None:
    twins = ScoreMatrix.from_array([[1] * 30 + [0] * 10] * 2 + [[0] * 40], list("abc"), [f"t{i}" for i in range(40)])
    rows = board(twins).rows
    assert [(row.model, row.rank_interval.low, row.rank_interval.high) for row in rows] == [  # type: ignore[union-attr]
        ("a", 1, 2),
        ("b", 1, 2),
        ("c", 3, 3),
    ]


def test_each_model_is_scored_on_its_own_tasks_that_every_model_has_a_verdict_on() -> None:
    # t3 has no verdict of b, so it does not count.
    matrix = ScoreMatrix.from_array([[1, 0, 1, 1], [0, 1, 1, None]], ["a", "b"], ["t0", "t1", "t2", "t3"])
    counted = CountedScores.on_own_tasks(matrix, {"a": ("t0", "t1", "t3"), "b": ("t1", "t2")})
    # a: t0 passed, t1 failed = 1/2; b: t1 and t2 passed = 2/2.
    assert counted.scores() == {"a": 0.5, "b": 1.0}
    assert [counted.estimate(row, None, 0.95).n for row in (0, 1)] == [2, 2]
    found = lead_in_resamples(counted, None, RANK_SETTINGS)
    assert isinstance(found, Estimate) and found.method.endswith("led by b, ties in part")


def test_a_model_without_a_task_leaves_no_ranking() -> None:
    matrix = ScoreMatrix.from_array([[1, 0], [0, 1]], ["a", "b"], ["t0", "t1"])
    counted = CountedScores.on_own_tasks(matrix, {"a": ("t0",), "b": ()})
    assert counted.scores() == {}
    assert isinstance(lead_in_resamples(counted, None, RANK_SETTINGS), Undefined)
    assert isinstance(counted.estimate(1, None, 0.95), Undefined)


def test_intervals_are_wilson_for_single_runs_and_clustered_otherwise() -> None:
    matrix = ScoreMatrix.from_array([[1, 1, 0, 0], [1, 0, 0, 0]], ["a", "b"], ["t0", "t1", "t2", "t3"])
    counted = CountedScores.on_all(matrix)
    single = counted.estimate(0, None, 0.95)
    assert isinstance(single, Estimate) and single.method == "Wilson interval"
    # Wilson for 2 of 4: centre (p + z²/2n)/(1 + z²/n) = 0.5, half width z sqrt(pq/n + z²/4n²)/(1 + z²/n).
    z2 = 1.959963984540054**2
    half = (z2 * (0.25 / 4 + z2 / 64)) ** 0.5 / (1 + z2 / 4)
    assert single.low == pytest.approx(0.5 - half, abs=1e-9) and single.high == pytest.approx(0.5 + half, abs=1e-9)
    clusters = {"t0": "x", "t1": "x", "t2": "y", "t3": "z"}
    clustered, oracle = counted.estimate(0, clusters, 0.95), clustered_mean([1, 1, 0, 0], list("xxyz"))
    assert isinstance(clustered, Estimate) and isinstance(oracle, Estimate) and oracle.standard_error
    ends = effective_wilson(0.5, 0.25 / oracle.standard_error**2)
    assert (clustered.low, clustered.high) == (pytest.approx(ends[0]), pytest.approx(ends[1]))


def test_a_score_without_spread_counts_each_cluster_once() -> None:
    matrix = ScoreMatrix.from_array([[1, 1], [1, 0]], ["a", "b"], ["t0", "t1"])
    score = CountedScores.on_all(matrix).estimate(0, {"t0": "x", "t1": "y"}, 0.95)
    assert isinstance(score, Estimate) and score.value == 1.0
    assert (score.low, score.high) == (pytest.approx(effective_wilson(1.0, 2)[0]), 1.0)


def test_shared_first_place_has_no_leader() -> None:
    matrix = ScoreMatrix.from_array([[1, 0, 0], [0, 1, 0], [0, 0, 0]], ["a", "b", "c"], ["t0", "t1", "t2"])
    found = lead_in_resamples(CountedScores.on_all(matrix), None, RANK_SETTINGS)
    assert isinstance(found, Undefined) and "2 models share first place: a, b" in found.reason
