"""The conditions on decoys, against their definitions tried out by force."""

from itertools import product

import numpy as np
import pytest

from agenthard.ace.generator.calibration import calibrated, weighted_choice
from agenthard.ace.generator.combinations import Combinations
from agenthard.ace.generator.preference import demanded_level
from agenthard.ace.generator.space import Ints

NO_PLANE = np.zeros(3)
SLACK = np.array([1, 0, 2])


def broken_by_force(earlier: list[Ints], decoy: Ints) -> bool:
    """Whether the decoy breaks a limit whatever the earlier slots hold, their truths (0) included."""
    held = [[np.zeros(3, dtype=np.int64), *decoys] for decoys in earlier]
    return all(((np.sum(choice, axis=0) + decoy) > SLACK).any() for choice in product(*held, [np.zeros(3)]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pruned", [False, True])
def test_the_hard_condition_ranges_over_every_combination(seed: int, pruned: bool) -> None:
    rng = np.random.default_rng(seed)
    proposals = rng.integers(-4, 6, size=(3, 60, 3))
    combinations = Combinations([3, 3, 3], SLACK, NO_PLANE)
    earlier: list[Ints] = []
    for at, possible in enumerate(proposals):
        broken = combinations.broken_by(possible)
        assert broken.tolist() == [broken_by_force(earlier, decoy) for decoy in possible]
        decoys = possible[broken][:3]
        later = proposals[at + 1 :].min(axis=1).sum(axis=0) if pruned else None
        combinations.extend(decoys, later)
        earlier.append(decoys)


def test_too_many_combinations_are_replaced_by_the_plane() -> None:
    # Weights (1, 1, 0) and slack (1, 0, 2): above the truth by more than 1 is enough, and so is any sum of such.
    combinations = Combinations([30] * 4, SLACK, np.array([1.0, 1.0, 0.0]))
    proposals = np.array([[2, 0, 0], [1, 0, 9], [5, -3, 0], [-3, 5, -9], [0, 1, 0]])
    assert combinations.broken_by(proposals).tolist() == [True, False, True, True, False]
    combinations.extend(proposals[[0, 2, 3]])
    assert combinations.broken_by(proposals).tolist() == [True, False, True, True, False]
    for choice in product(*[[np.zeros(3), *proposals[[0, 2, 3]]]] * 4):
        total = np.sum(choice, axis=0)
        assert not any(map(np.any, choice)) or (total > SLACK).any()


@pytest.mark.parametrize(
    ("levels", "decoys", "level"),
    [
        ([1, 1, 1], 3, 1),
        ([4, 4, 1], 1, 1),  # within the first two proposals only level 1 will do, and the third is on it
        ([4, 2, 4, 4], 1, 2),  # none is on level 1, and the best of too few proposals is taken
        ([4] * 10, 2, 4),
        ([4, 4, 2, 1, 1, 1], 1, 2),  # from the third on, level 2 will do
        ([4, 4, 4, 4, 3, 4, 4], 1, 3),  # from the fifth on, level 3
        ([4, 4, 4, 4, 4, 4, 4], 1, 4),
        ([1, 4, 3], 2, 3),
    ],
)
def test_the_demand_falls_with_the_proposals(levels: list[int], decoys: int, level: int) -> None:
    assert demanded_level(np.array(levels), decoys, (2, 4, 6)) == level


def test_calibration_reaches_averages_and_changes_nothing_else() -> None:
    # Two features of four items, all combinations of 0 and 1; asked for averages 3/4 and 1/2. By symmetry the weights
    # of maximum entropy are those of independent features: 3/8, 3/8, 1/8, 1/8.
    features = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    weights = calibrated(features, np.array([0.75, 0.5]), np.zeros(4))
    assert weights == pytest.approx([3 / 8, 3 / 8, 1 / 8, 1 / 8], abs=0.02)


def test_calibration_comes_as_near_as_it_can() -> None:
    weights = calibrated(np.array([[0.0], [1.0]]), np.array([2.0]), np.zeros(2))
    assert weights.sum() == pytest.approx(1) and weights[1] > 0.99


def test_weighted_choice_takes_distinct_items_by_weight() -> None:
    drawn = weighted_choice(np.random.default_rng(0), np.array([0.7, 0.2, 0.1]), 1, rounds=20_000)[:, 0]
    assert np.bincount(drawn) / len(drawn) == pytest.approx([0.7, 0.2, 0.1], abs=0.01)
    pairs = weighted_choice(np.random.default_rng(0), np.ones(5) / 5, 5, rounds=50)
    assert all(sorted(row) == [0, 1, 2, 3, 4] for row in pairs.tolist())
