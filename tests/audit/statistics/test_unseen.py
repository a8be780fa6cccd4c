"""Figures on models held out: against the statistics of single matrices, and choices whose worth is known."""

import numpy as np
import pytest
from scipy.special import expit

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    chance_corrected_agreement,
    mcnemar_exact,
    paired_difference,
    paired_separability,
)
from agenthard.audit.statistics.unseen import UnseenFigures, model_folds, unseen_figures


def outcomes(models: int = 12, tasks: int = 150, useless: int = 0) -> np.ndarray:
    """Outcomes of models on tasks; the last tasks are coin tosses, which say nothing about ability."""
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 1, models)[:, None] - rng.normal(0, 1.2, tasks)
    logits[:, tasks - useless :] = 0
    return np.asarray(rng.random((models, tasks)) < expit(logits), dtype=float)


def value(result: object) -> float:
    assert isinstance(result, Estimate)
    return result.value


def measured(values: np.ndarray, chosen: np.ndarray, clusters: list[str] | None = None) -> UnseenFigures:
    folds = model_folds(len(values), 5, seed=1)
    assert folds is not None
    return unseen_figures(values, folds, lambda rows: chosen, clusters=clusters, draws=200, seed=2)


def test_every_model_is_held_out_once_per_repetition() -> None:
    folds = model_folds(31, 5, seed=4)
    assert folds is not None and folds.per_repetition == 5
    for start in range(0, len(folds.unseen), 5):
        assert sorted(row for fold in folds.unseen[start : start + 5] for row in fold) == list(range(31))


def test_models_that_choose_are_never_measured() -> None:
    values, seen = outcomes(), []
    folds = model_folds(12, 5, seed=1)
    assert folds is not None

    def choose(rows: tuple[int, ...]) -> np.ndarray:
        seen.append(rows)
        return np.ones(150, dtype=bool)

    unseen_figures(values, folds, choose, draws=10)
    assert [set(range(12)) - set(rows) for rows in seen] == [set(fold) for fold in folds.unseen]


def test_figures_are_those_of_single_matrices() -> None:
    values = outcomes()
    chosen = np.arange(150) % 3 > 0
    found, folds = measured(values, chosen), model_folds(12, 5, seed=1)
    assert folds is not None
    parts = [
        ScoreMatrix.from_array(
            values[list(fold)][:, chosen].astype(int), [str(i) for i in fold], [str(i) for i in range(100)]
        )
        for fold in folds.unseen
    ]
    assert found.chosen["score"] == pytest.approx(np.mean([part.values.mean() for part in parts]))
    assert found.chosen["significant"] == pytest.approx(np.mean([value(paired_separability(p)) for p in parts]))
    assert found.chosen["agreement"] == pytest.approx(np.mean([value(chance_corrected_agreement(p)) for p in parts]))
    signals = []
    for part in parts:
        x = part.values
        for i in range(len(x)):
            for j in range(i):
                b, c = (x[i] > x[j]).sum(), (x[j] > x[i]).sum()
                signals.append(100 * ((b - c) ** 2 / (b + c) - 1) / 100)
    assert found.chosen["signal"] == pytest.approx(np.mean(signals))
    assert mcnemar_exact(1, 5).item() == pytest.approx(14 / 64)


def test_fractions_and_clusters_use_the_clustered_t() -> None:
    rng = np.random.default_rng(8)
    values = rng.integers(0, 5, (9, 120)) / 4 * 0.5 + rng.random((9, 1)) * 0.5
    clusters = [f"c{i // 4}" for i in range(120)]
    chosen = np.arange(120) < 80
    found, folds = measured(values, chosen, clusters), model_folds(9, 5, seed=1)
    assert folds is not None
    signals = []
    for fold in folds.unseen:
        for i in range(len(fold)):
            for j in range(i):
                one, other = values[fold[i]][:80], values[fold[j]][:80]
                gap = paired_difference(one.tolist(), other.tolist(), clusters[:80])
                assert isinstance(gap, Estimate) and gap.standard_error
                signals.append(((gap.value / gap.standard_error) ** 2 - 1) / 80 * 100)
    assert found.chosen["signal"] == pytest.approx(np.mean(signals))


def test_random_choices_lie_within_the_band_and_good_ones_beyond() -> None:
    values = outcomes(tasks=200, useless=100)
    random, good = (measured(values, np.arange(200) % 2 == 0), measured(values, np.arange(200) < 100))
    low, high = np.quantile(random.random["signal"], [0.01, 0.99])
    assert low < random.chosen["signal"] < high
    assert good.chosen["signal"] > good.random["signal"].max()
    assert good.everything == random.everything


@pytest.mark.parametrize("models", [2, 5, 8])
def test_too_few_models_cannot_be_parted(models: int) -> None:
    assert model_folds(models, 5, seed=0) is None
