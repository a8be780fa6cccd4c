"""The decoy budget and its shares, against the paper's rule worked out by hand."""

import numpy as np
import pytest

from agenthard.ace.generator.shares import decoy_slot_count, draw_shares, largest_share


@pytest.mark.parametrize(
    ("hidden", "budget", "count"),
    [
        (5, 0, 0),
        (5, 1, 1),
        (5, 2, 2),
        (5, 4, 2),
        (5, 8, 3),
        (5, 10, 4),
        (5, 15, 4),
        (5, 19, 5),
        (21, 25, 5),
        (5, 3, 2),  # ceil(sqrt 3) = 2, and 2 slots may split unevenly
        (1, 25, 1),
        (2, 25, 2),
        (3, 25, 3),
        (35, 60, 8),
    ],
)
def test_the_number_of_decoy_slots(hidden: int, budget: int, count: int) -> None:
    assert decoy_slot_count(hidden, budget) == count


@pytest.mark.parametrize(
    ("hidden", "budget", "most"), [(1, 25, 25), (2, 25, 24), (3, 25, 12), (5, 10, 5), (5, 2, 1), (5, 1, 1), (0, 0, 0)]
)
def test_the_largest_share(hidden: int, budget: int, most: int) -> None:
    assert largest_share(hidden, budget) == most


@pytest.mark.parametrize(("hidden", "budget"), [(1, 7), (2, 9), (3, 7), (5, 10), (7, 25), (35, 60)])
def test_shares_add_up_and_reach_their_bounds(hidden: int, budget: int) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_shares(rng, hidden, budget) for _ in range(400)]
    count, most = decoy_slot_count(hidden, budget), largest_share(hidden, budget)
    for shares in drawn:
        assert len(shares) == count and sum(shares) == budget
        assert all(1 <= share <= most for share in shares)
    assert max(map(max, drawn)) == most or count == 8  # of 8 slots, half the budget for one is rare


def test_no_place_in_the_order_gets_more() -> None:
    rng = np.random.default_rng(0)
    means = np.mean([draw_shares(rng, 5, 25) for _ in range(4000)], axis=0)
    assert np.abs(means - 5).max() < 0.2
