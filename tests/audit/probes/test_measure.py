from typing import Any

import numpy as np
import pytest

from agenthard.audit.probes import Scene, read_scene
from agenthard.audit.probes.measure import holm, measure, two_sided
from agenthard.audit.probes.table import Table
from agenthard.audit.statistics.intervals import upper_tail


def table(*sizes: int, truth: int = 0) -> Table:
    def one(task: int, size: int) -> Scene:
        ids: list[Any] = [{"id": f"{task}-{number}"} for number in range(size)]
        return read_scene({"sets": [{"candidates": ids, "truth": ids[truth]["id"]}]}, str(task))

    return Table.build([one(task, size) for task, size in enumerate(sizes)])


def test_hits_chance_and_p_by_hand() -> None:
    # Picks: the answer of two (rate 1/2), the answer and one of four (rate 2/4), two wrong ones of three (rate 2/3).
    found = measure(table(2, 4, 3), np.array([1, 0, 1, 1, 0, 0, 0, 1, 1.0]))
    assert found is not None
    assert (found.choices, found.n, found.hits) == (3, 3, 2)
    assert found.chance == pytest.approx((1 / 2 + 1 / 2 + 2 / 3) / 3)
    # P(X ≥ 2) = 1/2·1/2·2/3 + 2·(1/2·1/2·2/3) + 1/2·1/2·1/3 = 7/12, P(X ≤ 2) = 1 − 1/6 = 5/6
    assert found.p == 1.0
    assert two_sided(3, np.array([1 / 2, 1 / 2, 2 / 3])) == pytest.approx(2 * 1 / 6)
    assert two_sided(0, np.array([1 / 2, 1 / 2, 2 / 3])) == pytest.approx(2 * 1 / 12)
    # One of the picked at random: 1, 1/2, 0; any candidate: 1/2, 1/4, 1/3.
    assert found.accuracy == pytest.approx(1.5 / 3)
    assert found.guess == pytest.approx((1 / 2 + 1 / 4 + 1 / 3) / 3)
    assert found.held.tolist() == [0, 1]


def test_a_choice_in_which_all_or_none_are_picked_tells_nothing() -> None:
    found = measure(table(2, 2, 2), np.array([1, 1, np.nan, np.nan, 1, 0]))
    assert found is not None
    assert (found.choices, found.n, found.hits) == (2, 1, 1)
    assert found.accuracy == pytest.approx((1 / 2 + 1) / 2)
    assert measure(table(2), np.array([3.0, 3.0])) is None


def test_an_unknown_value_is_never_picked() -> None:
    found = measure(table(2), np.array([-5.0, np.nan]))
    assert found is not None and found.hits == 1


def test_the_two_sided_p_agrees_with_scipy_for_equal_rates() -> None:
    from scipy.stats import binom

    expected = 2 * binom.sf(13, 40, 0.2)
    assert two_sided(14, np.full(40, 0.2)) == pytest.approx(expected)
    assert two_sided(2, np.full(40, 0.2)) == pytest.approx(2 * binom.cdf(2, 40, 0.2))


@pytest.mark.parametrize("hits", range(8))
def test_the_two_sided_p_is_twice_the_smaller_tail(hits: int) -> None:
    rates = np.array([0.1, 0.3, 0.5, 0.5, 0.7, 0.7, 0.9])
    above = upper_tail(hits, [(1, rate) for rate in rates])
    below = upper_tail(len(rates) - hits, [(1, 1 - rate) for rate in rates])
    assert two_sided(hits, rates) == pytest.approx(min(1.0, 2 * min(above, below)))


def test_choices_of_one_task_do_not_count_as_independent() -> None:
    # Two tasks of 20 choices each, one all right and one all wrong: the effective number of choices is far below 40.
    ids: list[Any] = [[{"id": f"{n}a"}, {"id": f"{n}b"}] for n in range(20)]
    made = [
        read_scene({"sets": [{"candidates": pair, "truth": pair[right]["id"]} for pair in ids]}, str(right))
        for right in (0, 1)
    ]
    found = measure(Table.build(made), np.tile([1.0, 0.0], 40))
    assert found is not None
    assert found.rate == 0.5 and found.high - found.low > 0.6


def test_holm_by_hand() -> None:
    # 0.01·4, 0.02·3 = 0.06, 0.03·2 = 0.06, 0.9·1
    assert holm([0.9, 0.01, 0.03, 0.02]) == pytest.approx([0.9, 0.04, 0.06, 0.06])
    assert holm([]) == []
