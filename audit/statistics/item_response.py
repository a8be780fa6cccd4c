"""Difficulty and discrimination of tasks: 1PL and 2PL item parameters with standard errors."""

import numpy as np

from agenthard.audit.statistics.item_fit import ItemFit, Model, fit_items
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.result import Estimate, Undefined, undefined
from agenthard.audit.statistics.threads import one_thread
from agenthard.taxonomy.record import Record


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
        return undefined("item parameters need one run per cell", len(matrix.tasks), "tasks")
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
