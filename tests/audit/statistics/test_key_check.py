"""Planted inverted keys are found, in simulations and in the real matrices, at a stated rate."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.integrate import dblquad
from scipy.stats import norm, pearsonr

from agenthard.audit.statistics import InvertedKeys, ScoreMatrix, Undefined, inverted_keys, item_rest, read_matrix
from agenthard.audit.statistics.key_check import _Outcomes

Build = Callable[[ArrayLike], ScoreMatrix]


def plant(matrix: ScoreMatrix, number: int, seed: int) -> tuple[InvertedKeys, set[str]]:
    chosen = np.random.default_rng(seed).choice(len(matrix.tasks), number, replace=False)
    passed = matrix.passed.copy()
    passed[:, chosen] = matrix.runs[:, chosen] - passed[:, chosen]
    found = inverted_keys(replace(matrix, passed=passed))
    assert isinstance(found, InvertedKeys)
    return found, {matrix.tasks[i] for i in chosen}


def test_the_evidence_is_the_ratio_of_two_integrals() -> None:
    ability = np.array([-1.5, -0.7, 0.1, 0.6, 1.5])
    passed = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [0, 1]], dtype=float)
    parameters = np.array([0.2, -0.3, 0.1, -3.0])
    scale, centre, spread = np.exp(0.2), -0.3, np.exp(0.1)

    def integral(outcomes: np.ndarray) -> float:
        def density(b: float, a: float) -> float:
            p = 1 / (1 + np.exp(b - a * ability))
            prior = norm.pdf(a, scale, scale / 2) * norm.pdf(b, centre, spread)
            return float(np.prod(np.where(outcomes > 0, p, 1 - p)) * prior)

        return float(dblquad(density, 0, 4 * scale, centre - 5 * spread, centre + 5 * spread)[0])

    oracle = [np.log(integral(1 - column) / integral(column)) for column in passed.T]
    assert oracle[0] > 1 and oracle[1] < -1
    assert _Outcomes(ability, passed).evidence(parameters) == pytest.approx(oracle, rel=0.03)  # a coarse grid


def test_an_inverted_key_stands_out_among_many_models(matrix: Build) -> None:
    rng = np.random.default_rng(5)
    logits = rng.normal(0.3, 0.9, 40)[:, None] - rng.normal(0, 1.2, 120)
    sound = matrix((rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(int))
    before = inverted_keys(sound)
    assert isinstance(before, InvertedKeys) and len(before.likely()) <= 1
    found, names = plant(sound, 6, 2)
    likely = set(found.likely())
    assert len(likely & names) >= 3 and len(likely - names) <= 1
    assert found.share.value > before.share.value


def test_what_cannot_be_told_is_undefined(matrix: Build) -> None:
    rng = np.random.default_rng(1)
    for values, words in (
        (rng.integers(0, 2, (4, 60)), "4 models are too few"),
        (rng.integers(0, 2, (8, 20)), "models differ on"),
        (rng.random((8, 60)).round(2), "pass or fail"),
    ):
        found = inverted_keys(matrix(values))
        assert isinstance(found, Undefined) and words in found.reason


def test_item_rest_has_fishers_interval(leveled: ScoreMatrix) -> None:
    found = item_rest(leveled)
    assert not isinstance(found, Undefined)
    difficulty, correlation = found["t5"]
    rest = np.delete(leveled.values, 5, axis=1).mean(axis=1)
    oracle = pearsonr(leveled.values[:, 5], rest)
    interval = oracle.confidence_interval(0.95)
    assert [correlation.low, correlation.high] == pytest.approx([interval.low, interval.high])  # type: ignore[union-attr]


@pytest.mark.corpora
def test_keys_planted_in_tau_bench_are_seldom_named_and_others_never(corpora: Path) -> None:
    whole = read_matrix(corpora / "trajectories" / "tau1_paper_reward_matrix.json").complete_models()
    before = inverted_keys(whole)
    assert isinstance(before, InvertedKeys) and not before.likely()
    named = false = high = planted = 0
    for seed in range(20):
        found, names = plant(whole, 8, seed)
        names &= set(found.probabilities)
        likely = set(found.likely())
        named, false, planted = named + len(likely & names), false + len(likely - names), planted + len(names)
        order = sorted(found.probabilities, key=lambda task: -found.probabilities[task])
        high += len(set(order[:16]) & names)
    # With 15 models few are certain, but two in three are among the 16 most likely of 130.
    assert named / planted > 0.12 and false <= 1 and high / planted > 0.6


@pytest.mark.corpora
def test_keys_planted_in_bfcl_are_found(corpora: Path) -> None:
    table = read_matrix(corpora / "bfcl_v1_results" / "bfcl_v1_results_2024-08-11.csv.gz").complete_models()
    before = inverted_keys(table)
    assert isinstance(before, InvertedKeys)
    found, names = plant(table, 85, 0)
    likely = set(found.likely())
    assert len(likely & names) / 85 > 0.8
    assert len(likely - names - set(before.likely())) <= 12
    # What looks inverted before: tasks that reward calling no function, which weaker models do more often.
    assert np.mean([task.startswith("irrelevance") for task in before.likely()]) > 0.5
