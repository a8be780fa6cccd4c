"""Banks of anchor tasks: they reproduce the score where tasks repeat one another, and their error is honest."""

import numpy as np
import pytest

from agenthard.audit.statistics import AnchorBanks, Estimate, ScoreMatrix, Undefined, anchor_banks
from agenthard.audit.statistics.item_bank import choose_anchors


def repeated(models: int, patterns: int, copies: int, seed: int = 0) -> ScoreMatrix:
    """Every pattern of outcomes occurs in ``copies`` tasks."""
    rng = np.random.default_rng(seed)
    values = np.repeat(rng.integers(0, 2, (models, patterns)), copies, axis=1)
    return ScoreMatrix.from_array(values, [f"m{i}" for i in range(models)], [f"t{i}" for i in range(patterns * copies)])


def simulated(models: int, tasks: int, seed: int = 0) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(0, 1.2, models), rng.normal(0, 1, tasks)
    chance = 1 / (1 + np.exp(-1.5 * (ability[:, None] - difficulty)))
    return ScoreMatrix.from_array(
        (rng.random((models, tasks)) < chance).astype(int),
        [f"m{i}" for i in range(models)],
        [f"t{i}" for i in range(tasks)],
    )


@pytest.mark.long
def test_tasks_that_repeat_one_another_need_one_anchor_each() -> None:
    matrix = repeated(models=8, patterns=6, copies=5)
    found = anchor_banks(matrix, sizes=(6, 25))
    assert isinstance(found, AnchorBanks)
    for bank in found.banks:
        assert len(bank.anchors) == 6, "more anchors than patterns would repeat one another"
        assert [anchor.weight for anchor in bank.anchors] == pytest.approx([1 / 6] * 6)
    by_anchors = found.banks[0].errors[0]
    assert by_anchors.method == "anchors"
    assert isinstance(by_anchors.mean_error, Estimate) and by_anchors.mean_error.n == 8


def test_the_bank_of_all_models_gives_their_scores_where_tasks_repeat() -> None:
    matrix = repeated(models=8, patterns=6, copies=5)
    positions, weights = choose_anchors(matrix.values, 6)
    assert matrix.values[:, positions] @ weights == pytest.approx(matrix.values.mean(axis=1))


@pytest.mark.long
def test_errors_are_those_of_models_that_had_no_part() -> None:
    matrix = simulated(60, 300)
    found = anchor_banks(matrix, sizes=(25, 100))
    assert isinstance(found, AnchorBanks) and found.folds == 5
    small, large = ({error.method: error.mean_error for error in bank.errors} for bank in found.banks)
    assert all(isinstance(error, Estimate) and error.n == 60 for error in (*small.values(), *large.values()))
    values = {name: error.value for name, error in small.items() if isinstance(error, Estimate)}
    assert values["anchors"] < values["mean of 25 random tasks"], "with many models anchors beat chance"
    assert values["p-IRT"] < values["mean of 25 random tasks"]
    # a random mean of n of 300 tasks is off by about sqrt(2/pi · p(1 − p)/n · (1 − n/300)), on average over models
    p = matrix.values.mean(axis=1)
    expected = np.sqrt(2 / np.pi * p * (1 - p) / 25 * (1 - 25 / 300)).mean()
    assert values["mean of 25 random tasks"] == pytest.approx(expected, rel=0.1)
    assert sum(anchor.weight for anchor in found.banks[0].anchors) == pytest.approx(1)


def test_equal_seeds_give_equal_banks() -> None:
    matrix = simulated(10, 80)
    assert anchor_banks(matrix, sizes=(25,), seed=3) == anchor_banks(matrix, sizes=(25,), seed=3)


def test_what_cannot_be_reduced_or_judged_says_why() -> None:
    few, small = anchor_banks(simulated(3, 80)), anchor_banks(simulated(10, 20))
    assert isinstance(few, Undefined) and "3 model(s) were given; a bank needs 4" in few.reason
    assert isinstance(small, Undefined) and "a bank of 25 tasks is not a reduction of 20" in small.reason


def test_repeated_runs_have_anchors_and_no_item_response_model() -> None:
    single = simulated(8, 60)
    twice = ScoreMatrix(
        single.models, single.tasks, single.passed * 2, single.runs * 2, single.lost * 1, single.reasons * 1
    )
    found = anchor_banks(twice, sizes=(25,))
    assert isinstance(found, AnchorBanks)
    errors = {error.method: error.mean_error for error in found.banks[0].errors}
    assert isinstance(errors["anchors"], Estimate)
    assert isinstance(errors["p-IRT"], Undefined) and "repeated runs" in errors["p-IRT"].reason
