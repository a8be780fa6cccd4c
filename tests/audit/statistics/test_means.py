""" """

from itertools import chain, combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agenthard.audit.statistics import (
    Estimate,
    MatrixError,
    ScoreMatrix,
    Undefined,
    clustered_mean,
    paired_difference,
    score_bounds,
)


def test_without_clusters_it_is_the_usual_standard_error() -> None:
    x = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    result = clustered_mean(x)
    assert isinstance(result, Estimate)
    assert result.standard_error == pytest.approx(stats.sem(x), abs=1e-12)
    low, high = stats.t.interval(0.95, 6, loc=np.mean(x), scale=stats.sem(x))
    assert (result.low, result.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_clusters_by_hand() -> None:
    # mean 3/6; deviations sum to a: 1/2 + 1/2 = 1, b: 1/2 − 1/2 = 0, c: −1/2 − 1/2 = −1
    # SE = sqrt(3/2 · (1 + 0 + 1)) / 6 = sqrt(3)/6, t with 2 degrees of freedom
    result = clustered_mean([1, 1, 1, 0, 0, 0], ["a", "a", "b", "b", "c", "c"])
    assert isinstance(result, Estimate)
    assert result.standard_error == pytest.approx(sqrt(3) / 6, abs=1e-12)
    assert result.high == pytest.approx(0.5 + stats.t.ppf(0.975, 2) * sqrt(3) / 6, abs=1e-9)


def test_copies_of_a_value_hold_no_more_information_than_one() -> None:
    once = clustered_mean([0.2, 0.9, 0.5, 0.7])
    copied = clustered_mean([0.2, 0.9, 0.5, 0.7] * 3, ["a", "b", "c", "d"] * 3)
    assert isinstance(once, Estimate) and isinstance(copied, Estimate)
    assert copied.standard_error == pytest.approx(once.standard_error, abs=1e-12)


def test_missing_values_are_left_out() -> None:
    result = clustered_mean([1, None, 0, 1])
    assert isinstance(result, Estimate) and (result.value, result.n, result.of) == (pytest.approx(2 / 3), 3, 4)


@pytest.mark.parametrize(
    ("values", "clusters", "why"),
    [
        ([], None, "needs two"),
        ([1.0], None, "needs two"),
        ([1.0, None], None, "needs two"),
        ([1.0, float("nan")], None, "NaN"),
        ([1.0, 0.0], ["a", "a"], "one cluster"),
        ([1.0, 1.0], None, "all 2 values are equal to 1"),
    ],
)
def test_no_spread_no_standard_error(values: list[float], clusters: list[str] | None, why: str) -> None:
    result = clustered_mean(values, clusters)
    assert isinstance(result, Undefined) and why in result.reason


def test_a_paired_difference_is_a_one_sample_test() -> None:
    x, y = [1, 0, 1, 1, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0, 1, None]
    result = paired_difference(x, y)
    assert isinstance(result, Estimate)
    gaps = np.array(x[:7]) - np.array(y[:7])
    assert (result.value, result.n, result.of) == (pytest.approx(gaps.mean()), 7, 8)
    assert result.standard_error == pytest.approx(stats.sem(gaps), abs=1e-12)
    with pytest.raises(ValueError, match="got 1 and 2"):
        paired_difference([1], [1, 0])


def test_one_cluster_per_value() -> None:
    with pytest.raises(ValueError, match="1 clusters for 2 values"):
        clustered_mean([1, 0], ["a"])


@given(st.lists(st.integers(0, 1), min_size=1, max_size=5), st.lists(st.integers(0, 1), max_size=6))
def test_bounds_are_those_of_all_subsets(sure: list[int], maybe: list[int]) -> None:
    tasks = [f"s{i}" for i in range(len(sure))] + [f"u{i}" for i in range(len(maybe))]
    m = ScoreMatrix.from_array([sure + maybe], ["a"], tasks)
    bounds = score_bounds(m, tasks[len(sure) :])
    assert not isinstance(bounds, Undefined)
    subsets = chain.from_iterable(combinations(maybe, k) for k in range(len(maybe) + 1))
    scores = [np.mean(sure + list(subset)) for subset in subsets]
    assert (bounds[0].least, bounds[0].most) == (pytest.approx(min(scores)), pytest.approx(max(scores)))
    assert bounds[0].kept == pytest.approx(np.mean(sure + maybe))
    assert bounds[0].dropped == pytest.approx(np.mean(sure))


def test_without_decided_tasks_there_are_no_bounds() -> None:
    m = ScoreMatrix.from_array([[1, None], [0, 1]], ["a", "b"], ["u", "t"])
    result = score_bounds(m, ["u"])
    assert isinstance(result, Undefined) and "no decided task" in result.reason
    with pytest.raises(MatrixError):
        score_bounds(m, ["x"])
