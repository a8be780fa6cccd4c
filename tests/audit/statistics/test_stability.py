from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined, rank_intervals, top_unchanged

Build = Callable[[ArrayLike], ScoreMatrix]


def test_clear_ranks_do_not_move(matrix: Build) -> None:
    m = matrix([[0] * 30 + [1] * 10, [1] * 40, [1] * 25 + [0] * 15])
    ranks = rank_intervals(m, level=0.9)
    assert not isinstance(ranks, Undefined)
    assert list(ranks) == ["m1", "m2", "m0"]
    assert [estimate.value for estimate in ranks.values()] == [1, 2, 3]
    first = ranks["m1"]
    assert (first.low, first.high, first.level, first.n) == (1, 1, 0.9, 40)


def test_equal_models_keep_their_order_and_their_rank(matrix: Build) -> None:
    ranks = rank_intervals(matrix([[1, 0, 1, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 1, 1]]))
    assert not isinstance(ranks, Undefined)
    assert [(e.low, e.value, e.high) for e in ranks.values()] == [(1, 1, 3), (1, 2, 2), (2, 3, 3)]


def test_the_chance_of_a_new_leader_by_enumeration(matrix: Build) -> None:
    # m0 passes t0, t1; m1 passes t2. Of 27 resamples of 3 tasks, m1 leads where t2 is drawn twice (6) or thrice (1).
    result = top_unchanged(matrix([[1, 1, 0], [0, 0, 1]]), resamples=40_000)
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(20 / 27, abs=4 * np.sqrt(20 * 7 / 27**2 / 40_000))


def test_a_shared_lead_is_undefined(matrix: Build) -> None:
    result = top_unchanged(matrix([[1, 1, 0], [1, 0, 1], [0, 0, 1]]))
    assert isinstance(result, Undefined) and "share first place: m0, m1" in result.reason


def test_models_that_all_tie_have_no_ranks(matrix: Build) -> None:
    for statistic in (rank_intervals, top_unchanged):
        result = statistic(matrix([[1, 0], [0, 1]]))
        assert isinstance(result, Undefined) and "same initial score" in result.reason


def test_intervals_contain_the_rank_and_narrow_with_the_level(leveled: ScoreMatrix) -> None:
    wide, narrow = rank_intervals(leveled), rank_intervals(leveled, level=0.5)
    assert not isinstance(wide, Undefined) and not isinstance(narrow, Undefined)
    for model, outer in wide.items():
        inner = narrow[model]
        assert outer.low is not None and inner.low is not None and outer.high is not None and inner.high is not None
        assert outer.low <= inner.low <= inner.value <= inner.high <= outer.high
