"""The smallest difference that a test finds, against simulated tests, and the tasks that a difference needs."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from agenthard.audit.statistics import Estimate, Undefined, detectable_by_test, detectable_difference, tasks_needed
from agenthard.audit.statistics.paired_tests import mcnemar_exact
from agenthard.audit.statistics.power import _critical


@pytest.mark.parametrize(("n", "pairs"), [(50, 1), (165, 1), (165, 120), (1700, 2485)])
def test_simulated_tests_find_it_in_80_percent(n: int, pairs: int) -> None:
    disagreement = 0.34
    found = detectable_by_test(n, disagreement, pairs=pairs)
    assert isinstance(found, Estimate)
    share = max(disagreement, found.value)
    rng = np.random.default_rng(n + pairs)
    differing = rng.binomial(n, share, 20_000)
    ahead = rng.binomial(differing, (1 + found.value / share) / 2)
    power = float((mcnemar_exact(ahead, differing - ahead) <= 0.05 / pairs).mean())
    assert power == pytest.approx(0.8, abs=0.015)


def test_one_planned_pair_is_near_the_published_formula_and_many_pairs_need_more() -> None:
    plain, one, many = (
        detectable_difference(165, 0.66),
        detectable_by_test(165, 0.34),
        detectable_by_test(165, 0.34, pairs=120),
    )
    assert isinstance(plain, Estimate) and isinstance(one, Estimate) and isinstance(many, Estimate)
    assert one.value == pytest.approx(plain.value, abs=0.005)
    assert 1.4 < many.value / plain.value < 1.6
    assert isinstance(detectable_by_test(1, 0.3), Undefined)
    few = detectable_by_test(10, 0.3, pairs=500)
    assert isinstance(few, Undefined) and "too few" in few.reason


@pytest.mark.parametrize(("n", "alpha"), [(40, 0.05), (90, 0.0004), (150, 1e-5)])
def test_critical_numbers_are_those_of_the_binomial(n: int, alpha: float) -> None:
    for m, found in enumerate(_critical(n, alpha)):
        tail = 2 * binom.cdf(np.arange(m // 2 + 1), m, 0.5)
        assert found == np.flatnonzero(tail <= alpha).max(initial=-1)


def test_tasks_needed_follow_millers_formula() -> None:
    z = norm.ppf(1 - 0.05 / 240) + norm.ppf(0.8)
    assert tasks_needed(0.05, 0.3, pairs=120) == int(np.ceil(z**2 * (0.3 - 0.0025) / 0.0025))
    assert tasks_needed(0.0, 0.3) is None
    assert tasks_needed(1.0, 1.0) == 2
