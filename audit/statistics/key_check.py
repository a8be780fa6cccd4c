"""Tasks whose outcomes look as if the answer key were inverted: weaker models pass them and stronger ones fail."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

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

    @cached_property
    def _failed(self) -> NDArray[np.float64]:
        return 1 - self.passed

    def likelihoods(self, parameters: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log marginal likelihood of each task, and of its outcomes inverted: a grid over a and b."""
        scale, centre, spread = np.exp(parameters[0]), parameters[1], np.exp(parameters[2])
        a = scale * (1 + _DISCRIMINATIONS / 2)
        b = centre + spread * _DIFFICULTIES
        prior = (-(_DISCRIMINATIONS[:, None] ** 2) / 2 - _DIFFICULTIES[None, :] ** 2 / 2).ravel()
        prior -= logsumexp(prior)
        logits = self.ability[:, None] * np.repeat(a, len(b)) - np.tile(b, len(a))
        up, down = log_expit(logits), log_expit(-logits)
        plain = self.passed.T @ up + self._failed.T @ down
        turned = self._failed.T @ up + self.passed.T @ down
        return np.asarray(logsumexp(plain + prior, axis=1)), np.asarray(logsumexp(turned + prior, axis=1))

    def evidence(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log Bayes factor of an inverted key."""
        plain, turned = self.likelihoods(parameters)
        return turned - plain

    def loss(self, parameters: NDArray[np.float64]) -> float:
        """Minus the penalised log-likelihood of the mixture."""
        plain, turned = self.likelihoods(parameters)
        rare = parameters[3]
        mixture = np.logaddexp(plain + log_expit(-rare), turned + log_expit(rare)).sum()
        return float(-mixture + ((rare - _RARE) / _RARE_SPREAD) ** 2 / 2)


def _fit(outcomes: _Outcomes) -> NDArray[np.float64]:
    from scipy.optimize import minimize

    share = float(outcomes.passed.mean())
    start = [0.0, float(np.log((1 - share) / share)), 0.3, _RARE]
    found = minimize(outcomes.loss, start, method="L-BFGS-B", options={"ftol": 1e-8})
    return np.asarray(found.x, dtype=np.float64)
