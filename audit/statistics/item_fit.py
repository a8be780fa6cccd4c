"""EM fit of item response models, and the standard errors of what it finds."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

Model = Literal["1PL", "2PL"]

MOST_ROUNDS = 2000
_DIFFICULTY_SPREAD = 1.5
_DISCRIMINATION_SPREAD = 0.5
_REACH = 6.0
_LEAST_SPREAD = 0.1
"""Spread of the log-odds between models, below which it is taken to be 0 (EM approaches 0 for ever)."""
_TOLERANCE = 1e-7


@dataclass(frozen=True)
class ItemFit:
    """A fit. A row of parameters is (b,) in a 1PL and (b, a) in a 2PL.

    Attributes:
        parameters: tasks × parameters.
        errors: their standard errors, same shape.
        spread: standard deviation of the abilities.
        abilities: posterior mean ability per model.
    """

    parameters: NDArray[np.float64]
    errors: NDArray[np.float64]
    spread: float
    abilities: NDArray[np.float64]


def fit_items(passed: NDArray[np.float64], scored: NDArray[np.float64], model: Model) -> ItemFit | str:
    """Fit by EM, all tasks at once; ``item_parameters`` says what is maximised.

    Args:
        passed: models × tasks, 1 where the model passed.
        scored: models × tasks, 1 where there is a score, 0 where it is missing.
        model: "1PL" or "2PL".

    Returns:
        The fit, or why there is none: the abilities' spread vanishes, or EM does not converge.
    """
    share = (passed.sum(axis=0) + 0.5) / (scored.sum(axis=0) + 1)
    parameters = np.log((1 - share) / share)[:, None]
    if model == "2PL":
        parameters = np.column_stack([parameters, np.ones(len(share))])
    spread = 1.0
    for _ in range(MOST_ROUNDS):
        grid = _grid(parameters, spread)
        posterior = _posterior(passed, scored, parameters, grid, spread)
        later = _maximise(passed.T @ posterior, scored.T @ posterior, parameters, grid)
        # Parameter expansion (Liu, Rubin and Wu 1998): fit the abilities' mean and spread too, then absorb them.
        mean = float((posterior @ grid).mean())
        spread_later = float(np.sqrt((posterior @ (grid - mean) ** 2).mean()))
        later[:, 0] -= mean * _discriminations(later)
        if model == "2PL":
            later[:, 1] *= spread_later
            spread_later = 1.0
        change = max(np.abs(later - parameters).max(), abs(spread_later - spread))
        parameters, spread = later, spread_later
        if spread * float(np.sqrt((_discriminations(parameters) ** 2).mean())) < _LEAST_SPREAD:
            return "the models differ no more than by chance, so the tasks have no common ability to measure"
        if change < _TOLERANCE:
            grid = _grid(parameters, spread)
            posterior = _posterior(passed, scored, parameters, grid, spread)
            errors = _standard_errors(passed, scored, parameters, grid, spread, posterior)
            return ItemFit(parameters, errors, spread, posterior @ grid)
    return f"EM did not converge in {MOST_ROUNDS} rounds"


def _discriminations(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """Discrimination of each task."""
    return parameters[:, 1] if parameters.shape[1] == 2 else np.ones(len(parameters))


def _prior(parameters: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means (tasks × parameters) and precision matrices (tasks × parameters × parameters) of the prior.

    a ~ N(s, (s/2)²) and b ~ N(a m, 1.5²), s and m being most probable given the parameters. The prior so shrinks tasks
    towards one another without pulling at the units, which the standard normal abilities define.
    """
    a, b = _discriminations(parameters), parameters[:, 0]
    centre = float((a * b).sum() / (a * a).sum())
    flat = 1 / _DIFFICULTY_SPREAD**2
    if parameters.shape[1] == 1:
        return np.full_like(parameters, centre), np.full((len(a), 1, 1), flat)
    scale = float((a * a).sum() / a.sum())
    mean = np.tile([centre * scale, scale], (len(a), 1))
    precision = np.array(
        [[flat, -flat * centre], [-flat * centre, (_DISCRIMINATION_SPREAD * scale) ** -2 + flat * centre**2]]
    )
    return mean, np.tile(precision, (len(a), 1, 1))


def _design(
    parameters: NDArray[np.float64], grid: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivative of the logit by each parameter (parameters × grid), and the logit itself (tasks × grid)."""
    slopes = np.stack([-np.ones_like(grid), grid])[: parameters.shape[1]]
    fixed = grid if parameters.shape[1] == 1 else np.zeros_like(grid)
    return slopes, parameters @ slopes + fixed


def _grid(parameters: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """Even grid over ±6 standard deviations, its step at most the narrowest posterior: then the sum is the integral."""
    step = 1 / np.sqrt(1 / spread**2 + (_discriminations(parameters) ** 2).sum() / 4)
    return np.linspace(-_REACH * spread, _REACH * spread, int(np.ceil(2 * _REACH * spread / step)) + 2)


def _posterior(
    passed: NDArray[np.float64],
    scored: NDArray[np.float64],
    parameters: NDArray[np.float64],
    grid: NDArray[np.float64],
    spread: float,
) -> NDArray[np.float64]:
    """Probability of each grid point given each model's outcomes (models × grid)."""
    logits = _design(parameters, grid)[1]
    log_joint = passed @ log_expit(logits) + (scored - passed) @ log_expit(-logits) - (grid / spread) ** 2 / 2
    return np.asarray(np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True)))


def _maximise(
    passed: NDArray[np.float64],
    scored: NDArray[np.float64],
    parameters: NDArray[np.float64],
    grid: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Newton steps of every task's penalised logistic regression on the expected counts (tasks × grid)."""
    centre, precision = _prior(parameters)
    for _ in range(2):
        slopes, logits = _design(parameters, grid)
        p = expit(logits)
        gradient = (passed - scored * p) @ slopes.T - np.einsum("tij,tj->ti", precision, parameters - centre)
        curvature = np.einsum("tg,ig,jg->tij", scored * p * (1 - p), slopes, slopes, optimize=True) + precision
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        parameters = parameters + np.clip(step, -1, 1)
    return parameters


def _standard_errors(
    passed: NDArray[np.float64],
    scored: NDArray[np.float64],
    parameters: NDArray[np.float64],
    grid: NDArray[np.float64],
    spread: float,
    posterior: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Root of the diagonal of the inverse information ``D − GᵀG`` (Louis), by Woodbury's identity.

    D is the expected complete-data information: one block per task, and 2 models / spread² for the spread of a 1PL.
    Row (m, q) of G is ``sqrt(w_mq) (s_m(θ_q) − E s_m)``, the centred complete-data score of model m at grid point q.
    """
    slopes, logits = _design(parameters, grid)
    p = expit(logits)
    weights = scored.T @ posterior
    blocks = np.einsum("tg,ig,jg->tij", weights * p * (1 - p), slopes, slopes, optimize=True)
    inverse = np.linalg.inv(blocks + _prior(parameters)[1])
    n_tasks, width = parameters.shape
    rows = []
    for outcomes, present, row in zip(passed, scored, posterior, strict=True):
        near = np.flatnonzero(row > 1e-14)
        weight = row[near]
        residual = present[:, None] * (outcomes[:, None] - p[:, near])
        scores = (residual[:, None, :] * slopes[None, :, near]).reshape(n_tasks * width, -1)
        if width == 1:
            scores = np.vstack([scores, (grid[near] ** 2 / spread**2 - 1) / spread])
        rows.append(((scores - (scores @ weight)[:, None]) * np.sqrt(weight)).T)
    centred = np.concatenate(rows)
    if len(centred) > centred.shape[1]:
        centred = np.asarray(np.linalg.qr(centred, mode="r"))
    by_task = centred[:, : n_tasks * width].reshape(-1, n_tasks, width)
    solved = np.einsum("mti,tij->mtj", by_task, inverse, optimize=True).reshape(len(centred), -1)
    core = np.eye(len(centred)) - solved @ centred[:, : n_tasks * width].T
    if width == 1:
        core -= np.outer(centred[:, -1], centred[:, -1]) * spread**2 / (2 * len(posterior))
    variances = np.einsum("tii->ti", inverse).ravel() + np.einsum("mk,mk->k", solved, np.linalg.solve(core, solved))
    return np.asarray(np.sqrt(variances)).reshape(n_tasks, width)
