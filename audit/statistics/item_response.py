"""Difficulty and discrimination of tasks: 1PL and 2PL item parameters with standard errors, fitted by EM."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from agenthard.audit.statistics.intervals import fisher_z
from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record

Model = Literal["1PL", "2PL"]

MOST_ROUNDS = 2000
_DIFFICULTY_SPREAD = 1.5
_DISCRIMINATION_SPREAD = 0.5
_REACH = 6.0
_LEAST_SPREAD = 0.1
"""Spread of the log-odds between models, below which it counts as 0 (EM approaches 0 without reaching it)."""
_TOLERANCE = 1e-7


class ItemParameters(Record):
    """Parameters of one task in ``P(pass) = sigmoid(a θ − b)``, θ being a model's ability."""

    task: str
    """Task id."""
    difficulty: Estimate
    """b: log-odds that a model of average ability (θ = 0) fails."""
    discrimination: Estimate | None
    """a: how sharply passing rises with ability; negative when weaker models do better. None in a 1PL (it is 1)."""


class ItemResponse(Record):
    """A fitted item response model."""

    model: Model
    """Which one."""
    items: tuple[ItemParameters, ...]
    """Tasks with parameters, in the order of the matrix."""
    left_out: dict[str, Undefined]
    """Tasks without parameters: every model passes, or every model fails."""
    ability_spread: float
    """Standard deviation of θ: estimated in a 1PL, fixed at 1 in a 2PL."""
    abilities: dict[str, float]
    """Posterior mean ability per model."""
    method: str
    """How it was fitted."""


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


def item_parameters(matrix: ScoreMatrix, model: Model = "2PL") -> ItemResponse | Undefined:
    """Fit item parameters by penalised marginal maximum likelihood.

    Abilities are integrated out over a normal distribution: standard normal in a 2PL, ``P = sigmoid(a θ − b)``
    (tinyBenchmarks' form in one dimension); with estimated spread in a 1PL, ``P = sigmoid(θ − b)``. With few models the
    likelihood alone can push parameters to infinity, so a prior regularises it: a ~ N(s, (s/2)²) and b ~ N(a m, 1.5²),
    s and m being fitted; these widths predict held-out cells of τ-bench and BFCL best. a is free to become negative, as
    it does for a mis-keyed task. Fitted by EM (Bock and Aitkin 1981) with parameter expansion, the integral taken on an
    even grid finer than any ability's posterior, which Gauss–Hermite nodes are not with hundreds of tasks.

    Standard errors come from the observed information of the penalised marginal likelihood of all parameters together
    (Louis 1982) given s and m, so they include that abilities are known from these tasks only. With 16 models they are
    wide.

    Missing cells: each model counts on the tasks it has ("n of N" models per task).

    Args:
        matrix: the scores, at most one run per cell.
        model: "1PL" for difficulties only, "2PL" for difficulties and discriminations.

    Returns:
        The parameters; tasks that all models pass or all fail carry a reason instead. Undefined for fewer than two
        models, fewer than two tasks that differ between models, several runs per cell, models that differ no more
        than by chance, and when EM does not converge.
    """
    if not matrix.binary:
        return undefined("item parameters need one run per cell, pass or fail", len(matrix.tasks), "tasks")
    n_models = len(matrix.models)
    if n_models < 2:
        return undefined(f"{n_models} model(s) were given; item parameters need two", n_models, "models")
    passes, runs = matrix.passed.sum(axis=0), matrix.runs.sum(axis=0)
    left_out = {
        matrix.tasks[i]: undefined(_why_constant(int(passes[i]), int(runs[i])), int(runs[i]), "models")
        for i in np.flatnonzero((passes == 0) | (passes == runs))
    }
    usable = matrix.drop(set(left_out))
    n_tasks = len(usable.tasks)
    if n_tasks < 2:
        return undefined(f"{n_tasks} task(s) differ between models; a fit needs two", n_tasks, "tasks")
    with one_thread():
        fit = fit_items(usable.passed.astype(np.float64), usable.scored.astype(np.float64), model)
    if isinstance(fit, str):
        return undefined(fit, n_tasks, "tasks")
    return ItemResponse(
        model=model,
        items=_items(usable, fit, model),
        left_out=left_out,
        ability_spread=fit.spread,
        abilities=dict(zip(usable.models, fit.abilities.tolist(), strict=True)),
        method=f"{model}, penalised marginal maximum likelihood (EM), prior a ~ N(s, (s/2)²), b ~ N(a m, 1.5²)",
    )


def _items(matrix: ScoreMatrix, fit: ItemFit, model: Model) -> tuple[ItemParameters, ...]:
    def estimate(task: int, parameter: int) -> Estimate:
        return Estimate(
            value=float(fit.parameters[task, parameter]),
            standard_error=float(fit.errors[task, parameter]),
            n=int(matrix.runs[:, task].sum()),
            of=len(matrix.models),
            unit="models",
            method=f"{model}, penalised marginal maximum likelihood",
        )

    return tuple(
        ItemParameters(task=task, difficulty=estimate(i, 0), discrimination=estimate(i, 1) if model == "2PL" else None)
        for i, task in enumerate(matrix.tasks)
    )


def _why_constant(passes: int, runs: int) -> str:
    if not runs:
        return "no model has a score on the task"
    return f"all {runs} models {'pass' if passes else 'fail'} it, which bounds its difficulty on one side only"


def fit_items(passed: NDArray[np.float64], scored: NDArray[np.float64], model: Model) -> ItemFit | str:
    """Fit by EM, all tasks at once; ``item_parameters`` says what is maximised.

    Args:
        passed: models × tasks, 1 where the model passed.
        scored: models × tasks, 1 where there is a score, 0 where it is missing.
        model: "1PL" or "2PL".

    Returns:
        The fit, or why there is none: the abilities' spread vanishes, or EM does not converge.
    """
    found = fit_outcomes(passed, scored, model)
    return found if isinstance(found, str) else found[0]


def fit_outcomes(
    passed: NDArray[np.float64], scored: NDArray[np.float64], model: Model
) -> tuple[ItemFit, NDArray[np.float64], NDArray[np.float64]] | str:
    """Fit as ``fit_items``, and also return the grid of abilities and each row's posterior on it (models × grid)."""
    share = (passed.sum(axis=0) + 0.5) / (scored.sum(axis=0) + 1)
    parameters = np.log((1 - share) / share)[:, None]
    if model == "2PL":
        parameters = np.column_stack([parameters, np.ones(len(share))])
    spread = 1.0
    for _ in range(MOST_ROUNDS):
        grid = _grid(parameters, spread)
        posterior = _posterior(passed, scored, parameters, grid, spread)
        later = maximise(passed.T @ posterior, scored.T @ posterior, parameters, grid)
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
            return ItemFit(parameters, errors, spread, posterior @ grid), grid, posterior
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


def maximise(
    passed: NDArray[np.float64],
    scored: NDArray[np.float64],
    parameters: NDArray[np.float64],
    grid: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Two Newton steps of every task's penalised logistic regression on the counts (tasks × grid of abilities)."""
    centre, precision = _prior(parameters)
    width = parameters.shape[1]
    for _ in range(2):
        slopes, logits = _design(parameters, grid)
        p = expit(logits)
        expected = scored * p
        gradient = (passed - expected) @ slopes.T - np.einsum("tij,tj->ti", precision, parameters - centre)
        products = (slopes[:, None] * slopes).reshape(width * width, -1)
        curvature = (expected * (1 - p) @ products.T).reshape(-1, width, width) + precision
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


def item_rest(matrix: ScoreMatrix) -> Mapping[str, tuple[Result, Result]] | Undefined:
    """Classical difficulty and discrimination of each task that every model has a verdict on.

    Difficulty is the share of models that fail the task; discrimination the Pearson correlation over models of the
    task's values with the mean score on the other tasks, with Fisher's z interval.

    Args:
        matrix: the scores.

    Returns:
        Task → (difficulty, discrimination), without tasks on which all models are equal. Undefined for fewer than two
        models or tasks.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    values, n = complete.values, len(complete.models)
    rest = (values.sum(axis=1, keepdims=True) - values) / (values.shape[1] - 1)
    x, y = values - values.mean(axis=0), rest - rest.mean(axis=0)
    found: dict[str, tuple[Result, Result]] = {}
    for i, task in enumerate(complete.tasks):
        scale = sqrt(float((x[:, i] ** 2).sum() * (y[:, i] ** 2).sum()))
        if scale < 1e-12:
            continue
        difficulty = Estimate(
            value=float(1 - values[:, i].mean()), n=n, of=n, unit="models", method="share of models that fail it"
        )
        value = float(np.clip((x[:, i] * y[:, i]).sum() / scale, -1, 1))
        low, high = fisher_z(value, n)
        correlation = Estimate(
            value=value,
            low=min(low, value),
            high=max(high, value),
            level=0.95,
            n=n,
            of=n,
            unit="models",
            method="item-rest correlation, Fisher's z interval",
        )
        found[task] = difficulty, correlation
    return found
