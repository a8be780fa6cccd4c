"""Test information: against its definition, and against tasks of known parameters."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from agenthard.audit.statistics import ScoreMatrix, Undefined
from agenthard.audit.statistics.information import TaskFit, fit_tasks


def simulated(models: int, tasks: int, inverted: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes of models on tasks with known discrimination; the first tasks have an inverted key."""
    rng = np.random.default_rng(3)
    ability, a, b = rng.normal(size=models), rng.uniform(0.4, 2.2, tasks), rng.normal(size=tasks)
    values = (rng.random((models, tasks)) < expit(np.outer(ability, a) - b)).astype(float)
    values[:, :inverted] = 1 - values[:, :inverted]
    return values, a, b


def test_information_is_that_of_the_log_likelihood() -> None:
    fit = TaskFit(np.array([-1.0, 1.0]), np.array([0.3]), np.array([1.7]), np.array([True]))
    step, theta = 1e-4, 0.4

    def expected(at: float) -> float:
        p = expit(1.7 * theta - 0.3)
        return float(p * log_expit(1.7 * at - 0.3) + (1 - p) * log_expit(0.3 - 1.7 * at))

    curvature = -(expected(theta + step) - 2 * expected(theta) + expected(theta - step)) / step**2
    assert fit.information([theta])[0, 0] == pytest.approx(curvature, rel=1e-5)


def test_known_parameters_are_found() -> None:
    values, a, b = simulated(200, 120)
    fit = fit_tasks(values, np.ones_like(values))
    assert not isinstance(fit, Undefined)
    assert np.corrcoef(fit.discrimination, a)[0, 1] > 0.8 and np.corrcoef(fit.difficulty, b)[0, 1] > 0.95
    assert fit.abilities.mean() == pytest.approx(0) and fit.abilities.std() == pytest.approx(1)


def test_the_fit_is_the_most_probable_one_given_its_prior() -> None:
    values, _, _ = simulated(40, 30)
    fit = fit_tasks(values, np.ones_like(values))
    assert not isinstance(fit, Undefined)
    a, b = fit.discrimination, fit.difficulty
    centre, scale = (a * b).sum() / (a * a).sum(), (a * a).sum() / a.sum()
    for task in np.flatnonzero(fit.measured)[:6]:

        def lost(x: np.ndarray, y: np.ndarray = values[:, task]) -> float:
            logits = x[1] * fit.abilities - x[0]
            fits = (y * log_expit(logits) + (1 - y) * log_expit(-logits)).sum()
            prior = ((x[0] - x[1] * centre) / 1.5) ** 2 + ((x[1] - scale) / (scale / 2)) ** 2
            return float(prior / 2 - fits)

        best = minimize(lost, [0.0, 1.0], method="BFGS").x
        assert (b[task], a[task]) == pytest.approx(tuple(best), abs=1e-3)


def test_inverted_keys_and_tasks_without_differences_have_no_information() -> None:
    values, _, _ = simulated(200, 60, inverted=5)
    values[:, 59] = 1
    fit = fit_tasks(values, np.ones_like(values))
    assert not isinstance(fit, Undefined)
    amounts = fit.within(0, 1)
    assert (fit.discrimination[:5] < 0).all() and not amounts[:5].any() and amounts[59] == 0
    assert (amounts[5:59] > 0).mean() > 0.9


def test_repeated_runs_are_counted(matrix: Callable[[ArrayLike], ScoreMatrix]) -> None:
    values, _, _ = simulated(30, 40)
    once, twice = fit_tasks(values, np.ones_like(values)), fit_tasks(2 * values, 2 * np.ones_like(values))
    assert not isinstance(once, Undefined) and not isinstance(twice, Undefined)
    assert twice.discrimination.mean() > once.discrimination.mean(), "more runs say more against the prior"


@pytest.mark.parametrize(
    ("values", "reason"),
    [([[1, 1], [1, 1]], "0 task(s) differ"), ([[1, 0, 1, 0], [0, 1, 0, 1]], "all models have the same score")],
)
def test_nothing_to_measure_is_undefined(values: list[list[int]], reason: str) -> None:
    found = fit_tasks(np.array(values, float), np.ones((2, len(values[0]))))
    assert isinstance(found, Undefined) and reason in found.reason
