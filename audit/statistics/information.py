"""Test information: how precisely tasks measure the abilities of models, ability by ability."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from agenthard.audit.statistics.item_response import maximise
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import Undefined, undefined

MOST_ROUNDS = 200
_TOLERANCE = 1e-6
_LEAST_SPREAD = 1e-6
_POINTS = 21


@dataclass(frozen=True)
class TaskFit:
    """Difficulty and discrimination of tasks, given abilities that are taken from the scores.

    Attributes:
        abilities: log-odds of each model's score, standardised: mean 0, standard deviation 1.
        difficulty: b of each task in ``P(pass) = sigmoid(a θ − b)``.
        discrimination: a of each task.
        measured: whether models differ on the task; the others have no parameters of their own and no information.
    """

    abilities: NDArray[np.float64]
    difficulty: NDArray[np.float64]
    discrimination: NDArray[np.float64]
    measured: NDArray[np.bool_]

    def information(self, abilities: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Give Fisher's information of each task at each ability, ``a² P (1 − P)``.

        A task on which weaker models do better (a ≤ 0) has none: its score speaks against the ability.

        Args:
            abilities: where.

        Returns:
            tasks × abilities. The information of a split is the sum of its tasks, the standard error of an ability
            measured by it one over its root.
        """
        p = expit(np.multiply.outer(self.discrimination, np.asarray(abilities)) - self.difficulty[:, None])
        usable = self.measured & (self.discrimination > 0)
        return np.asarray(np.where(usable[:, None], (self.discrimination**2)[:, None] * p * (1 - p), 0.0))

    def within(self, low: float, high: float) -> NDArray[np.float64]:
        """Give the mean information of each task over a range of abilities.

        Args:
            low: quantile of the models' abilities at which the range starts, 0..1.
            high: quantile at which it ends.
        """
        ends = np.quantile(self.abilities, [low, high])
        return np.asarray(self.information(np.linspace(ends[0], ends[1], _POINTS)).mean(axis=1))


def fit_tasks(passed: NDArray[np.float64], runs: NDArray[np.float64]) -> TaskFit | Undefined:
    """Fit a 2PL to each task with the models' scores as abilities.

    Much faster than integrating abilities out (``item_parameters``), and it takes repeated runs and large matrices. The
    scores measure abilities with an error, which makes discriminations a little too small, least with many tasks. The
    prior is that of ``item_parameters``: a ~ N(s, (s/2)²), b ~ N(a m, 1.5²) with fitted s and m.

    Args:
        passed: models × tasks, runs that passed, or their share.
        runs: models × tasks, runs, 0 where there is none; or 1 and 0.

    Returns:
        The fit. Undefined when fewer than two tasks differ between models, or all models have one score.
    """
    right, total = passed.sum(axis=0), runs.sum(axis=0)
    measured = (right > 0) & (right < total)
    if measured.sum() < 2:
        return undefined(f"{int(measured.sum())} task(s) differ between models; a fit needs two", len(right), "tasks")
    share = (passed.sum(axis=1) + 0.5) / (runs.sum(axis=1) + 1)
    odds = np.log(share / (1 - share))
    if odds.std() < _LEAST_SPREAD:
        return undefined("all models have the same score, so the tasks have no ability to measure", len(odds), "models")
    abilities = (odds - odds.mean()) / odds.std()
    part, counts = passed[:, measured].T, runs[:, measured].T
    start = (part.sum(axis=1) + 0.5) / (counts.sum(axis=1) + 1)
    parameters = np.column_stack([np.log((1 - start) / start), np.ones(len(start))])
    with one_thread():
        for _ in range(MOST_ROUNDS):
            later = maximise(part, counts, parameters, abilities)
            change = np.abs(later - parameters).max()
            parameters = later
            if change < _TOLERANCE:
                break
    if not np.isfinite(parameters).all():
        return undefined("the fit of difficulty and discrimination did not converge", len(right), "tasks")
    difficulty, discrimination = np.zeros(len(right)), np.zeros(len(right))
    difficulty[measured], discrimination[measured] = parameters.T
    return TaskFit(abilities, difficulty, discrimination, measured)
