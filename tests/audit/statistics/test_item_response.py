from collections.abc import Callable

import numpy as np
import pytest
from numpy.polynomial.hermite import hermgauss
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import norm

from agenthard.audit.statistics import Estimate, ItemResponse, ScoreMatrix, Undefined, item_parameters, item_rest

Build = Callable[[ArrayLike], ScoreMatrix]
NODES, WEIGHTS = hermgauss(120)


def simulated(models: int, tasks: int, seed: int = 0, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.5, 2.0, tasks), rng.normal(0, 1, tasks)
    theta = rng.normal(0, spread, models)
    return (rng.random((models, tasks)) < expit(np.outer(theta, a) - b)).astype(int), a, b


def likelihood(x: np.ndarray, a: np.ndarray, b: np.ndarray, spread: float) -> float:
    """Marginal log-likelihood by Gauss–Hermite quadrature."""
    logits = a[:, None] * (np.sqrt(2) * spread * NODES) - b[:, None]
    per_node = x @ log_expit(logits) + (1 - x) @ log_expit(-logits)
    return float(logsumexp(per_node, b=WEIGHTS / np.sqrt(np.pi), axis=1).sum())


def two_parameter_loss(x: np.ndarray, scale: float | None = None, centre: float | None = None) -> Callable:
    """Minus penalised likelihood of (b, a); the prior's s and m are the most probable ones unless given."""

    def loss(parameters: np.ndarray) -> float:
        b, a = np.split(parameters, 2)
        s = (a @ a) / a.sum() if scale is None else scale
        m = (a @ b) / (a @ a) if centre is None else centre
        penalty = ((a / s - 1) ** 2).sum() / (2 * 0.5**2) + ((b - m * a) ** 2).sum() / (2 * 1.5**2)
        return penalty - likelihood(x, a, b, 1.0)

    return loss


def hessian(f: Callable, at: np.ndarray, step: float = 1e-3) -> np.ndarray:
    eye = step * np.eye(len(at))
    return np.array(
        [[(f(at + i + j) - f(at + i - j) - f(at - i + j) + f(at - i - j)) / (4 * step**2) for j in eye] for i in eye]
    )


def parameters(fit: ItemResponse | Undefined) -> tuple[np.ndarray, np.ndarray]:
    """Values and standard errors, difficulties first."""
    assert isinstance(fit, ItemResponse)
    both = [item.difficulty for item in fit.items]
    both += [item.discrimination for item in fit.items if item.discrimination]
    return np.array([e.value for e in both]), np.array([e.standard_error for e in both])


def test_2pl_is_the_maximum_of_its_penalised_likelihood(matrix: Build) -> None:
    x, _, _ = simulated(40, 7)
    values, errors = parameters(item_parameters(matrix(x)))
    loss = two_parameter_loss(x)
    best = minimize(loss, values + 0.1, method="BFGS", options={"gtol": 1e-6})
    assert values == pytest.approx(best.x, abs=2e-4)
    assert loss(values) <= best.fun + 1e-7
    b, a = np.split(values, 2)
    fixed = two_parameter_loss(x, (a @ a) / a.sum(), (a @ b) / (a @ a))
    assert errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(hessian(fixed, values)))), rel=2e-3)


def test_1pl_is_the_maximum_of_its_penalised_likelihood(matrix: Build) -> None:
    x, _, _ = simulated(40, 7, seed=1)
    fit = item_parameters(matrix(x), "1PL")
    assert isinstance(fit, ItemResponse)
    values, errors = parameters(fit)

    def loss(at: np.ndarray, centre: float | None = None) -> float:
        b, spread = at[:-1], at[-1]
        m = b.mean() if centre is None else centre
        return float(((b - m) ** 2).sum() / (2 * 1.5**2)) - likelihood(x, np.ones(len(b)), b, spread)

    at = np.append(values, fit.ability_spread)
    best = minimize(loss, at + 0.1, method="BFGS", options={"gtol": 1e-6})
    assert at == pytest.approx(best.x, abs=2e-4)
    covariance = np.linalg.inv(hessian(lambda p: loss(p, values.mean()), at))
    assert errors == pytest.approx(np.sqrt(np.diag(covariance))[:-1], rel=2e-3)


def test_true_parameters_lie_in_the_intervals(matrix: Build) -> None:
    x, a, b = simulated(400, 40, seed=2)
    values, errors = parameters(item_parameters(matrix(x)))
    z = (values - np.concatenate([b, a])) / errors
    # 80 intervals: 76 expected inside ± 1.96, standard deviation 2
    assert (np.abs(z) < norm.ppf(0.975)).sum() >= 70
    assert np.corrcoef(values[40:], a)[0, 1] > 0.8 and np.corrcoef(values[:40], b)[0, 1] > 0.98


def test_a_task_that_weak_models_pass_has_negative_discrimination(matrix: Build) -> None:
    x, _, _ = simulated(60, 30, seed=3)
    x[:, 4] = x.sum(axis=1) < np.median(x.sum(axis=1))
    fit = item_parameters(matrix(x))
    assert isinstance(fit, ItemResponse) and fit.items[4].discrimination is not None
    reversed_item = fit.items[4].discrimination
    assert reversed_item.standard_error is not None
    assert reversed_item.value + 2 * reversed_item.standard_error < 0
    assert sum(item.discrimination.value < 0 for item in fit.items if item.discrimination) == 1


def test_abilities_have_the_units_the_model_says(matrix: Build) -> None:
    x, _, _ = simulated(80, 60, seed=4, spread=2.0)
    one, two = item_parameters(matrix(x), "1PL"), item_parameters(matrix(x))
    assert isinstance(one, ItemResponse) and isinstance(two, ItemResponse)
    assert two.ability_spread == 1 and one.ability_spread > 1.5
    for fit in (one, two):
        assert np.mean(list(fit.abilities.values())) == pytest.approx(0, abs=1e-5)
        assert np.corrcoef(list(fit.abilities.values()), x.mean(axis=1))[0, 1] > 0.95


def test_tasks_without_a_difference_have_no_parameters(matrix: Build) -> None:
    x, _, _ = simulated(10, 6, seed=5)
    with_constants = np.column_stack([np.ones(10, int), x, np.zeros(10, int)])
    fit, plain = item_parameters(matrix(with_constants)), item_parameters(matrix(x))
    assert isinstance(fit, ItemResponse) and isinstance(plain, ItemResponse)
    assert {task: why.reason.split(",")[0] for task, why in fit.left_out.items()} == {
        "t0": "undefined because all 10 models pass it",
        "t7": "undefined because all 10 models fail it",
    }
    assert [item.task for item in fit.items] == ["t1", "t2", "t3", "t4", "t5", "t6"]
    assert parameters(fit)[0] == pytest.approx(parameters(plain)[0], abs=1e-9)


def test_a_missing_cell_does_not_count(matrix: Build) -> None:
    x, _, _ = simulated(12, 6, seed=6)
    gappy = x.astype(object)
    gappy[0, 2] = None
    fit = item_parameters(matrix(gappy))
    assert isinstance(fit, ItemResponse)
    assert [(item.difficulty.n, item.difficulty.of) for item in fit.items] == [
        (11 if i == 2 else 12, 12) for i in range(6)
    ]
    unseen = item_parameters(matrix(np.column_stack([x, np.full(12, None, dtype=object)])))
    assert isinstance(unseen, ItemResponse) and "no model has a score" in unseen.left_out["t6"].reason


@pytest.mark.parametrize("model", ["1PL", "2PL"])
def test_what_cannot_be_fitted_is_undefined(matrix: Build, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for values, why in (
        ([[1, 0, 1]], "1 model"),
        ([[1, 1], [1, 0]], "1 task"),
        ([[1, 1], [1, 1]], "0 task"),
    ):
        result = item_parameters(matrix(values), model)  # type: ignore[arg-type]
        assert isinstance(result, Undefined) and why in result.reason
    x, _, _ = simulated(12, 6, seed=6)
    monkeypatch.setattr("agenthard.audit.statistics.item_response.MOST_ROUNDS", 1)
    result = item_parameters(matrix(x), model)  # type: ignore[arg-type]
    assert isinstance(result, Undefined) and "did not converge" in result.reason


@pytest.mark.parametrize("model", ["1PL", "2PL"])
def test_noise_measures_no_ability(matrix: Build, model: str) -> None:
    # a checkerboard: every model passes every other task, so no two scores differ
    board = np.indices((12, 20)).sum(axis=0) % 2
    result = item_parameters(matrix(board), model)  # type: ignore[arg-type]
    assert isinstance(result, Undefined) and "no more than by chance" in result.reason


def test_several_runs_per_cell_are_refused(leveled: ScoreMatrix) -> None:
    doubled = ScoreMatrix(
        leveled.models, leveled.tasks, leveled.passed, leveled.runs * 2, leveled.lost, leveled.reasons
    )
    result = item_parameters(doubled)
    assert isinstance(result, Undefined) and "one run per cell" in result.reason


def test_item_rest_is_the_correlation_with_the_other_tasks() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, (9, 7))
    values[:, 6] = 1
    matrix = ScoreMatrix.from_array(values, list("abcdefghi"), [f"t{i}" for i in range(7)])
    found = item_rest(matrix)
    assert not isinstance(found, Undefined)
    assert "t6" not in found
    difficulty, discrimination = found["t2"]
    others = np.delete(values, 2, axis=1).mean(axis=1)
    assert isinstance(discrimination, Estimate) and isinstance(difficulty, Estimate)
    assert discrimination.value == pytest.approx(np.corrcoef(values[:, 2], others)[0, 1], abs=1e-12)
    assert difficulty.value == pytest.approx(1 - values[:, 2].mean())
