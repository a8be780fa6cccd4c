"""Intervals and tails for rates and correlations, in closed form.

Every function is deterministic and says what it does with n = 0 and other limits.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_BLOCK = 64
"""Trials that are added at once; then terms that are too small for a float are cut off."""


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a rate.

    With p = k/n and z the normal quantile of (1 + level)/2, the interval is
    ``(p + z²/2n ± z·sqrt(p(1 − p)/n + z²/4n²)) / (1 + z²/n)`` (Wilson 1927). It holds for small n and for rates of
    0 and 1, where it starts or ends exactly there. Trials must be independent: count models, not their repetitions.

    Args:
        successes: k, from 0 to n.
        n: number of trials; with n = 0 nothing is known and the interval is (0, 1).
        level: coverage, strictly between 0 and 1.

    Returns:
        Lower and upper end.

    Raises:
        ValueError: when k lies outside 0..n, or the level outside (0, 1).

    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.2775]
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n, got {successes} of {n}")
    if n == 0:
        return 0.0, 1.0
    return _wilson(successes / n, n, level)


def effective_wilson(rate: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a rate that was not counted in n equal trials, such as one from a weighted sample.

    Args:
        rate: the estimated rate, 0..1.
        n: effective number of trials ``rate(1 − rate)/V``, with V the variance of the estimate; infinity when the rate
            is known exactly.
        level: coverage, strictly between 0 and 1.

    Returns:
        Lower and upper end.

    Raises:
        ValueError: when the rate lies outside 0..1, n is not above 0, or the level lies outside (0, 1).

    >>> [round(end, 4) for end in effective_wilson(0.0, 10)]
    [0.0, 0.2775]
    """
    if not 0 <= rate <= 1 or not n > 0:
        raise ValueError(f"a rate lies in 0..1 and rests on more than 0 trials, got {rate} of {n}")
    return _wilson(rate, n, level)


def clustered_wilson(clusters: Iterable[tuple[int, int]], level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a rate whose trials come in clusters, such as repetitions of one task.

    The number of trials is replaced by the effective number ``p(1 − p)/V`` with the cluster-robust variance
    ``V = C/(C − 1) · Σ_c (k_c − p·n_c)² / n²`` over C clusters, at most n (Korn and Graubard 1998). Where V is 0 (one
    cluster, or all rates equal) each cluster counts as one trial. Clusters of one trial give nearly the plain interval.

    Args:
        clusters: (successes, trials) per cluster; clusters without trials are skipped.
        level: coverage, strictly between 0 and 1.

    Returns:
        Lower and upper end; (0, 1) without trials.

    >>> [round(end, 3) for end in clustered_wilson([(4, 4), (0, 4), (4, 4), (0, 4)])]
    [0.125, 0.875]
    """
    counts = [(k, n) for k, n in clusters if n]
    total = sum(n for _, n in counts)
    if total == 0:
        return 0.0, 1.0
    rate, c = sum(k for k, _ in counts) / total, len(counts)
    squares = math.fsum((k - rate * n) ** 2 for k, n in counts)
    variance = c / (c - 1) * squares / total**2 if c > 1 else 0.0
    effective = min(float(total), rate * (1 - rate) / variance) if variance > 0 else float(c)
    return _wilson(rate, effective, level)


def _wilson(rate: float, n: float, level: float) -> tuple[float, float]:
    z = _quantile(level)
    spread = z * z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    return (0.0 if rate == 0 else centre - half, 1.0 if rate == 1 else centre + half)


def fisher_z(correlation: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of a correlation by Fisher's z: ``tanh(atanh(r) ± z/sqrt(n − 3))`` (Fisher 1915).

    The normal approximation is rough for a binary variable and few pairs; treat the result as a screen, not a proof.

    Args:
        correlation: r in [−1, 1]; at ±1 the formula's limit is the point itself.
        n: number of pairs; with n ≤ 3 nothing is known and the interval is (−1, 1).
        level: coverage, strictly between 0 and 1.

    Returns:
        Lower and upper end.

    Raises:
        ValueError: when r lies outside [−1, 1], or the level outside (0, 1).

    >>> [round(end, 4) for end in fisher_z(0.0, 28)]
    [-0.3731, 0.3731]
    """
    if not -1 <= correlation <= 1:
        raise ValueError(f"a correlation lies in [-1, 1], got {correlation}")
    z = _quantile(level)
    if n <= 3:
        return -1.0, 1.0
    if abs(correlation) == 1:
        return correlation, correlation
    centre, half = math.atanh(correlation), z / math.sqrt(n - 3)
    return math.tanh(centre - half), math.tanh(centre + half)


def upper_tail(observed: int, groups: Iterable[tuple[int, float]]) -> float:
    """Probability that independent trials with unequal rates succeed at least ``observed`` times in all.

    Exact: the distributions of the groups are convolved (Poisson binomial).

    Args:
        observed: number of successes; 0 or less gives 1.
        groups: (number of trials, rate of each) per group of trials with one rate.

    Returns:
        P(X ≥ observed).

    >>> upper_tail(2, [(1, 0.5), (1, 0.5)])
    0.25
    """
    groups = list(groups)
    left = sum(trials for trials, _ in groups)
    if observed <= 0:
        return 1.0
    if observed > left:
        return 0.0
    size = left - observed + 1
    distribution = np.ones(1)
    for trials, rate in groups:
        for block in (*[_BLOCK] * (trials // _BLOCK), trials % _BLOCK):
            before, left = left, left - block
            distribution = np.convolve(distribution, _binomial(block, rate))
            # Counts from which too few trials are left are dropped.
            distribution = distribution[max(observed - left, 0) - max(observed - before, 0) :]
            if distribution[-1] == 0:
                distribution = np.trim_zeros(distribution, "b")
                if not len(distribution):
                    return 0.0
    return float(np.pad(distribution, (0, size - len(distribution))).sum())  # sums in the order of all terms


@lru_cache(maxsize=1024)
def _binomial(trials: int, rate: float) -> NDArray[np.float64]:
    """Probabilities of 0 to ``trials`` successes, by convolution of halves: sums of positive terms, so all exact."""
    if trials < 2:
        return np.array((1 - rate, rate) if trials else (1.0,))
    return np.convolve(_binomial(trials // 2, rate), _binomial(trials - trials // 2, rate))


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"the level must lie strictly between 0 and 1, got {level}")
    return NormalDist().inv_cdf((1 + level) / 2)
