"""Missing cells, partial credit and weights: the figures are those of oracles, and missing hard tasks are noticed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.stats import norm, ttest_rel

from agenthard.audit.statistics import (
    Estimate,
    MatrixError,
    ScoreMatrix,
    Undefined,
    clustered_mean,
    compare_pairs,
    item_parameters,
    matrix_from_rows,
    missing_outcomes,
    modelled_scores,
    paired_separability,
    rank_change_nulls,
    read_matrix,
    separability,
    trial_counts,
    wilson_interval,
)

Build = Callable[[ArrayLike], ScoreMatrix]


def outcomes(models: int, tasks: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.3, 0.7, models)[:, None] - rng.normal(0, 1.4, tasks)
    return (rng.random((models, tasks)) < 1 / (1 + np.exp(-logits))).astype(int)


def test_a_missing_cell_counts_with_its_probability_given_the_outcomes_of_the_task(matrix: Build) -> None:
    values = outcomes(6, 40, 3).astype(object)
    values[0, :3] = None
    part = matrix(values)
    found = modelled_scores(part)["m0"]
    assert isinstance(found, Estimate) and (found.n, found.of) == (37, 40)
    # The same model with the roles exchanged, through the public function: models are the items.
    turned = ScoreMatrix.from_array(values.T, part.tasks, part.models)
    fit = item_parameters(turned, "1PL")
    assert not isinstance(fit, Undefined)
    difficulty = {item.task: item.difficulty.value for item in fit.items}

    def likelihood(theta: float, task: int) -> float:
        product = norm.pdf(theta, 0, fit.ability_spread)
        for row, model in enumerate(part.models):
            if values[row, task] is not None:
                p = 1 / (1 + np.exp(difficulty[model] - theta))
                product *= p if values[row, task] else 1 - p
        return float(product)

    expected = sum(values[0, 3:])
    for task in range(3):
        above = quad(lambda x, t=task: likelihood(x, t) / (1 + np.exp(difficulty["m0"] - x)), -12, 12)[0]
        expected += above / quad(lambda x, t=task: likelihood(x, t), -12, 12)[0]
    assert found.value == pytest.approx(expected / 40, abs=1e-5)


def test_without_missing_cells_a_modelled_score_is_wilsons(matrix: Build) -> None:
    whole = matrix(outcomes(5, 60, 1))
    found, oracle = modelled_scores(whole)["m2"], wilson_interval(int(whole.passed[2].sum()), 60)
    assert isinstance(found, Estimate) and isinstance(oracle, Estimate)
    assert (found.value, found.low, found.high) == pytest.approx((oracle.value, oracle.low, oracle.high))
    assert isinstance(missing_outcomes(whole), Undefined)


def test_a_model_that_skips_what_others_fail_is_noticed_and_its_score_corrected(matrix: Build) -> None:
    own, modelled, alarms, inside = [], [], 0, 0
    for seed in range(12):
        values = outcomes(9, 120, seed)
        hardest = np.argsort(values[1:].sum(axis=0), kind="stable")[:40]
        holes = values.astype(object)
        holes[0, hardest] = None
        found = missing_outcomes(matrix(holes), draws=300, seed=seed)
        assert not isinstance(found, Undefined) and found.p is not None
        row, truth = found.models[0], values[0].mean()
        assert isinstance(row.available, Estimate) and isinstance(row.modelled, Estimate)
        assert isinstance(row.easier, Estimate) and row.easier.value < 0
        assert row.least <= truth <= row.most
        own.append(row.available.value - truth)
        modelled.append(row.modelled.value - truth)
        assert row.modelled.low is not None and row.modelled.high is not None
        inside += row.modelled.low <= truth <= row.modelled.high
        alarms += found.p.p <= 0.05
    assert np.mean(own) > 0.1 and abs(np.mean(modelled)) < 0.02
    assert alarms == 12 and inside >= 11


def test_runs_missing_at_random_raise_no_alarm(matrix: Build) -> None:
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = outcomes(6, 60, seed).astype(object)
        values[:, rng.random(60) < 0.1] = None  # tasks that broke for all
        values[rng.random((6, 60)) < 0.05] = None
        found = missing_outcomes(matrix(values), draws=300, seed=seed)
        assert not isinstance(found, Undefined)
        alarms += found.p is not None and found.p.p <= 0.05
    assert alarms <= 6  # P(X ≥ 7) = .01 for 40 tests at 5 %


def test_the_t_test_is_scipys_on_the_tasks_that_both_have(matrix: Build) -> None:
    rng = np.random.default_rng(2)
    values = rng.random((3, 30)).round(2).astype(object)
    values[0, 4] = values[1, 7] = None
    part = matrix(values)
    assert part.fractional and not part.binary
    pairs = compare_pairs(part, test="t")
    assert not isinstance(pairs, Undefined) and [pair.n for pair in pairs] == [28, 29, 29]
    both = [i for i in range(30) if i not in (4, 7)]
    oracle = ttest_rel(values[0, both].astype(float), values[1, both].astype(float))
    assert pairs[0].p == pytest.approx(oracle.pvalue)
    share = paired_separability(part, test="t")
    assert isinstance(share, Estimate) and "paired t tests" in share.method
    refused = compare_pairs(part)
    assert isinstance(refused, Undefined) and "pass or fail" in refused.reason
    with pytest.raises(MatrixError, match="partial credit"):
        trial_counts(part, "m0")


def test_weights_repeat_tasks_in_scores_but_not_in_errors(matrix: Build) -> None:
    values = outcomes(4, 30, 5)
    weights = np.array([1.0, 3.0] * 15)
    heavy = replace(matrix(values), weights=weights)
    twice = np.repeat(values, weights.astype(int), axis=1)
    assert heavy.scores() == pytest.approx({f"m{i}": twice[i].mean() for i in range(4)})
    one = clustered_mean(values[0].tolist(), weights=weights.tolist())
    # A task three times is a cluster of three runs: the same mean and the same linearised error.
    oracle = clustered_mean(twice[0].tolist(), np.repeat([f"t{i}" for i in range(30)], weights.astype(int)).tolist())
    assert isinstance(one, Estimate) and isinstance(oracle, Estimate)
    assert (one.value, one.standard_error) == pytest.approx((oracle.value, oracle.standard_error))
    t = compare_pairs(heavy, test="t")
    assert not isinstance(t, Undefined) and t[0].difference == pytest.approx(twice[0].mean() - twice[1].mean())
    assert isinstance(compare_pairs(heavy), Undefined)
    nulls = rank_change_nulls(heavy, heavy.take(range(24)), draws=400)
    assert not isinstance(nulls, Undefined)
    spread = separability(heavy, resamples=300)
    assert isinstance(spread, Estimate) and "bootstrap resamples" in spread.method


def test_weights_and_partial_credit_are_read_from_tables(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("task,a,b,weight\nt1,0.5,1,2\nt2,,0,1\n")
    rows = [
        {"model": m, "task": t, "score": s, "weight": w}
        for m, t, s, w in [("a", "t1", 0.5, 2), ("b", "t1", 1, 2), ("a", "t2", None, 1), ("b", "t2", 0, 1)]
    ]
    for part in (read_matrix(tmp_path / "wide.csv"), matrix_from_rows(rows)):
        assert part.weights is not None and part.weights.tolist() == [2, 1]
        assert part.values.tolist() == [[0.5, 0], [1, 0]] and part.scored.tolist() == [[True, False], [True, True]]
        assert part.take([1]).weights.tolist() == [1]  # type: ignore[union-attr]
    with pytest.raises(MatrixError, match="two weights, 2 and 1"):
        matrix_from_rows([*rows, {"model": "c", "task": "t1", "score": 1, "weight": 1}])
    (tmp_path / "bad.csv").write_text("task,a,weight\nt1,1,0\n")
    with pytest.raises(MatrixError, match="a weight is a number above 0"):
        read_matrix(tmp_path / "bad.csv")
