"""Scores of models whose runs are partly missing: on own tasks, on common tasks, by a model, and in the worst case."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from agenthard.audit.statistics.intervals import effective_wilson
from agenthard.audit.statistics.item_response import fit_outcomes
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.monte_carlo import MonteCarloP, monte_carlo_p
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined
from agenthard.taxonomy.record import Record


class ModelMissing(Record):
    """One model's score under each way to treat its missing cells."""

    model: str
    """Model."""
    scored: int
    """Tasks with a score."""
    of: int
    """Tasks."""
    available: Result
    """Mean over its own scored tasks: comparable with others only where runs are missing completely at random."""
    complete: Result
    """Mean over the tasks on which every model has a score."""
    modelled: Result
    """Mean over all tasks, missing cells predicted from the model's outcomes and the other models' on the task."""
    least: float
    """Score when every missing cell fails."""
    most: float
    """Score when every missing cell passes."""
    easier: Result
    """Mean score of the others on the tasks that it misses minus that on those that it has: below 0, it misses the
    harder ones."""


class MissingOutcomes(Record):
    """Scores of a matrix with missing cells, and how far the cells are missing at random."""

    models: tuple[ModelMissing, ...]
    """In the order of the matrix."""
    missing: int
    """Cells without a score."""
    of: int
    """Cells."""
    complete: int
    """Tasks on which every model has a score."""
    tasks: int
    """Tasks."""
    harder: Result
    """Mean share of the other models that fail a missing cell's task, minus that on all tasks. Above 0, hard tasks are
    missing more often."""
    p: MonteCarloP | None
    """p-value of ``harder``, against the same pattern of missing cells on random tasks; None where it is undefined."""


def missing_outcomes(
    matrix: ScoreMatrix, *, level: float = 0.95, draws: int = 5000, seed: int = 0
) -> MissingOutcomes | Undefined:
    """Score each model under each way to treat missing cells; test whether hard tasks are missing more often.

    The mixed logit is ``P(pass) = sigmoid(θ_t − b_m)`` with a fixed effect of each model and a normal effect of each
    task, fitted by marginal maximum likelihood (``item_response`` with the roles of tasks and models exchanged). A
    missing cell counts with its probability given all outcomes on the task. The variance of a modelled score is that of
    a mean over tasks plus that of the missing cells plus that of b_m (Rubin's rules in closed form); its interval is
    Wilson's at the effective number of tasks. Without missing cells it is Wilson's.

    All but the bounds take runs as missing at random given the outcomes. Runs that are missing *because* they would
    have failed are not, and no figure from the other runs can tell: ``least`` and ``most`` bound what they can do.

    Args:
        matrix: the scores.
        level: coverage of intervals.
        draws: random placements of the missing cells behind ``p``.
        seed: seed of the draws.

    Returns:
        The scores. Undefined when no cell is missing, or none has a score.
    """
    check_level(level)
    scored, total = matrix.coverage
    if scored == total or not scored:
        return undefined("no cell is missing" if scored == total else "no cell has a score", scored, "cells")
    weights = np.ones(len(matrix.tasks)) if matrix.weights is None else matrix.weights
    complete = matrix.complete_tasks()
    modelled = modelled_scores(matrix, level)
    there = matrix.scored
    rest = _others(matrix)
    rows = []
    for i, model in enumerate(matrix.models):
        known = there[i]
        own = float(weights[known] @ matrix.values[i, known])
        rows.append(
            ModelMissing(
                model=model,
                scored=int(known.sum()),
                of=len(known),
                available=_mean(matrix, i, known, weights, level, "own scored tasks"),
                complete=_mean(
                    complete, i, np.ones(len(complete.tasks), np.bool_), complete.weights, level, "complete"
                ),
                modelled=modelled[model],
                least=own / float(weights.sum()),
                most=(own + float(weights[~known].sum())) / float(weights.sum()),
                easier=_easier(rest[i], known),
            )
        )
    harder, p = _at_random(there, rest, draws, seed)
    return MissingOutcomes(
        models=tuple(rows),
        missing=total - scored,
        of=total,
        complete=len(complete.tasks),
        tasks=len(matrix.tasks),
        harder=harder,
        p=p,
    )


def modelled_scores(matrix: ScoreMatrix, level: float = 0.95) -> dict[str, Result]:
    """Score each model on all tasks, missing cells by the mixed logit of ``missing_outcomes``.

    Args:
        matrix: the scores.
        level: coverage of intervals.

    Returns:
        Model → score; undefined for a model without a score, and for all without a fit.
    """
    usable = matrix.keep_models([m for m, row in zip(matrix.models, matrix.scored, strict=True) if row.any()])
    weights = np.ones(len(matrix.tasks)) if matrix.weights is None else matrix.weights
    fit = _fit(usable)
    found: dict[str, Result] = dict.fromkeys(matrix.models, undefined("it has no score", 0, "tasks"))
    for row, model in enumerate(usable.models):
        found[model] = fit if isinstance(fit, Undefined) else _modelled(usable, row, fit, weights, level)
    return found


@dataclass(frozen=True)
class _Fit:
    """Probabilities of passing by model and task, and how they move with the model's effect."""

    chance: NDArray[np.float64]
    slope: NDArray[np.float64]
    error: NDArray[np.float64]


def _fit(matrix: ScoreMatrix) -> _Fit | Undefined:
    """Fit the mixed logit; tasks are its "persons" and models its "items"."""
    scored = matrix.scored.T.astype(np.float64)
    values = matrix.values.T * scored
    if len(matrix.models) < 2:
        return undefined("one model is not enough to predict its missing runs from", len(matrix.models), "models")
    with one_thread():
        found = fit_outcomes(values, scored, "1PL")
    if isinstance(found, str):
        return undefined(f"the mixed logit has no fit: {found}", len(matrix.tasks), "tasks")
    fit, grid, posterior = found
    p = expit(grid[:, None] - fit.parameters[None, :, 0])
    chance, slope = posterior @ p, posterior @ (p * (1 - p))
    return _Fit(chance.T, slope.T, fit.errors[:, 0])


def _modelled(matrix: ScoreMatrix, row: int, fit: _Fit, weights: NDArray[np.float64], level: float) -> Result:
    known, share = matrix.scored[row], weights / weights.sum()
    value = float(share @ np.where(known, matrix.values[row], fit.chance[row]))
    absent = ~known
    expected = fit.chance[row, absent]
    spread = float(share @ share) * max(value * (1 - value), 0.0)
    if not matrix.plain:
        filled = np.where(known, matrix.values[row], fit.chance[row])
        spread = float((share**2) @ (filled - value) ** 2)
    cells = float(share[absent] ** 2 @ (expected * (1 - expected)))
    effect = float((share[absent] @ fit.slope[row, absent]) ** 2 * fit.error[row] ** 2)
    variance = spread + cells + effect
    ends: dict[str, float] = {}
    if 0 < value < 1 and variance > 0:
        low, high = effective_wilson(value, value * (1 - value) / variance, level)
        ends = {"low": min(low, value), "high": max(high, value), "level": level, "standard_error": variance**0.5}
    return Estimate(
        value=value,
        n=int(known.sum()),
        of=len(known),
        unit="tasks",
        method="mixed logit: missing cells by their probability given all outcomes of the task; missing at random",
        **ends,
    )


def _mean(
    matrix: ScoreMatrix,
    row: int,
    known: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    level: float,
    which: str,
) -> Result:
    n = int(known.sum())
    if not n:
        return undefined("no such task has a score", 0, "tasks")
    share = np.ones(n) / n if weights is None else weights[known] / weights[known].sum()
    x = matrix.values[row, known]
    value = min(1.0, max(0.0, float(share @ x)))
    variance = float((share**2) @ (x - value) ** 2) if not matrix.plain else value * (1 - value) / n
    low, high = effective_wilson(value, value * (1 - value) / variance if variance > 0 else n, level)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        n=n,
        of=len(matrix.tasks),
        unit="tasks",
        method=f"mean over the {which}; Wilson interval",
    )


def _others(matrix: ScoreMatrix) -> NDArray[np.float64]:
    """Mean score of the other models on each task; NaN where none has one."""
    values, scored = matrix.values * matrix.scored, matrix.scored.astype(np.float64)
    counts = scored.sum(axis=0) - scored
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((values.sum(axis=0) - values) / np.where(counts > 0, counts, np.nan))


def _easier(rest: NDArray[np.float64], known: NDArray[np.bool_]) -> Result:
    there = np.isfinite(rest)
    n = int((there & ~known).sum())
    if not n or not (there & known).any():
        return undefined("it misses no task, or none that another model has" if not n else "it has no task", n, "tasks")
    value = float(rest[there & ~known].mean() - rest[there & known].mean())
    method = "mean score of the others on its missing tasks − on its scored ones"
    return Estimate(value=value, n=n, of=len(known), unit="tasks", method=method)


def _at_random(
    there: NDArray[np.bool_], rest: NDArray[np.float64], draws: int, seed: int
) -> tuple[Result, MonteCarloP | None]:
    """Difficulty of the missing cells, against the same pattern of missing cells on random tasks."""
    rng = np.random.default_rng(seed)
    present = np.isfinite(rest)
    mean = np.where(present, rest, 0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    hard = np.where(present, mean[:, None] - rest, 0.0)
    models, tasks = np.nonzero(~there & present)
    if not len(models) or not (there & present).any():
        return undefined("no model misses a task that others have", 0, "cells"), None
    observed, drawn = float(hard[models, tasks].mean()), np.empty(draws)
    for i in range(draws):
        drawn[i] = hard[models, rng.permutation(there.shape[1])[tasks]].mean()
    method = "difficulty of missing cells above the mean of each model's tasks; tasks permuted for all models together"
    harder = Estimate(value=observed, n=len(models), of=int((~there).sum()), unit="cells", method=method, seed=seed)
    return harder, monte_carlo_p(drawn, observed, "both")
