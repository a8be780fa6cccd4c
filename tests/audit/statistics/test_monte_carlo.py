"""p-values from draws, compared with scipy's permutation test and exact interval; Holm's correction by hand."""

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from agenthard.audit.statistics import MonteCarloP, adjusted, monte_carlo_p, verdict


def made(p: float, low: float, high: float) -> MonteCarloP:
    return MonteCarloP(p=p, low=low, high=high, tail="greater", draws=1000)


@pytest.mark.parametrize("tail", ["greater", "less", "both"])
def test_p_is_that_of_scipys_permutation_test(tail: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.4, 1, 12), rng.normal(0, 1, 12)
    other = {"both": "two-sided"}.get(tail, tail)
    oracle = permutation_test(
        (a, b), lambda x, y: x.mean() - y.mean(), n_resamples=999, alternative=other, rng=np.random.default_rng(2)
    )
    found = monte_carlo_p(oracle.null_distribution, a.mean() - b.mean(), tail)  # type: ignore[arg-type]
    assert found.p == pytest.approx(oracle.pvalue, abs=1e-12)


def test_the_error_is_the_exact_interval_of_the_share_of_extreme_draws() -> None:
    draws = np.arange(1000)
    found = monte_carlo_p(draws, 970, "greater")
    exact = binomtest(30, 1000).proportion_ci(0.999, "exact")
    assert (found.low, found.high) == (pytest.approx(exact.low), pytest.approx(exact.high))
    assert monte_carlo_p(draws, 5000, "greater").low == 0
    assert monte_carlo_p(draws, -1, "greater").high == 1


def test_holm_holds_at_both_ends() -> None:
    rows = [made(0.01, 0.005, 0.02), made(0.04, 0.03, 0.06), made(0.3, 0.28, 0.33), made(0.02, 0.011, 0.03)]
    found = adjusted(rows)
    # p sorted: .01 · 4, .02 · 3, .04 · 2, .3 · 1
    assert [row.p for row in found] == pytest.approx([0.04, 0.08, 0.3, 0.06])
    # .005 · 4, .011 · 3, .03 · 2, .28; .02 · 4, .03 · 3, .06 · 2, .33
    assert [row.low for row in found] == pytest.approx([0.02, 0.06, 0.28, 0.033])
    assert [row.high for row in found] == pytest.approx([0.08, 0.12, 0.33, 0.09])
    assert adjusted([]) == ()


def test_a_verdict_needs_both_ends_on_one_side() -> None:
    assert verdict(made(0.01, 0.005, 0.02), 0.05) == "beyond"
    assert verdict(made(0.04, 0.03, 0.06), 0.05) == "undecided"
    assert verdict(made(0.06, 0.04, 0.08), 0.05) == "undecided"
    assert verdict(made(0.3, 0.28, 0.33), 0.05) == "within"


def test_random_p_values_are_uniform() -> None:
    rng = np.random.default_rng(0)
    p = [monte_carlo_p(rng.normal(size=199), rng.normal(), "both").p for _ in range(2000)]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.015)
