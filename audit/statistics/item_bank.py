"""A few tasks that reproduce the score on all tasks: chosen by clustering, judged on models that had no part in it.

Tasks whose outcomes agree between models replace one another (tinyBenchmarks' "correctness" anchors): k-means groups
the columns of outcomes, the task nearest to each centre is the anchor, and its weight is the share of the group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from agenthard.audit.statistics.anchors import ItemBank, anchor_estimate, gpirt_estimate, pirt_estimate
from agenthard.audit.statistics.item_response import item_parameters
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.resampling import one_thread, random_subsets
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record

SIZES = (25, 50, 75, 100)
"""Sizes of the banks."""
FOLDS = 5
"""Parts of the models, each held out once."""
LEAST_MODELS = 4
MOST_CELLS = 40_000
"""Scores up to which an item response model is fitted in every fold."""
RANDOM_DRAWS = 200
"""Random subsets of equal size behind the baseline."""
GPIRT_WEIGHT = 0.5
_STARTS = 4


class Anchor(Record):
    """One task of a bank."""

    task: str
    """Task id."""
    weight: float
    """Share of the benchmark that it represents; the weights of a bank sum to 1."""


class BankError(Record):
    """How far the score of a model that was held out is from its score on all tasks."""

    method: str
    """How the score is estimated: anchors, p-IRT, gp-IRT, or the mean of as many random tasks."""
    mean_error: Result
    """Mean over held-out models of the absolute difference, 0..1."""
    largest_error: Result
    """Largest of these differences."""


class AnchorBank(Record):
    """A bank of one size."""

    size: int
    """Tasks in it."""
    anchors: tuple[Anchor, ...]
    """Its tasks, the greatest weight first; chosen with all models."""
    errors: tuple[BankError, ...]
    """Its error on held-out models, for banks of this size that the other models chose."""


class AnchorBanks(Record):
    """Banks of several sizes for one benchmark."""

    banks: tuple[AnchorBank, ...]
    """By rising size."""
    tasks: int
    """Tasks with a score of every model, which the banks represent."""
    of: int
    """Tasks there are."""
    models: int
    """Models."""
    folds: int
    """Parts of the models, each held out once."""
    method: str
    """How the banks are chosen and judged."""


def anchor_banks(
    matrix: ScoreMatrix, sizes: Sequence[int] = SIZES, *, folds: int = FOLDS, seed: int = 0
) -> AnchorBanks | Undefined:
    """Choose banks, and measure how well they reproduce the scores of models that did not choose them.

    Missing cells: only tasks with a score of every model. Sizes of at least as many tasks as there are, are left out.

    Args:
        matrix: the scores.
        sizes: tasks per bank.
        folds: parts of the models.
        seed: seed of the clustering, of the folds and of the random baseline.

    Returns:
        The banks. Undefined for fewer than four models, and where no size is smaller than the benchmark.
    """
    complete = matrix.complete_tasks()
    models, tasks = len(complete.models), len(complete.tasks)
    wanted = sorted({size for size in sizes if 0 < size < tasks})
    if models < LEAST_MODELS:
        return undefined(f"{models} model(s) were given; a bank needs {LEAST_MODELS}", models, "models")
    if not wanted:
        return undefined(f"a bank of {min(sizes)} tasks is not a reduction of {tasks}", tasks, "tasks")
    parts = np.array_split(np.random.default_rng(seed).permutation(models), min(folds, models))
    fitted = [_Training(complete, np.setdiff1d(np.arange(models), part), part) for part in parts]
    banks = []
    for size in wanted:
        positions, weights = choose_anchors(complete.values, size, seed=seed)
        order = np.lexsort((positions, -weights))
        chosen = [Anchor(task=complete.tasks[positions[i]], weight=float(weights[i])) for i in order]
        banks.append(AnchorBank(size=size, anchors=tuple(chosen), errors=_errors(complete, fitted, size, seed)))
    return AnchorBanks(
        banks=tuple(banks),
        tasks=tasks,
        of=len(matrix.tasks),
        models=models,
        folds=len(parts),
        method=f"k-means of the outcomes of tasks (seed {seed}), the task nearest to each centre, weighted by its "
        f"group; errors on each of {len(parts)} parts of the models with banks that the other parts chose",
    )


def choose_anchors(
    outcomes: NDArray[np.float64], size: int, *, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Choose the tasks that represent all tasks.

    Args:
        outcomes: models × tasks, 0..1.
        size: tasks to choose, fewer than there are. Fewer are chosen where fewer tasks differ in their outcomes.
        seed: seed of the clustering.

    Returns:
        Columns of the anchors, and their weights, which sum to 1.
    """
    from sklearn.cluster import KMeans

    columns = np.ascontiguousarray(outcomes.T)
    groups = min(size, len(np.unique(columns, axis=0)))
    with one_thread():
        found = KMeans(n_clusters=groups, n_init=_STARTS, random_state=seed).fit(columns)
    positions = np.empty(groups, dtype=np.intp)
    counts = np.bincount(found.labels_, minlength=groups)
    for group in range(groups):
        members = np.flatnonzero(found.labels_ == group)
        distances = ((columns[members] - found.cluster_centers_[group]) ** 2).sum(axis=1)
        positions[group] = members[distances.argmin()]
    return positions, counts / counts.sum()


@dataclass(frozen=True)
class _Training:
    """One fold: the models that choose, and those that are held out."""

    matrix: ScoreMatrix
    training: NDArray[np.intp]
    held_out: NDArray[np.intp]

    @property
    def outcomes(self) -> NDArray[np.float64]:
        return np.asarray(self.matrix.values[self.training])

    @cached_property
    def bank(self) -> ItemBank | Undefined:
        """Fit item parameters with the training models; a task that they all pass or fail has their smoothed rate."""
        matrix = self.matrix.keep_models([self.matrix.models[i] for i in self.training])
        if not matrix.binary or matrix.passed.size > MOST_CELLS:
            why = "repeated runs" if not matrix.binary else f"more than {MOST_CELLS:,} scores"
            return undefined(f"no item response model is fitted to {why}", len(matrix.tasks), "tasks")
        fit = item_parameters(matrix)
        if isinstance(fit, Undefined):
            return fit
        slopes, intercepts = np.zeros((len(matrix.tasks), 1)), np.zeros(len(matrix.tasks))
        passed = (matrix.passed.sum(axis=0) + 0.5) / (len(matrix.models) + 1)
        intercepts[:] = -logit(passed)
        place = {task: i for i, task in enumerate(matrix.tasks)}
        for item in fit.items:
            if item.discrimination is not None:
                slopes[place[item.task], 0] = item.discrimination.value
                intercepts[place[item.task]] = item.difficulty.value
        return ItemBank(matrix.tasks, slopes, intercepts)


def _errors(matrix: ScoreMatrix, folds: Sequence[_Training], size: int, seed: int) -> tuple[BankError, ...]:
    found: dict[str, list[Result]] = {"anchors": [], "p-IRT": [], "gp-IRT": []}
    random: list[NDArray[np.float64]] = []
    subsets = random_subsets(len(matrix.tasks), size, RANDOM_DRAWS, seed)
    for fold in folds:
        positions, weights = choose_anchors(fold.outcomes, size, seed=seed)
        names = [matrix.tasks[i] for i in positions]
        shares = dict(zip(names, (weights / weights.sum()).tolist(), strict=True))
        bank = fold.bank
        for model in fold.held_out:
            row = matrix.values[model]
            outcomes = dict(zip(names, row[positions].tolist(), strict=True))
            by_anchors = anchor_estimate(outcomes, shares)
            by_items: Result = bank if isinstance(bank, Undefined) else pirt_estimate(bank, outcomes)
            both = gpirt_estimate(by_anchors, by_items, GPIRT_WEIGHT)
            for name, result in zip(found, (by_anchors, by_items, both), strict=True):
                found[name].append(_off(result, float(row.mean())))
            random.append(np.abs(row[subsets].mean(axis=1) - row.mean()))
    rows = [_summed(name, results) for name, results in found.items()]
    return (*rows, _baseline(size, np.array(random)))


def _baseline(size: int, off: NDArray[np.float64]) -> BankError:
    """Average over the random subsets of a matrix of models × subsets."""
    drawn = f"mean over {RANDOM_DRAWS} random subsets"
    return BankError(
        method=f"mean of {size} random tasks",
        mean_error=_figure(float(off.mean()), len(off), f"mean absolute difference, {drawn}"),
        largest_error=_figure(float(off.max(axis=0).mean()), len(off), f"largest absolute difference, {drawn}"),
    )


def _off(result: Result, truth: float) -> Result:
    return result if isinstance(result, Undefined) else _figure(abs(result.value - truth), 1, "absolute difference")


def _figure(value: float, n: int, method: str) -> Estimate:
    return Estimate(value=value, n=n, of=n, unit="models", method=method)


def _summed(method: str, results: Sequence[Result]) -> BankError:
    missing = next((result for result in results if isinstance(result, Undefined)), None)
    if missing is not None:
        return BankError(method=method, mean_error=missing, largest_error=missing)
    values = [result.value for result in results if isinstance(result, Estimate)]
    n = len(values)
    return BankError(
        method=method,
        mean_error=_figure(sum(values) / n, n, "mean absolute difference over held-out models"),
        largest_error=_figure(max(values), n, "largest absolute difference over held-out models"),
    )
