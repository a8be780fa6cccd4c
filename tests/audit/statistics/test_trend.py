"""Spearman's correlation over tasks, against scipy and by hand."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from agenthard.audit.statistics import Estimate, Undefined, rank_trend


def test_two_by_two_by_hand() -> None:
    # factor 0 0 5 5, score 1 1 1 0: mid-ranks 1.5 1.5 3.5 3.5 and 3 3 3 1, each less 2.5.
    # Σxy = (-1)(.5)·2 + (1)(.5) + (1)(-1.5) = -2; Σx² = 4; Σy² = 3·.25 + 2.25 = 3; ρ = -2/√12 = -.57735.
    found = rank_trend([0, 0, 5, 5], [1, 1, 1, 0])
    assert isinstance(found, Estimate) and found.value == pytest.approx(-2 / 12**0.5)
    assert (found.n, found.unit, found.seed) == (4, "tasks", 0)


def test_scipy_agrees() -> None:
    rng = np.random.default_rng(1)
    x = rng.choice([0, 2, 4, 8, 25], 60)
    y = (rng.random((60, 3)) < 0.9 - x[:, None] / 40).mean(axis=1)
    found = rank_trend(x.tolist(), y.tolist(), seed=3)
    assert isinstance(found, Estimate) and found.value == pytest.approx(spearmanr(x, y).statistic)
    # A bootstrap of whole tasks, drawn and ranked one by one, gives nearly the same interval.
    draws = rng.integers(0, 60, (600, 60))
    slow = np.quantile([spearmanr(x[d], y[d]).statistic for d in draws], [0.025, 0.975])
    assert [found.low, found.high] == pytest.approx(slow.tolist(), abs=0.05)
    assert rank_trend(x.tolist(), y.tolist(), seed=3) == found != rank_trend(x.tolist(), y.tolist(), seed=4)


@pytest.mark.parametrize(
    ("factor", "score", "why"),
    [
        ([1, 2], [1, 0], "2 task(s) were given"),
        ([3, 3, 3], [1, 0, 1], "all 3 tasks have the value 3"),
        ([1, 2, 3], [0.5, 0.5, 0.5], "all 3 tasks have the score 0.5"),
    ],
)
def test_undefined(factor: list[float], score: list[float], why: str) -> None:
    found = rank_trend(factor, score)
    assert isinstance(found, Undefined) and why in found.reason
