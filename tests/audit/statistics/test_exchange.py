"""Two sides of one matrix: noise is not found, scoring tasks again is."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import binom, false_discovery_control

from agenthard.audit.statistics import (
    Estimate,
    MatrixError,
    NullDistribution,
    ScoreMatrix,
    Undefined,
    changes_together,
    kendall_tau_b,
    rank_exchange,
    rank_moves,
)

Build = Callable[[ArrayLike], ScoreMatrix]


def rounds(models: int, tasks: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two rounds of runs of the same models."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.5, 0.8, models)[:, None] - rng.normal(0, 1.3, tasks)
    p = 1 / (1 + np.exp(-logits))
    return rng.random(p.shape) < p, rng.random(p.shape) < p


def test_all_swaps_of_a_small_comparison(matrix: Build) -> None:
    # Four tasks differ, each for one or two models: the p-values follow from all 2^k swaps.
    first = np.array([[1, 1, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1], [0, 0, 1, 1, 0, 1]])
    second = np.array([[0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 1]])
    change = second - first
    found = changes_together(matrix(first), matrix(second), draws=20_000, seed=1)
    assert not isinstance(found, Undefined) and isinstance(found.together, NullDistribution)
    cells = np.argwhere(change)

    def evidence(signed: np.ndarray) -> float:
        most = np.maximum((signed > 0).sum(axis=0), (signed < 0).sum(axis=0))
        return float((np.log(np.minimum(1, 2 * binom.sf(most - 1, 3, 0.25))) ** 2).sum())

    swapped = []
    for signs in product([-1, 1], repeat=len(cells)):
        drawn = np.zeros((3, 6))
        drawn[tuple(cells.T)] = signs
        swapped.append(evidence(drawn))
    exact = np.mean(np.array(swapped) >= evidence(change) - 1e-12)
    assert found.together.p is not None and found.together.p.p == pytest.approx(exact, abs=0.015)

    ranked = rank_exchange(matrix(first), matrix(second), draws=20_000, resamples=200, seed=1)
    assert not isinstance(ranked, Undefined) and ranked.score_shift.p is not None
    observed = np.abs(change.mean(axis=1)).mean()
    shifts = [np.abs((change * signs).mean(axis=1)).mean() for signs in product([-1, 1], repeat=6)]
    exact = np.mean(np.array(shifts) >= observed - 1e-12)
    assert ranked.score_shift.p.p == pytest.approx(exact, abs=0.015)


def test_figures_are_those_of_the_ranking_module(matrix: Build) -> None:
    one, other = (matrix(side.astype(int)) for side in rounds(6, 397, 5))
    found = rank_exchange(one, other, draws=300, resamples=200)
    assert not isinstance(found, Undefined) and isinstance(found.kendall_tau_b, NullDistribution)
    before, after = one.scores(), other.scores()
    assert len(set(before.values())) == 6 and len(set(after.values())) == 6
    moves = rank_moves(before, after)
    assert found.change_rate.observed == np.mean([move.shift != 0 for move in moves])
    assert found.rank_shift.observed == pytest.approx(np.mean([abs(move.shift) for move in moves]))
    assert found.top_changed.observed == float(moves[0].shift != 0)
    tau = kendall_tau_b(before, after)
    assert isinstance(tau, Estimate) and found.kendall_tau_b.observed == pytest.approx(tau.value)
    interval = found.bootstrap["rank_shift"]
    assert isinstance(interval, Estimate) and interval.low is not None and interval.high is not None
    assert interval.low <= interval.value <= interval.high


def test_a_task_whose_key_is_inverted_is_named(matrix: Build) -> None:
    one, other = rounds(16, 60, 4)
    easy = int(one.mean(axis=0).argmax())
    other[:, easy] = ~other[:, easy]
    found = changes_together(matrix(one.astype(int)), matrix(other.astype(int)), draws=2000)
    assert not isinstance(found, Undefined) and found.together.p is not None
    assert [task.task for task in found.tasks if task.p <= 0.05] == [f"t{easy}"]
    assert found.together.p.p <= 0.05


def test_the_p_value_of_a_task_is_a_bound_that_noise_cannot_exceed(matrix: Build) -> None:
    # 9 of 10 models fail a task that they passed; two other tasks differ for one model each.
    first = np.ones((10, 5), int)
    first[0, 3:] = 0
    second = first.copy()
    second[:9, 0] = 0
    second[9, 1:3] = 0
    found = changes_together(matrix(first), matrix(second), draws=500)
    assert not isinstance(found, Undefined)
    raw = np.minimum(1, 2 * binom.sf(np.array([9, 1, 1, 0, 0]) - 1, 10, 0.25))
    assert [task.p for task in found.tasks] == pytest.approx(false_discovery_control(raw)[:3].tolist())
    assert [(task.gained, task.lost) for task in found.tasks] == [(0, 9), (0, 1), (0, 1)]
    # The bound holds for every probability of passing, and is met at 1/2.
    for chance in (0.5, 0.4, 0.2, 0.05):
        one_way = chance * (1 - chance)
        for least in range(6, 11):
            # rises or falls ≥ least exclude each other above half of the models
            assert 2 * binom.sf(least - 1, 10, one_way) <= 2 * binom.sf(least - 1, 10, 0.25) + 1e-15


def test_two_rounds_of_runs_seldom_differ(matrix: Build) -> None:
    alarms = 0
    for seed in range(60):
        one, other = (matrix(side.astype(int)) for side in rounds(8, 60, seed))
        found = rank_exchange(one, other, draws=200, resamples=50, seed=seed)
        assert not isinstance(found, Undefined) and found.rank_shift.p is not None
        alarms += found.rank_shift.p.p <= 0.05
    assert alarms <= 7  # P(X ≥ 8) = .01 for 60 tests at 5 %


def test_clusters_are_swapped_whole_and_fractions_count(matrix: Build) -> None:
    # One cluster of ten equal tasks: half of all swaps leave everything, the others swap everything.
    first, second = np.zeros((2, 10), int), np.zeros((2, 10), int)
    first[0], second[1] = 1, 1
    found = rank_exchange(matrix(first), matrix(second), clusters=["c"] * 10, draws=400, resamples=50)
    assert not isinstance(found, Undefined) and found.score_shift.p is not None and found.score_shift.p.p == 1
    tasks, zeros = ("t0", "t1", "t2"), np.zeros((2, 3), np.int32)

    def trials(passed: list[list[int]]) -> ScoreMatrix:
        return ScoreMatrix(("a", "b"), tasks, np.array(passed, np.int32), zeros + 3, zeros, zeros.astype(np.int8))

    found_trials = changes_together(trials([[1, 2, 3], [0, 1, 2]]), trials([[3, 2, 1], [1, 1, 0]]), draws=20_000)
    assert not isinstance(found_trials, Undefined) and found_trials.together.p is not None
    # net: t0 +1, t2 −4/3; each the sum of two changes with equal signs: 1/4 of the swaps are as large
    assert found_trials.together.p.p == pytest.approx(1 / 4, abs=0.015)


def test_sides_that_cannot_be_compared(matrix: Build) -> None:
    one = matrix([[1, 0, 1], [0, 1, 0]])
    same = rank_exchange(one, one)
    assert isinstance(same, Undefined) and "no score differs" in same.reason
    assert isinstance(changes_together(one.keep_models(["m0"]), one.keep_models(["m0"])), Undefined)
    with pytest.raises(MatrixError, match="same order"):
        changes_together(one, one.take([1, 0, 2]))
    with pytest.raises(MatrixError, match="missing"):
        rank_exchange(one, matrix([[1, 0, None], [0, 1, 0]]))


@pytest.mark.parametrize(("models", "tasks"), [(3, 6), (7, 45), (16, 165), (71, 1700)])
def test_the_least_number_of_models_is_that_which_alone_passes_the_correction(
    matrix: Build, models: int, tasks: int
) -> None:
    first, second = rounds(models, tasks, 5)
    found = changes_together(matrix(first.astype(int)), matrix(second.astype(int)), draws=20)
    assert not isinstance(found, Undefined)
    enough = [k for k in range(1, models + 1) if 2 * binom.sf(k - 1, models, 0.25) * tasks <= 0.05]
    assert found.least == (min(enough) if enough else None)
    assert (found.least is None) == (models == 3)
