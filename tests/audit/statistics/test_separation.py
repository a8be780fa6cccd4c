""" """

from collections.abc import Callable
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import binom, norm

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    arena_hard_separability,
    detectable_difference,
    minimum_detectable_difference,
    model_agreement,
    score_intervals,
    separability,
    share_of_disjoint_intervals,
)
from agenthard.audit.statistics.resampling import all_bootstrap_means
from agenthard.audit.statistics.separation import binomial_ends

Build = Callable[[ArrayLike], ScoreMatrix]


def value(result: object) -> float:
    assert isinstance(result, Estimate)
    return result.value


def test_four_identical_models_are_not_separated(matrix: Build) -> None:
    # de-duplicating equal intervals, as a released implementation does, gives 0.833 here
    m = matrix([[1, 0, 1, 1, 0, 1, 0, 1, 1, 0]] * 4)
    assert value(separability(m)) == 0
    assert value(arena_hard_separability(m)) == 0


def test_models_far_apart_are_separated(matrix: Build) -> None:
    good, bad = [1] * 95 + [0] * 5, [0] * 95 + [1] * 5
    assert value(separability(matrix([good, bad]))) == 100
    assert value(separability(matrix([good, bad, bad]))) == pytest.approx(200 / 3, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=8))
def test_pairs_of_intervals_are_counted(ends: list[tuple[int, int]]) -> None:
    intervals = [(min(pair) / 20, max(pair) / 20) for pair in ends]
    expected = [a[1] < b[0] or b[1] < a[0] for a, b in combinations(intervals, 2)]
    result = share_of_disjoint_intervals([low for low, _ in intervals], [high for _, high in intervals])
    assert result == pytest.approx(100 * np.mean(expected), abs=1e-9)


def test_intervals_are_those_of_the_binomial(leveled: ScoreMatrix) -> None:
    # k resampled passes of a model with p passes of n are binomial(n, p), so B → ∞ gives its quantiles / n
    n = len(leveled.tasks)
    intervals = score_intervals(leveled)
    assert not isinstance(intervals, Undefined)
    means = all_bootstrap_means(leveled.values.T, resamples=20_000, seed=1)
    for row, (model, estimate) in enumerate(intervals.items()):
        p = leveled.scores()[model]
        assert estimate.value == p
        assert (estimate.low, estimate.high) == (binom.ppf(0.025, n, p) / n, binom.ppf(0.975, n, p) / n)
        assert estimate.standard_error == pytest.approx(means[:, row].std(), rel=0.02)
        assert estimate.low == pytest.approx(np.quantile(means[:, row], 0.025), abs=1.01 / n)


@pytest.mark.parametrize("n", [1, 2, 7, 165, 1700])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_binomial_ends_are_scipys_quantiles(n: int, level: float) -> None:
    passed = np.arange(n + 1)
    low, high = binomial_ends(passed, n, level)
    assert np.array_equal(low, np.maximum(binom.ppf((1 - level) / 2, n, passed / n), 0) / n)
    assert np.array_equal(high, binom.ppf(1 - (1 - level) / 2, n, passed / n) / n)


def test_the_arena_hard_mode_has_narrower_intervals_of_another_level(leveled: ScoreMatrix) -> None:
    parity = arena_hard_separability(leveled)
    assert isinstance(parity, Estimate)
    assert parity.level == 0.90
    assert parity.value >= value(separability(leveled))
    n, scores = len(leveled.tasks), list(leveled.scores().values())
    ends = [(binom.ppf(0.05, n, p) / n, binom.ppf(0.95, n, p) / n) for p in scores]
    ideal = share_of_disjoint_intervals([low for low, _ in ends], [high for _, high in ends])
    repeated = np.mean([value(arena_hard_separability(leveled, seed=seed)) for seed in range(40)])
    assert repeated == pytest.approx(ideal, abs=8)


def test_separability_does_not_depend_on_the_order_of_models(leveled: ScoreMatrix) -> None:
    backwards = ScoreMatrix(
        leveled.models[::-1], leveled.tasks, leveled.passed[::-1].copy(), leveled.runs, leveled.lost, leveled.reasons
    )
    assert value(separability(leveled)) == value(separability(backwards))


def test_clusters_widen_the_intervals(matrix: Build) -> None:
    rng = np.random.default_rng(5)
    once = (rng.random((3, 25)) < np.array([[0.3], [0.5], [0.7]])).astype(int)
    m = matrix(np.repeat(once, 4, axis=1))
    clusters = [f"base{i // 4:02d}" for i in range(100)]
    alone, clustered = score_intervals(m), score_intervals(m, clusters=clusters)
    base = score_intervals(matrix(once))
    assert not isinstance(alone, Undefined) and not isinstance(clustered, Undefined) and not isinstance(base, Undefined)
    for model in m.models:
        a, c, b = alone[model], clustered[model], base[model]
        assert a.standard_error and c.standard_error and b.standard_error
        # four clones of each task hold the information of one
        assert c.standard_error == pytest.approx(b.standard_error, rel=0.1)
        assert c.standard_error == pytest.approx(2 * a.standard_error, rel=0.1)


def test_tasks_with_a_gap_are_left_out_and_counted(matrix: Build) -> None:
    result = separability(matrix([[1, 0, 1, None], [0, 0, 1, 1]]))
    assert isinstance(result, Estimate)
    assert (result.n, result.of) == (3, 4)


def test_a_seed_reproduces_the_result(leveled: ScoreMatrix) -> None:
    clusters = [f"c{i // 3}" for i in range(len(leveled.tasks))]
    first, again = (separability(leveled, seed=3, clusters=clusters) for _ in range(2))
    assert first == again
    intervals, others = (score_intervals(leveled, seed=seed, clusters=clusters) for seed in (3, 4))
    assert intervals != others
    # Single runs of independent tasks need no seed.
    assert separability(leveled, seed=3) == separability(leveled, seed=4)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_is_a_share(leveled: ScoreMatrix, level: float) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        separability(leveled, level=level)


@pytest.mark.parametrize(("n", "points"), [(50, 23), (89, 17), (165, 13), (278, 10), (800, 6)])
def test_the_published_table(n: int, points: int) -> None:
    result = detectable_difference(n, 0.66)
    assert isinstance(result, Estimate)
    assert round(100 * result.value) == points
    assert result.value == pytest.approx(2.8 * sqrt(0.34 / n), abs=1e-12)


def test_the_factor_is_95_percent_confidence_and_80_percent_power() -> None:
    assert norm.ppf(0.975) + norm.ppf(0.8) == pytest.approx(2.8, abs=0.005)


def test_a_matrix_uses_its_own_agreement(leveled: ScoreMatrix) -> None:
    result, agreement = minimum_detectable_difference(leveled), model_agreement(leveled)
    assert isinstance(result, Estimate) and isinstance(agreement, Estimate)
    assert result.value == pytest.approx(2.8 * sqrt((1 - agreement.value) / 120), abs=1e-12)


def test_several_runs_leave_the_variance_of_the_difference() -> None:
    runs, none = np.full((2, 2), 4, np.int32), np.zeros((2, 2), np.int32)
    m = ScoreMatrix(("a", "b"), ("s", "t"), np.array([[4, 2], [3, 2]], np.int32), runs, none, none.astype(np.int8))
    result = minimum_detectable_difference(m)
    # mean squared difference: (1/16 + 0)/2
    assert isinstance(result, Estimate) and result.value == pytest.approx(2.8 * sqrt(1 / 32 / 2), abs=1e-12)


def test_nothing_to_detect(matrix: Build) -> None:
    same = minimum_detectable_difference(matrix([[1, 0, 1]] * 3))
    assert isinstance(same, Undefined) and "agree on all tasks" in same.reason
    assert isinstance(detectable_difference(50, 1.0), Undefined)
    assert isinstance(detectable_difference(1, 0.5), Undefined)
    with pytest.raises(ValueError, match="lies in 0..1"):
        detectable_difference(50, 66)
