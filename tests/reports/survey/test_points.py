"""Points on flawed tasks, with bounds derived by hand."""

import pytest

from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput
from agenthard.reports.leaderboard.boards import score_splits
from agenthard.reports.survey.points import Bounds, ModelPoints, model_points
from tests.reports.cleaning.small import made, runs

FEW = AnalysisSettings(draws=200, resamples=200)


def points(found: CleaningInput) -> dict[str, ModelPoints]:
    rows = model_points(found, score_splits("run", found, ("original", "clean"), FEW))
    assert not isinstance(rows, Undefined)
    return {row.model: row for row in rows}


def near(bounds: Bounds | Undefined, least: float, most: float) -> None:
    assert isinstance(bounds, Bounds)
    assert (bounds.least, bounds.most) == pytest.approx((least, most))


def test_bounds_over_the_tasks_under_review() -> None:
    rows = points(made("kkdr", runs({"m1": "1110", "m2": "1011"})))
    m1, m2 = rows["m1"], rows["m2"]
    assert m1.score == m2.score == 0.75 and (m1.dropped, m1.review, m1.tasks, m1.of) == (1, 1, 4, 4)
    near(m1.won, 1 / 4, 1 / 4)  # it passes the dropped task and fails the one under review
    near(m1.lost, 0, 1 / 4)
    near(m1.share, 1 / 3, 1 / 3)
    near(m1.without, 2 / 3, 1)  # 1 1 0, or 1 1
    near(m2.won, 1 / 4, 2 / 4)
    near(m2.lost, 0, 0)
    near(m2.share, 1 / 3, 2 / 3)
    near(m2.without, 1 / 2, 2 / 3)  # 1 0, or 1 0 1


def test_repeated_runs_count_by_their_share() -> None:
    twice = [*runs({"m1": "11"}), *runs({"m1": "01"}, trial=1), *runs({"m2": "01"}), *runs({"m2": "00"}, trial=1)]
    row = points(made("dk", twice))["m1"]
    assert row.score == 0.75
    near(row.won, 1 / 4, 1 / 4)  # half of its runs on the dropped task passed: (1/2) / 2
    near(row.lost, 1 / 4, 1 / 4)


def test_tasks_without_a_verdict_for_every_ranked_model_do_not_count() -> None:
    rows = points(made("dkkkk", runs({"m1": "x1110", "m2": "11000"})))
    assert {row.tasks for row in rows.values()} == {4} and {row.dropped for row in rows.values()} == {0}
    near(rows["m1"].won, 0, 0)


def test_a_model_that_ran_some_tasks_is_looked_at_on_its_own_and_not_ranked() -> None:
    rows = points(made("dkkk", runs({"m1": "1100", "m2": "0110", "half": "11  "})))
    half = rows["half"]
    assert not half.comparable and "attempted 2 of 4 tasks" in half.reason and half.tasks == 2
    assert half.rank_before is None and half.rank_after is None
    near(half.share, 1 / 2, 1 / 2)
    assert isinstance(rows["m1"].rank_before, Estimate) and rows["m1"].tasks == 4


def test_a_score_of_zero_has_no_share() -> None:
    row = points(made("dk", runs({"m1": "00", "m2": "11"})))["m1"]
    assert isinstance(row.share, Undefined) and "the recorded score is 0" in row.share.reason
    near(row.lost, 1 / 2, 1 / 2)


def test_where_all_counted_tasks_are_flawed_nothing_is_left() -> None:
    row = points(made("dd", runs({"m1": "10", "m2": "11"})))["m1"]
    assert isinstance(row.without, Undefined) and "every task that counts is flawed" in row.without.reason
