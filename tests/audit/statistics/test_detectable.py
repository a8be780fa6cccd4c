from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import norm

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    detectable_difference,
    minimum_detectable_difference,
    model_agreement,
)

Build = Callable[[ArrayLike], ScoreMatrix]


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
