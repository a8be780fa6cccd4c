import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from agenthard.audit.statistics import (
    Estimate,
    ItemBank,
    Undefined,
    ability,
    anchor_estimate,
    easy_tasks,
    gpirt_estimate,
    keep_some,
    pirt_estimate,
)

BANK = ItemBank(("s", "t", "u"), np.array([[1.0], [2.0], [0.5]]), np.array([0.0, 1.0, -1.0]))


def test_ability_is_where_the_penalised_slope_vanishes() -> None:
    def slope(theta: float) -> float:
        return 1 * (1 - expit(theta)) + 2 * (0 - expit(2 * theta - 1)) - theta

    assert ability(BANK, {"s": 1, "t": 0}) == pytest.approx([brentq(slope, -5, 5)], abs=1e-7)
    assert ability(BANK, {}) == pytest.approx([0.0])


def test_two_dimensions_add_up() -> None:
    bank = ItemBank(("s", "t"), np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([0.5, 0.0]))
    assert bank.probabilities(np.array([0.3, -0.2])) == pytest.approx(expit([0.3 - 0.4 - 0.5, -0.2]))
    theta = ability(bank, {"s": 1})
    # one task moves ability along its own slopes only
    assert theta[1] == pytest.approx(2 * theta[0], abs=1e-7)


def test_estimates_by_hand() -> None:
    anchor = anchor_estimate({"s": 1, "t": 0}, {"s": 0.7, "t": 0.3})
    pirt = pirt_estimate(BANK, {"s": 1, "t": 0})
    assert isinstance(anchor, Estimate) and isinstance(pirt, Estimate)
    assert anchor.value == 0.7
    theta = ability(BANK, {"s": 1, "t": 0})[0]
    assert pirt.value == pytest.approx((1 + 0 + expit(0.5 * theta + 1)) / 3, abs=1e-12)
    assert (pirt.n, pirt.of) == (2, 3)
    mixed = gpirt_estimate(anchor, pirt, 0.25)
    assert isinstance(mixed, Estimate) and mixed.value == pytest.approx(0.25 * 0.7 + 0.75 * pirt.value, abs=1e-12)


def test_with_all_tasks_seen_nothing_is_predicted() -> None:
    result = pirt_estimate(BANK, {"s": 1, "t": 0, "u": 1})
    assert isinstance(result, Estimate) and result.value == pytest.approx(2 / 3, abs=1e-12)


def test_bad_anchors_are_refused() -> None:
    nothing = anchor_estimate({}, {})
    assert isinstance(nothing, Undefined) and isinstance(pirt_estimate(BANK, {}), Undefined)
    some = anchor_estimate({"s": 1}, {"s": 1.0})
    assert gpirt_estimate(nothing, some, 0.5) is nothing and gpirt_estimate(some, nothing, 0.5) is nothing
    with pytest.raises(ValueError, match="different tasks"):
        anchor_estimate({"s": 1}, {"t": 1})
    with pytest.raises(ValueError, match="sum to 1"):
        anchor_estimate({"s": 1}, {"s": 0.5})
    with pytest.raises(ValueError, match="no item parameters, the first is 'x'"):
        pirt_estimate(BANK, {"x": 1})
    with pytest.raises(ValueError, match="0..1"):
        gpirt_estimate(some, some, 2)


def test_easy_tasks_are_right_and_sure_for_every_filter_model() -> None:
    right = [[1, 1, 1, 0], [1, 1, 1, 1]]
    sure = [[0.9, 0.81, 0.8, 0.99], [0.95, 0.99, 0.9, 0.99]]
    assert easy_tasks(["a", "b", "c", "d"], right, sure) == ("a", "b")
    assert easy_tasks(["a"], np.zeros((0, 1)), np.zeros((0, 1))) == ()
    with pytest.raises(ValueError, match="models × 3 tasks"):
        easy_tasks(["a", "b", "c"], right, sure)
    with pytest.raises(ValueError, match="not NaN"):
        easy_tasks(["a"], [[1]], [[float("nan")]])


def test_ten_percent_of_the_easy_tasks_stay() -> None:
    easy = [f"t{i:02d}" for i in range(50)]
    kept = keep_some(easy, np.random.default_rng(0))
    assert len(kept) == 5 and list(kept) == sorted(kept) and set(kept) < set(easy)
    assert kept == keep_some(easy, np.random.default_rng(0)) != keep_some(easy, np.random.default_rng(1))
    assert keep_some([], np.random.default_rng(0)) == ()
    with pytest.raises(ValueError, match="0..1"):
        keep_some(easy, np.random.default_rng(0), 10)
