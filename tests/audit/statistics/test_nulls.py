from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from agenthard.audit.statistics import (
    DifferentModelsError,
    Estimate,
    MatrixError,
    NullDistribution,
    Result,
    ScoreMatrix,
    Undefined,
    average_rank_shift,
    kendall_tau_b,
    matrix_null,
    model_agreement,
    random_subset_null,
    rank_change_nulls,
    rank_moves,
    ranking_change_rate,
    separability,
)
from agenthard.audit.statistics.separation import indistinguishable_models
from agenthard.audit.statistics.subsets import matching_subsets, plain_subsets

Build = Callable[[ArrayLike], ScoreMatrix]


def count_low(positions: np.ndarray) -> Result:
    return Estimate(value=float((positions < 5).sum()), n=4, of=4, unit="items", method="items below 5")


def test_the_null_is_a_distribution() -> None:
    observed = Estimate(value=4, n=4, of=4, unit="items", method="")
    null = random_subset_null(count_low, total=10, keep=4, draws=4000, seed=1, observed=observed)
    assert isinstance(null, NullDistribution)
    # hypergeometric: mean 4 · 5/10; P(X = 4) = 5/210, P(X = 0) the same, so 5–95 % is 1..3
    assert null.mean == pytest.approx(2, abs=0.06)
    assert (null.low, null.high, null.draws, null.of_draws, null.n, null.of) == (1, 3, 4000, 4000, 4, 10)
    # percentile: P(X < 4) + P(X = 4)/2 = 1 − 5/420
    assert null.percentile == pytest.approx(100 * (1 - 5 / 420), abs=0.6)
    # P(X ≥ 4) = 5/210, twice for two tails
    assert null.p is not None and null.p.p == pytest.approx(10 / 210, abs=0.015)
    assert null.p.low <= 10 / 210 <= null.p.high


def test_without_an_observed_value_there_is_no_percentile() -> None:
    null = random_subset_null(count_low, total=10, keep=4)
    assert isinstance(null, NullDistribution)
    assert (null.percentile, null.p, len(null.values)) == (None, None, 200)


def test_one_draw_is_no_null() -> None:
    with pytest.raises(ValueError, match="at least 200 draws, got 1"):
        random_subset_null(count_low, total=10, keep=4, draws=1)


@pytest.mark.parametrize("keep", [0, 10, 11])
def test_a_subset_of_everything_or_nothing_is_undefined(keep: int) -> None:
    result = random_subset_null(count_low, total=10, keep=keep)
    assert isinstance(result, Undefined) and "leaves nothing to chance" in result.reason


def test_undefined_draws_are_left_out_and_counted(matrix: Build) -> None:
    # of 3 tasks, 2 kept: {t1, t2} is all-pass, which is one draw in three
    m = matrix([[1, 1, 1], [0, 1, 1]])
    null = matrix_null(m, model_agreement, keep=2, draws=300)
    assert isinstance(null, NullDistribution)
    assert null.of_draws == 300 and 150 < null.draws < 250
    assert set(null.values) == {0.5}
    never = matrix_null(matrix([[1, 1, 1], [1, 1, 1]]), model_agreement, keep=2)
    assert isinstance(never, Undefined) and "every scored run passes" in never.reason


def test_any_statistic_of_a_matrix_has_a_null(leveled: ScoreMatrix) -> None:
    cleaned = leveled.take(range(80))
    null = matrix_null(leveled, separability, keep=80, observed=separability(cleaned), seed=2)
    assert isinstance(null, NullDistribution)
    rows = plain_subsets(120, 80, draws=200, seed=2).selected
    by_hand = [separability(leveled.take(np.flatnonzero(row))) for row in rows]
    assert list(null.values) == [r.value for r in by_hand if isinstance(r, Estimate)]
    assert null.observed is not None and null.percentile is not None


def test_rank_change_nulls_are_those_of_single_subsets(leveled: ScoreMatrix) -> None:
    cleaned = leveled.take(range(90))
    nulls = rank_change_nulls(leveled, cleaned, draws=200, seed=5)
    assert not isinstance(nulls, Undefined) and isinstance(nulls.kendall_tau_b, NullDistribution)
    before = leveled.scores()
    subsets = matching_subsets(np.arange(120) < 90, draws=200, seed=5)
    for draw, row in enumerate(subsets.selected[:40]):
        after = leveled.take(np.flatnonzero(row)).scores()
        for null, statistic in (
            (nulls.change_rate, ranking_change_rate),
            (nulls.rank_shift, average_rank_shift),
            (nulls.kendall_tau_b, kendall_tau_b),
        ):
            result = statistic(before, after)
            assert isinstance(result, Estimate)
            assert null.values[draw] == pytest.approx(result.value, abs=1e-9)
        close = indistinguishable_models(after)
        assert isinstance(close, Estimate) and nulls.indistinguishable.values[draw] == close.value
        assert nulls.top_changed.values[draw] == float(rank_moves(before, after)[0].shift != 0)
    observed = ranking_change_rate(before, cleaned.scores())
    assert isinstance(observed, Estimate) and nulls.change_rate.observed == observed.value
    assert (nulls.top_changed.low, nulls.top_changed.high) == (None, None)


def test_rank_change_nulls_of_wrong_inputs(leveled: ScoreMatrix, matrix: Build) -> None:
    with pytest.raises(DifferentModelsError):
        rank_change_nulls(leveled, leveled.keep_models(leveled.models[:3]))
    with pytest.raises(MatrixError, match="not in the matrix"):
        rank_change_nulls(leveled.take(range(50)), leveled)
    with pytest.raises(ValueError, match="at least 200"):
        rank_change_nulls(leveled, leveled.take(range(50)), draws=10)
    same = rank_change_nulls(leveled, leveled)
    assert isinstance(same, Undefined) and "120 of 120" in same.reason
    tied = matrix([[1, 0, 0], [0, 1, 0]])
    assert isinstance(rank_change_nulls(tied, tied.take([0, 1])), Undefined)
