"""Tasks whose outcomes look as if the answer key were inverted: weaker models pass them and stronger ones fail."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import Estimate, Undefined, undefined
from agenthard.taxonomy.record import Record

LEAST_TASKS = 30
"""With fewer tasks the task in question has too much weight in the abilities that it is compared with."""
LIKELY = 0.5
"""Probability from which a task is listed."""
_MOST_FITTED = 400
"""Tasks, evenly spaced, on which the four parameters are fitted; all are judged."""
_RARE, _RARE_SPREAD = -3.0, 1.0
"""Prior of the log-odds of an inverted key: 5 % of the tasks, within a factor of e."""
_DISCRIMINATIONS = np.linspace(-1.8, 2.4, 8)
_DIFFICULTIES = np.linspace(-3.2, 3.2, 15)


class InvertedKeys(Record):
    """Probability of each task that its key is inverted."""

    share: Estimate
    """Estimated share of tasks with an inverted key."""
    probabilities: dict[str, float]
    """Task → probability, for tasks on which models differ; the outcomes of others say nothing."""
    models: int
    """Models behind it."""
    method: str
    """How it was computed."""

    def likely(self) -> tuple[str, ...]:
        """Tasks with a probability of ``LIKELY`` or more, highest first."""
        rows = sorted(self.probabilities.items(), key=lambda row: -row[1])
        return tuple(task for task, p in rows if p >= LIKELY)


def inverted_keys(matrix: ScoreMatrix) -> InvertedKeys | Undefined:
    """Compute for each task the probability that its answer key is inverted.

    Tasks are a mixture: a share π has an inverted key, so that 1 − x follows the model of the others,
    ``P(x = 1) = sigmoid(a θ − b)`` with a ~ N(s, (s/2)²) above 0 and b ~ N(m, τ²). θ is the standardised log-odds of a
    model's score. s, m, τ and π maximise the marginal likelihood, with a prior of 5 % (within a factor of e) on the
    odds of π; the probability of a task follows by Bayes' rule. Unlike a negative discrimination it needs no task to be
    certain on its own. Missing cells: complete tasks only.

    Args:
        matrix: the scores, at most one run per cell, pass or fail.

    Returns:
        The probabilities. Undefined for fewer than five models, fewer than ``LEAST_TASKS`` complete tasks on which
        models differ, repeated runs or partial credit, and when all models have the same score.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    models, n = len(complete.models), len(complete.tasks)
    if not reason and not complete.binary:
        reason = "it needs one run per cell, pass or fail"
    if not reason and models < 5:
        reason = f"{models} models are too few to tell an inverted key from chance"
    if reason:
        return undefined(reason, n, "tasks")
    passes = complete.passed.sum(axis=0)
    mixed = np.flatnonzero((passes > 0) & (passes < models))
    scores = complete.passed.sum(axis=1)
    if len(mixed) < LEAST_TASKS or np.ptp(scores) == 0:
        few = len(mixed) < LEAST_TASKS
        why = f"models differ on {len(mixed)} tasks only" if few else "all models have the same score"
        return undefined(why, len(mixed), "tasks")
    share = (scores + 0.5) / (n + 1)
    logits = np.log(share / (1 - share))
    ability = (logits - logits.mean()) / logits.std()
    values = complete.values[:, mixed]
    fitted = np.unique(np.linspace(0, len(mixed) - 1, min(len(mixed), _MOST_FITTED)).round().astype(np.intp))
    with one_thread():
        parameters = _fit(_Outcomes(ability, values[:, fitted]))
        odds = parameters[3] + _Outcomes(ability, values).evidence(parameters)
    probability = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
    return InvertedKeys(
        share=Estimate(
            value=float(1 / (1 + np.exp(-parameters[3]))),
            n=len(mixed),
            of=len(matrix.tasks),
            unit="tasks",
            method="share of inverted keys, penalised marginal likelihood",
        ),
        probabilities=dict(zip((complete.tasks[i] for i in mixed), probability.tolist(), strict=True)),
        models=models,
        method=f"mixture of 2PL tasks and tasks with inverted outcomes, {models} models, prior share 5 %",
    )


@dataclass(frozen=True)
class _Outcomes:
    """Outcomes of models (rows) on tasks, with the abilities of the models."""

    ability: NDArray[np.float64]
    passed: NDArray[np.float64]

    def evidence(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log Bayes factor of an inverted key."""
        grid = _Grid.of(parameters, self.ability)
        return grid.marginal(*self._turned)[0] - grid.marginal(*self._plain)[0]

    def loss(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Minus the penalised log-likelihood of the mixture, and its gradient."""
        grid, rare = _Grid.of(parameters, self.ability), parameters[3]
        (plain, plain_slopes), (turned, turned_slopes) = grid.marginal(*self._plain), grid.marginal(*self._turned)
        inverted = turned + log_expit(rare)
        mixture = np.logaddexp(plain + log_expit(-rare), inverted)
        chance = np.exp(inverted - mixture)
        slopes = (1 - chance) @ plain_slopes + chance @ turned_slopes
        pull = (rare - _RARE) / _RARE_SPREAD
        gradient = np.append(-slopes, pull / _RARE_SPREAD - (chance - expit(rare)).sum())
        return float(pull**2 / 2 - mixture.sum()), gradient

    @cached_property
    def _plain(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        failed = 1 - self.passed
        return failed.sum(axis=0), failed.T @ self.ability

    @cached_property
    def _turned(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.passed.sum(axis=0), self.passed.T @ self.ability


@dataclass(frozen=True)
class _Grid:
    """Points over a and b on which the likelihood of a task is summed."""

    a: NDArray[np.float64]
    b: NDArray[np.float64]
    """Their distance from the centre is ``spread``."""
    spread: NDArray[np.float64]
    level: NDArray[np.float64]
    """Log prior, and the log-likelihood where every model passes."""
    by_a: NDArray[np.float64]
    by_b: NDArray[np.float64]
    """Derivatives of ``level``."""

    @classmethod
    def of(cls, parameters: NDArray[np.float64], ability: NDArray[np.float64]) -> "_Grid":
        """Lay the grid out for (log s, m, log τ, …)."""
        a = np.exp(parameters[0]) * np.repeat(1 + _DISCRIMINATIONS / 2, len(_DIFFICULTIES))
        spread = np.exp(parameters[2]) * np.tile(_DIFFICULTIES, len(_DISCRIMINATIONS))
        b = parameters[1] + spread
        prior = (-(_DISCRIMINATIONS[:, None] ** 2) / 2 - _DIFFICULTIES[None, :] ** 2 / 2).ravel()
        logits = ability[:, None] * a - b
        fails = expit(-logits)
        level = prior - logsumexp(prior) + log_expit(logits).sum(axis=0)
        return cls(a, b, spread, level, ability @ fails, -fails.sum(axis=0))

    def marginal(
        self, failures: NDArray[np.float64], abilities: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log marginal likelihood of tasks and its derivatives by log s, m and log τ.

        The number of failures and the sum of the abilities of the models that fail say all about a task:
        log(1 − P) = log P − (aθ − b).
        """
        logs = self.level - np.multiply.outer(abilities, self.a) + np.multiply.outer(failures, self.b)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        sums = weights.sum(axis=1, keepdims=True)
        columns = (self.by_a * self.a, self.a, self.by_b, self.by_b * self.spread, self.spread)
        own_a, a, own_b, own_spread, spread = (weights / sums @ np.stack(columns).T).T
        slopes = np.stack([own_a - abilities * a, own_b + failures, own_spread + failures * spread], axis=1)
        return np.asarray((top + np.log(sums))[:, 0]), slopes


def _fit(outcomes: _Outcomes) -> NDArray[np.float64]:
    from scipy.optimize import minimize

    share = float(outcomes.passed.mean())
    start = [0.0, float(np.log((1 - share) / share)), 0.3, _RARE]
    found = minimize(outcomes.loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-8})
    return np.asarray(found.x, dtype=np.float64)
