"""Leaderboards that say how sure they are."""

from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined
from agenthard.reports.cleaning.boards import Board, make_board
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.ranking import CountedScores
from agenthard.reports.cleaning.splits import split_id

SETTINGS = AnalysisSettings(resamples=200)


def board(matrix: ScoreMatrix, failures: ScoreMatrix | None = None) -> Board:
    scores, other = CountedScores.on_all(matrix), CountedScores.on_all(failures or matrix)
    return make_board("initial", matrix.tasks, scores, other, matrix, None, SETTINGS)


def test_infrastructure_errors_are_left_out_and_the_other_reading_stands_beside() -> None:
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
