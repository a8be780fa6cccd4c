"""Calibration of stated confidences: a logistic curve, its cross-validation, and the reliability diagram as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.intervals import clustered_wilson

Floats = NDArray[np.float64]
FEWEST = 10
"""Claims, right and wrong ones, below which no curve is fitted."""
_STEPS = 100
_RIDGE = 1e-3
"""Weight of the pull of the slope towards 1, so that perfectly separated claims have a finite curve."""


class Curve(NamedTuple):
    """Probability = 1 / (1 + exp(−(slope · log odds + intercept)))."""

    slope: float
    """Factor of the stated log odds; 1 leaves them."""
    intercept: float
    """What is added."""

    def probability(self, odds: Floats) -> Floats:
        """Return the probabilities of stated log odds."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * odds + self.intercept))))


def fit_curve(odds: Floats, right: NDArray[np.bool_]) -> Curve | None:
    """Fit a logistic curve to stated log odds (Platt 1999), with his targets (k + 1)/(k + 2) and 1/(k + 2).

    Args:
        odds: log odds of the stated confidences.
        right: whether each claim was right.

    Returns:
        The curve of least log loss; None with fewer than ten claims, or where all are right or all wrong.

    >>> rng = np.random.default_rng(1)
    >>> odds = rng.normal(1.5, 1, 40_000)
    >>> curve = fit_curve(odds, rng.random(40_000) < 1 / (1 + np.exp(-(0.5 * odds - 0.4))))
    >>> round(curve.slope, 1), round(curve.intercept, 1)
    (0.5, -0.4)
    """
    k, n = int(right.sum()), len(right)
    if n < FEWEST or k in (0, n):
        return None
    target = np.where(right, (k + 1) / (k + 2), 1 / (n - k + 2))
    beta = np.array([1.0, 0.0])
    design = np.column_stack([odds, np.ones(n)])
    pull = np.diag([_RIDGE, 0.0])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (p - target) + pull @ (beta - [1.0, 0.0])
        step = np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]) + pull + 1e-9 * np.eye(2), gradient)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        beta = beta - step
        if float(np.abs(step).max()) < 1e-10:
            break
    return Curve(float(beta[0]), float(beta[1]))


def cross_validated(
    odds: Floats, right: NDArray[np.bool_], groups: Sequence[str], folds: int = 5, seed: int = 0
) -> Floats:
    """Return the probability of each claim by the curve that the other folds give; whole groups are left out together.

    Args:
        odds: log odds of the stated confidences.
        right: whether each claim was right.
        groups: task, or cluster of tasks, of each claim.
        folds: number of folds, fewer where there are fewer groups.
        seed: seed by which groups are dealt to folds.

    Returns:
        Probabilities; NaN where the other folds give no curve.
    """
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: int(number % min(folds, len(names))) for number, place in enumerate(order)}
    fold = np.array([fold_of[group] for group in groups], dtype=np.int64)
    found = np.full(len(odds), np.nan)
    for number in range(min(folds, len(names))):
        held = fold == number
        curve = fit_curve(odds[~held], right[~held])
        if curve is not None:
            found[held] = curve.probability(odds[held])
    return found


@dataclass(frozen=True)
class ReliabilityBin:
    """Claims of similar probability."""

    low: float
    """Least probability."""
    high: float
    """Probability below which they are; 1 belongs to the last bin."""
    n: int
    """Claims."""
    stated: float
    """Their mean probability."""
    right: int
    """Claims that were right."""
    interval: tuple[float, float]
    """95 % Wilson interval of the share that was right, with groups as clusters."""


def reliability(
    probability: Floats, right: NDArray[np.bool_], groups: Sequence[str], edges: Sequence[float]
) -> list[ReliabilityBin]:
    """Compare probabilities with the shares that were right, bin by bin; empty bins are left out.

    Args:
        probability: probability of each claim.
        right: whether it was right.
        groups: task, or cluster of tasks, of each claim.
        edges: edges of the bins, from 0 to 1.
    """
    found = []
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        inside = (probability >= low) & ((probability < high) | (high == edges[-1]) & (probability <= high))
        if not inside.any():
            continue
        clusters: dict[str, tuple[int, int]] = {}
        for position in np.flatnonzero(inside):
            k, n = clusters.get(groups[int(position)], (0, 0))
            clusters[groups[int(position)]] = (k + int(right[position]), n + 1)
        found.append(
            ReliabilityBin(
                low=float(low),
                high=float(high),
                n=int(inside.sum()),
                stated=float(probability[inside].mean()),
                right=int(right[inside].sum()),
                interval=clustered_wilson(clusters.values()),
            )
        )
    return found


def brier(probability: Floats, right: NDArray[np.bool_]) -> float:
    """Return the mean squared difference of probability and outcome (Brier 1950).

    >>> brier(np.array([1.0, 0.5]), np.array([True, False]))
    0.125
    """
    return float(np.mean((probability - right) ** 2))
