from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike
from sklearn.metrics import cohen_kappa_score

from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined, chance_corrected_agreement, model_agreement

Build = Callable[[ArrayLike], ScoreMatrix]
TABLES = arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(2, 8)), elements=st.integers(0, 1))


def named(values: ArrayLike) -> ScoreMatrix:
    rows, columns = np.asarray(values, dtype=object).shape
    return ScoreMatrix.from_array(values, [f"m{i}" for i in range(rows)], [f"t{i}" for i in range(columns)])


def test_agreement_by_hand(matrix: Build) -> None:
    result = model_agreement(matrix([[1, 1, 0], [1, 0, 0], [0, 1, 1]]))
    # m0–m1: t0, t2 → 2/3; m0–m2: t1 → 1/3; m1–m2: none → 0; mean = 1/3
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(1 / 3, abs=1e-12)
    assert (result.n, result.of, result.unit) == (3, 3, "tasks")


def test_chance_correction_by_hand(matrix: Build) -> None:
    # p = 3/4, q = 1/4, agree on 2 of 4: A = 1/2; A_indep = 2 · 3/16 = 3/8; A_max = 1/2 → (1/8)/(1/8) = 1
    nested = chance_corrected_agreement(matrix([[1, 1, 1, 0], [1, 0, 0, 0]]))
    # the same scores, agree on none: (0 − 3/8)/(1/8) = −3
    apart = chance_corrected_agreement(matrix([[1, 1, 1, 0], [0, 0, 0, 1]]))
    assert isinstance(nested, Estimate) and isinstance(apart, Estimate)
    assert (nested.value, apart.value) == (pytest.approx(1, abs=1e-12), pytest.approx(-3, abs=1e-12))


def test_two_models_of_equal_score_have_cohens_kappa(matrix: Build) -> None:
    x, y = [1, 1, 0, 1, 0, 0, 1, 0], [1, 0, 0, 1, 1, 0, 1, 0]
    result = chance_corrected_agreement(matrix([x, y]))
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(cohen_kappa_score(x, y), abs=1e-12)


@given(TABLES)
def test_agreement_is_the_mean_share_of_equal_outcomes(values: np.ndarray) -> None:
    result = model_agreement(named(values))
    if len(set(values.ravel().tolist())) == 1:
        assert isinstance(result, Undefined)
        return
    assert isinstance(result, Estimate)
    expected = np.mean([(a == b).mean() for a, b in combinations(values, 2)])
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert 0 <= result.value <= 1


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_models_and_tasks_does_not_matter(values: np.ndarray, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffled = rng.permutation(rng.permutation(values, axis=0), axis=1)
    for statistic in (model_agreement, chance_corrected_agreement):
        one, other = statistic(named(values)), statistic(named(shuffled))
        assert type(one) is type(other)
        if isinstance(one, Estimate) and isinstance(other, Estimate):
            assert one.value == pytest.approx(other.value, abs=1e-9)
            assert one.value <= 1 + 1e-9


def test_missing_cells_are_left_out_pair_by_pair(matrix: Build) -> None:
    result = model_agreement(matrix([[1, 1, 0, None], [1, 0, None, None], [0, None, 0, None]]))
    # m0–m1: t0 of t0, t1 → 1/2; m0–m2: t2 of t0, t2 → 1/2; m1–m2: none of t0 → 0; mean 1/3
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(1 / 3, abs=1e-12)
    assert (result.n, result.of) == (3, 4)
    assert "3 of 3 pairs" in result.method and "(5 of 12 comparisons)" in result.method


def test_the_path_with_gaps_agrees_with_the_closed_form(leveled: ScoreMatrix) -> None:
    rows = leveled.passed.astype(object)
    gap = np.full((len(rows), 1), None, dtype=object)
    for statistic in (model_agreement, chance_corrected_agreement):
        closed, gappy = statistic(leveled), statistic(named(np.hstack([rows, gap])))
        assert isinstance(closed, Estimate) and isinstance(gappy, Estimate)
        assert closed.value == pytest.approx(gappy.value, abs=1e-12)


def test_pairs_without_a_common_task(matrix: Build) -> None:
    result = model_agreement(matrix([[1, 0, None], [None, None, 1], [1, 1, None]]))
    assert isinstance(result, Estimate)
    assert result.value == 0.5
    assert "1 of 3 pairs" in result.method
    nothing = model_agreement(matrix([[1, None], [None, 0]]))
    assert isinstance(nothing, Undefined) and "same task" in nothing.reason


def test_repeated_runs_agree_by_chance_of_random_runs() -> None:
    runs = np.full((2, 2), 4, np.int32)
    empty = np.zeros((2, 2), np.int32)
    m = ScoreMatrix(("a", "b"), ("s", "t"), np.array([[4, 2], [3, 2]], np.int32), runs, empty, empty.astype(np.int8))
    result = model_agreement(m)
    # s: 1 · 3/4; t: 1/2 · 1/2 + 1/2 · 1/2 = 1/2; mean = 5/8
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(5 / 8, abs=1e-12)


def test_fixed_agreement_cannot_be_corrected(matrix: Build) -> None:
    result = chance_corrected_agreement(matrix([[1, 1, 1], [1, 0, 0]]))
    assert isinstance(result, Undefined) and "fixed by the scores" in result.reason
