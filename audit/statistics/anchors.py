"""Estimates of a full-benchmark score from few anchor tasks (tinyBenchmarks): anchor-weighted, pIRT and gpIRT."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from agenthard.audit.statistics.result import Estimate, Result, undefined


@dataclass(frozen=True)
class ItemBank:
    """Parameters of a multidimensional 2PL, ``P(pass) = sigmoid(Σ_d a_id θ_d − b_id)`` summed over dimensions d.

    Attributes:
        tasks: task ids.
        slopes: a, tasks × dimensions.
        intercepts: b, one per task (the sum over dimensions).
    """

    tasks: tuple[str, ...]
    slopes: NDArray[np.float64]
    intercepts: NDArray[np.float64]

    def probabilities(self, ability: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(pass) of each task for a model of this ability (one number per dimension)."""
        return np.asarray(expit(self.slopes @ ability - self.intercepts))


def anchor_estimate(outcomes: Mapping[str, float], weights: Mapping[str, float]) -> Result:
    """Anchor-weighted score ``Σ w_i y_i``, the weights being the shares of the benchmark that the anchors represent.

    Args:
        outcomes: anchor task → outcome, 0..1.
        weights: anchor task → weight, summing to 1.

    Returns:
        The estimated score. Undefined without anchors.

    Raises:
        ValueError: when the tasks differ, a weight is negative, or the weights do not sum to 1.
    """
    if not outcomes:
        return undefined("the number of anchors is 0", 0, "anchors")
    if set(outcomes) != set(weights):
        raise ValueError(f"outcomes and weights are about different tasks: {sorted(set(outcomes) ^ set(weights))[:5]}")
    if min(weights.values()) < 0 or abs(sum(weights.values()) - 1) > 1e-9:
        raise ValueError(f"weights are 0 or more and sum to 1, here to {sum(weights.values())}")
    value = sum(weights[task] * outcome for task, outcome in outcomes.items())
    return _estimate(value, len(outcomes), len(outcomes), "anchor-weighted mean")


def ability(bank: ItemBank, outcomes: Mapping[str, float]) -> NDArray[np.float64]:
    """Most probable ability given outcomes on some tasks, with a standard normal prior in every dimension.

    Args:
        bank: item parameters.
        outcomes: task → outcome, 0..1.

    Returns:
        θ, one number per dimension; zeros without outcomes.

    Raises:
        ValueError: for a task without parameters.
    """
    rows = _rows(bank, outcomes)
    slopes, intercepts = bank.slopes[rows], bank.intercepts[rows]
    y = np.array(list(outcomes.values()), dtype=np.float64)

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = slopes @ theta - intercepts
        value = -(y @ log_expit(logits) + (1 - y) @ log_expit(-logits)) + theta @ theta / 2
        return float(value), slopes.T @ (expit(logits) - y) + theta

    result = minimize(loss, np.zeros(bank.slopes.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10})
    return np.asarray(result.x)


def pirt_estimate(bank: ItemBank, outcomes: Mapping[str, float]) -> Result:
    """p-IRT: outcomes where they were seen, predicted probabilities elsewhere, ``(Σ_seen y + Σ_unseen P) / N``.

    Args:
        bank: item parameters of all tasks of the benchmark.
        outcomes: task → outcome on the tasks that were run.

    Returns:
        The estimated score. Undefined without outcomes.

    Raises:
        ValueError: for a task without parameters.
    """
    if not outcomes:
        return undefined("the model was run on no task", 0, "tasks")
    unseen = np.ones(len(bank.tasks), dtype=bool)
    unseen[_rows(bank, outcomes)] = False
    predicted = bank.probabilities(ability(bank, outcomes))[unseen].sum()
    value = (sum(outcomes.values()) + float(predicted)) / len(bank.tasks)
    return _estimate(value, len(outcomes), len(bank.tasks), "p-IRT: seen outcomes, predictions elsewhere")


def gpirt_estimate(anchor: Result, pirt: Result, weight: float) -> Result:
    """gp-IRT: ``λ · anchor-weighted + (1 − λ) · p-IRT``.

    Args:
        anchor: from ``anchor_estimate``.
        pirt: from ``pirt_estimate``.
        weight: λ, 0..1; larger the more the item response model is distrusted.

    Returns:
        The estimated score. Undefined when either part is.

    Raises:
        ValueError: when λ lies outside 0..1.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"the weight lies in 0..1, got {weight}")
    if not isinstance(anchor, Estimate):
        return anchor
    if not isinstance(pirt, Estimate):
        return pirt
    value = weight * anchor.value + (1 - weight) * pirt.value
    return _estimate(value, pirt.n, pirt.of, f"gp-IRT with weight {weight:g} on the anchors")


def _rows(bank: ItemBank, tasks: Mapping[str, float] | Sequence[str]) -> list[int]:
    position = {task: i for i, task in enumerate(bank.tasks)}
    unknown = sorted(set(tasks) - set(position))
    if unknown:
        raise ValueError(f"{len(unknown)} task(s) have no item parameters, the first is {unknown[0]!r}")
    return [position[task] for task in tasks]


def _estimate(value: float, n: int, of: int, method: str) -> Estimate:
    return Estimate(value=value, n=n, of=of, unit="tasks", method=method)
