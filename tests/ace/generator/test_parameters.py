"""What is asked for, and what is refused before any work is done."""

import pytest
from pydantic import ValidationError

from agenthard.ace.generator import ImpossibleParametersError, Parameters


def test_the_default_is_the_paper_s_suite() -> None:
    parameters = Parameters()
    cells = list(parameters.cells())
    assert parameters.count == len(cells) == len(set(cells)) == 324
    assert (cells[0].domain, cells[0].hidden_slots, cells[0].decoy_budget) == ("course", 1, 0)
    assert (cells[1].decoy_budget, cells[9].hidden_slots, cells[54].domain) == (2, 5, "shopping")


def test_several_instances_per_cell_are_numbered() -> None:
    cells = list(Parameters(domains=("meal",), hidden_slots=(3,), decoy_budgets=(2,), per_cell=3).cells())
    assert [cell.number for cell in cells] == [0, 1, 2]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"domains": ("garden",)}, "unknown domain garden; there are: course, meal, pc_build"),
        ({"domains": ("meal", "meal")}, "domain is listed twice: meal, meal"),
        ({"hidden_slots": (0,), "decoy_budgets": (1,)}, "B = 1 with H = 0: without a hidden slot no decoy has a place"),
        ({"hidden_slots": (36,)}, "H = 36: a 5x7 grid has only 35 cells"),
        ({"hidden_slots": (-1,)}, "H = -1, B = 0: neither can be negative"),
        ({"decoy_budgets": (-2,)}, "H = 1, B = -2: neither can be negative"),
        ({"hidden_slots": (1,), "decoy_budgets": (10,), "candidates": 5}, "K = 5 is too small for H = 1, B = 10"),
        ({"hidden_slots": (5,), "decoy_budgets": (10,), "candidates": 5}, "needs at least 6 candidates"),
        ({"hidden_slots": (1,), "decoy_budgets": (26,)}, "one slot may have 26 decoys, so with the truth it needs"),
        ({"rows": 7, "cols": 10, "hidden_slots": (35,), "decoy_budgets": (60,)}, "needs at least 31 candidates"),
        ({"preference_attempts": (50, 30, 70)}, "positive and ascending"),
    ],
)
def test_the_impossible_is_refused_with_its_reason(asked: dict[str, object], reason: str) -> None:
    with pytest.raises(ImpossibleParametersError, match=reason):
        Parameters.model_validate(asked)


@pytest.mark.parametrize("asked", [{"rows": 0}, {"candidates": 0}, {"per_cell": 0}, {"colour": 1}, {"domains": ()}])
def test_what_is_no_number_of_anything_is_refused(asked: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Parameters.model_validate(asked)


@pytest.mark.parametrize(
    ("hidden", "budget", "candidates"),
    [(1, 23, 25), (1, 24, 25), (1, 25, 27), (5, 25, 25), (21, 25, 25), (0, 0, 25), (1, 1, 25)],
)
def test_only_a_slot_that_takes_the_whole_budget_is_widened(hidden: int, budget: int, candidates: int) -> None:
    parameters = Parameters(hidden_slots=(1,), decoy_budgets=(0,))
    assert parameters.candidates_for(hidden, budget) == candidates


def test_a_slot_may_hold_nothing_but_truth_and_decoys() -> None:
    assert Parameters(hidden_slots=(1,), decoy_budgets=(4,), candidates=5).candidates_for(1, 4) == 5
