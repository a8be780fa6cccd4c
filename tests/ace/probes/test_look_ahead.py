from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from agenthard.ace import domains
from agenthard.ace.probes import look_ahead
from tests.ace.environment.small import SLOTS, puzzle

COURSE = domains.load("course")


def test_the_least_margin_with_the_other_slot_at_its_mean_by_hand() -> None:
    # The other slot may hold C21 or C22: on average 1.5 credits, price 125, workload 2.5, and always Ada Berg.
    # C13: price 500 + 350 + 125 = 975 of 900, so -75/900. C11: credits 5 + 3 + 1.5 = 9.5 of 10, so -0.5/10.
    # C12: Ada Berg 1 + 1 + 1 = 3 of 2, so -1/2.
    assert look_ahead(COURSE, puzzle()).scores["mean"][0] == pytest.approx([-75 / 900, -0.5 / 10, -1 / 2])
    # The other slot may hold C11 or C12: price 275, and Ada Berg in one of two.
    # C21 and C22: Ada Berg 1 + 0.5 + 1 = 2.5 of 2, so -0.5/2. C23: price 500 + 100 + 275 = 875, so 25/900.
    assert look_ahead(COURSE, puzzle()).scores["mean"][1] == pytest.approx([-0.25, -0.25, 25 / 900])


def test_with_no_other_slot_both_ways_are_the_exact_check() -> None:
    alone = replace(puzzle(), grid=(("C1", None), ("C21", "C2")), slots=SLOTS[:1])
    scores = look_ahead(COURSE, alone).scores
    # C13 is over the price; C11 is the truth, and exact on three rules; C12 misses a credit, costs too much and is
    # Ada's third.
    assert scores["probability"] == [[-50.0, 0.0, -150.0]]
    assert np.sign(scores["mean"][0]).tolist() == [-1, 0, -1]


def test_the_probability_is_that_of_the_normal_approximation() -> None:
    # Only the credits of the other slot differ: 2 or 1, mean 1.5, standard deviation 0.5.
    items = {id: dict(item) for id, item in puzzle().items.items()}
    items["C22"] = {**items["C21"], "course_id": "C22", "credits": 1}
    found = look_ahead(COURSE, replace(puzzle(), items=items)).scores["probability"][0]
    # C11: 5 + 3 + 1.5 = 9.5 credits against 10. Price 500 + 250 + 150 = 900 and workload 7 + 2 + 3 = 12 fit exactly.
    assert found[1] == pytest.approx(norm.logcdf((9.5 - 10 + 0.5) / 0.5))


def test_a_slot_whose_rules_exclude_every_candidate_counts_as_open() -> None:
    impossible = replace(SLOTS[1], limits={"max_difficulty": 0, "min_credits": 1})
    scores = look_ahead(COURSE, replace(puzzle(), slots=(SLOTS[0], impossible))).scores
    assert np.isfinite(scores["mean"][0]).all() and np.isfinite(scores["probability"][0]).all()
