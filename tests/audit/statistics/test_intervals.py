import math

import numpy as np
import pytest

from agenthard.audit.statistics.intervals import fisher_z, upper_tail, wilson

Z2 = 3.841458820694124  # square of the normal quantile 1.959964


def test_wilson_of_no_success_has_the_closed_form_upper_end():
    # p = 0: (z²/2n + z·z/2n) / (1 + z²/n) = z² / (n + z²)
    low, high = wilson(0, 5)
    assert low == 0.0
    assert high == pytest.approx(Z2 / (5 + Z2), abs=1e-12)


def test_wilson_is_symmetric_in_success_and_failure():
    low, high = wilson(0, 7)
    assert wilson(7, 7) == (pytest.approx(1 - high), 1.0)
    assert wilson(2, 7)[0] == pytest.approx(1 - wilson(5, 7)[1])
    assert low == 0.0


def test_wilson_of_one_half_by_hand():
    # n = 10, p = 1/2: half = z·sqrt(1/40 + z²/400) / (1 + z²/10) = 0.26341, around 0.5
    assert wilson(5, 10) == (pytest.approx(0.23659, abs=1e-5), pytest.approx(0.76341, abs=1e-5))


def test_wilson_agrees_with_scipy():
    from scipy.stats import binomtest

    for k, n, level in [(1, 3, 0.9), (4, 165, 0.95), (163, 165, 0.99)]:
        expected = binomtest(k, n).proportion_ci(level, method="wilson")
        assert wilson(k, n, level) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_wilson_without_trials_knows_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 0.0)])
def test_wilson_rejects_impossible_input(k, n, level):
    with pytest.raises(ValueError, match="must lie"):
        wilson(k, n, level)


def test_fisher_z_by_hand():
    # n = 19: half width in z = 1.959964 / 4 = 0.489991; r = tanh(1) is moved to tanh(1 ± 0.489991)
    low, high = fisher_z(math.tanh(1), 19)
    assert (low, high) == (pytest.approx(math.tanh(0.510009), abs=1e-6), pytest.approx(math.tanh(1.489991), abs=1e-6))


def test_fisher_z_agrees_with_scipy():
    from scipy.stats import pearsonr

    x, y = [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 3, 6, 5, 9, 1]
    result = pearsonr(x, y)
    expected = result.confidence_interval(0.95)
    assert fisher_z(float(result.statistic), 8) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_fisher_z_at_its_limits():
    assert fisher_z(-1.0, 8) == (-1.0, -1.0)
    assert fisher_z(0.9, 3) == (-1.0, 1.0)
    with pytest.raises(ValueError, match="correlation"):
        fisher_z(1.2, 8)


def test_upper_tail_of_unequal_trials_by_hand():
    # one trial at 1/2, one at 1/4: P(X ≥ 1) = 1 − 1/2·3/4 = 5/8, P(X = 2) = 1/8
    groups = [(1, 0.5), (1, 0.25)]
    assert upper_tail(1, groups) == pytest.approx(5 / 8)
    assert upper_tail(2, groups) == pytest.approx(1 / 8)
    assert upper_tail(3, groups) == 0.0
    assert upper_tail(0, []) == 1.0


def test_upper_tail_is_the_sum_of_the_whole_distribution():
    groups = [(300, 0.04), (150, 0.5), (90, 0.97)]
    whole = np.ones(1)
    for trials, rate in groups:
        for _ in range(trials):
            whole = np.convolve(whole, (1 - rate, rate))
    for observed in (1, 2, 170, 176, 300, 539, 540):
        assert upper_tail(observed, groups) == pytest.approx(float(whole[observed:].sum()), rel=1e-12, abs=0)
    assert upper_tail(541, groups) == 0.0
    assert upper_tail(4, [(400, 0.0)]) == 0.0


def test_upper_tail_of_equal_trials_is_the_binomial():
    # P(X ≥ 2), n = 3, p = 1/3: 3·(1/9)(2/3) + 1/27 = 7/27
    assert upper_tail(2, [(3, 1 / 3)]) == pytest.approx(7 / 27)
