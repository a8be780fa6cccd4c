"""How often a way of guessing finds the answer, and whether chance explains it."""

import math
from dataclasses import dataclass

import numpy as np

from agenthard.audit.probes.columns import Floats, Ints
from agenthard.audit.probes.table import Table
from agenthard.audit.statistics.intervals import clustered_wilson, upper_tail


@dataclass(frozen=True)
class Measure:
    """Result of one probe on one table.

    A probe scores every candidate of a choice and picks those with the highest score, one or several. It tells
    nothing about a choice in which it picks all or none.
    """

    choices: int
    """Choices it looked at."""
    n: int
    """Choices in which it set candidates apart."""
    hits: int
    """Those of them in which the answer is among the picked."""
    rate: float
    """hits / n."""
    low: float
    """Lower end of the 95 % interval of the rate."""
    high: float
    """Upper end."""
    chance: float
    """The rate if the answer were any candidate of the choice: the mean share of candidates picked."""
    p: float
    """Two-sided probability, by chance, of so many or so few hits."""
    accuracy: float
    """How often one of the picked, taken at random, is the answer, over all choices it looked at."""
    guess: float
    """The same for any candidate taken at random."""
    held: Ints
    """The choices that speak for it: those hit, or those missed when it hits less often than by chance; those in which
    it picks the fewest first."""


def measure(table: Table, score: Floats) -> Measure | None:
    """Measure a probe.

    Hits by chance are independent trials with unequal rates (picked / offered), so their number is Poisson binomial
    and the tail is exact: p = min(1, 2·min(P(X ≥ hits), P(X ≤ hits))). The interval does not take choices of one scene
    for independent (:func:`agenthard.audit.statistics.intervals.clustered_wilson`).

    Args:
        table: the candidates.
        score: per candidate; the highest of a choice is picked, equal ones together. NaN is never picked.

    Returns:
        The measure, or None when the probe says something about no choice.
    """
    known = np.where(np.isnan(score), -np.inf, score)
    best = np.maximum.reduceat(known, table.starts) if len(table) else np.empty(0)
    picked = (known == np.repeat(best, table.sizes)) & np.isfinite(known)
    number = np.add.reduceat(picked.astype(np.int64), table.starts) if len(table) else np.empty(0, dtype=np.int64)
    looked = number > 0
    telling = looked & (number < table.sizes)
    n = int(telling.sum())
    if n == 0:
        return None
    right = picked[table.answers]
    share = number / table.sizes
    hit, rates = right[telling], share[telling]
    hits = int(hit.sum())
    _, scene = np.unique(table.scene[table.starts][telling], return_inverse=True)
    by_scene = zip(np.bincount(scene, weights=hit).astype(int).tolist(), np.bincount(scene).tolist(), strict=True)
    low, high = clustered_wilson(by_scene)
    speaking = np.flatnonzero(telling & (right if hits >= rates.sum() else ~right))
    return Measure(
        choices=int(looked.sum()),
        n=n,
        hits=hits,
        rate=hits / n,
        low=low,
        high=high,
        chance=float(rates.mean()),
        p=two_sided(hits, rates),
        accuracy=float(np.mean(right[looked] / number[looked])),
        guess=float(np.mean(1 / table.sizes[looked])),
        held=speaking[np.argsort(share[speaking], kind="stable")],
    )


def two_sided(hits: int, rates: Floats) -> float:
    """Exact two-sided p of a number of hits in independent trials with the given rates.

    The median lies within 1 of the mean (Jogdeo and Samuels 1968), so further away only the tail on that side counts.
    """
    values, counts = np.unique(rates, return_counts=True)
    groups = [(int(count), float(rate)) for rate, count in zip(values, counts, strict=True)]
    tails = []
    if hits > math.floor(rates.sum()) - 1:
        tails.append(upper_tail(hits, groups))
    if hits < math.ceil(rates.sum()) + 1:
        tails.append(upper_tail(len(rates) - hits, [(count, 1 - rate) for count, rate in groups]))
    return min(1.0, 2 * min(tails))


def holm(p_values: list[float]) -> list[float]:
    """Adjust p-values for their number (Holm 1979): the i-th smallest of m is multiplied by m − i + 1, made monotone.

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = running
    return adjusted
