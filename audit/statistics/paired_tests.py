"""Which models differ on the tasks both were run on: paired tests of all pairs, Holm's correction, tied sets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtr

from agenthard.audit.statistics.matrix import ScoreMatrix, require_same_models, why_unusable
from agenthard.audit.statistics.ranking import ordinal_ranks
from agenthard.audit.statistics.resampling import bootstrap_means
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record

PairedTest = Literal["mcnemar", "bootstrap", "t"]


class PairComparison(Record):
    """One pair of models, tested on the tasks that both have a score on."""

    first: str
    """Model that comes first in the matrix."""
    second: str
    """The other model."""
    difference: float
    """Score of the first minus score of the second, over their common tasks."""
    n: int
    """Common tasks."""
    of: int
    """Tasks there are."""
    p: float
    """Two-sided p-value."""
    adjusted_p: float
    """p-value after Holm's correction over all tested pairs."""
    significant: bool
    """Whether adjusted_p is at most alpha."""


def compare_pairs(
    matrix: ScoreMatrix,
    *,
    test: PairedTest = "mcnemar",
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Sequence[str] | None = None,
) -> tuple[PairComparison, ...] | Undefined:
    """Test every pair of models on the tasks both have, with Holm's correction.

    "mcnemar": exact, for one run per cell; missing cells are left out pair by pair.
    "bootstrap": the share of paired resamples on either side of 0, ``2 (1 + min(#d ≤ 0, #d ≥ 0)) / (B + 1)``; for
    several runs per cell and for clusters; complete tasks only.
    "t": paired t test by cluster, as ``paired_difference``, for everything else: partial credit, weights, several runs
    with missing cells, which are left out pair by pair. The sign test over clusters where all differences are equal.

    Args:
        matrix: the scores.
        test: the paired test.
        alpha: family-wise error rate.
        resamples: number of resamples of the bootstrap.
        seed: seed of the bootstrap.
        clusters: name of the cluster of each complete task for the bootstrap, of each task for the t test.

    Returns:
        All pairs with a common task, in the order of the matrix. Undefined for fewer than two models or usable tasks;
        when every run passes or fails, or no two models share a task; for McNemar with several runs per cell, partial
        credit, weights or clusters; for a bootstrap with weights, or too small to reach alpha after Holm.
    """
    usable = matrix.complete_tasks() if test == "bootstrap" else matrix
    n_pairs = len(matrix.models) * (len(matrix.models) - 1) // 2
    reason = why_unusable(usable) or _why_no_test(usable, test, clusters, 2 * n_pairs / alpha - 1, resamples)
    if reason:
        return undefined(reason, len(usable.tasks), "tasks")
    first, second = np.triu_indices(len(usable.models), 1)
    scored = usable.scored * (1.0 if usable.weights is None else usable.weights)
    values = usable.values * scored
    there = usable.scored.astype(np.float64)
    common = (there @ there.T)[first, second]
    used = np.flatnonzero(common > 0)
    if not len(used):
        return undefined("no two models have a score on the same task", len(usable.tasks), "tasks")
    if test == "mcnemar":
        passes, fails = values, scored - values
        p = mcnemar_exact((passes @ fails.T)[first, second], (fails @ passes.T)[first, second])
    elif test == "t":
        p = np.ones(len(common))
        p[used] = [_t_test(usable, first[pair], second[pair], clusters) for pair in used]
    else:
        p = _bootstrap_p(usable.values.T, first, second, resamples, seed, clusters)
    gaps = (values @ there.T)[first, second] - (there @ values.T)[first, second]
    sizes = (scored @ there.T)[first, second]
    return tuple(
        PairComparison(
            first=usable.models[first[pair]],
            second=usable.models[second[pair]],
            difference=float(gaps[pair] / sizes[pair]),
            n=int(common[pair]),
            of=len(matrix.tasks),
            p=float(p[pair]),
            adjusted_p=adjusted,
            significant=adjusted <= alpha,
        )
        for pair, adjusted in zip(used, holm(p[used]), strict=True)
    )


def paired_separability(
    matrix: ScoreMatrix,
    *,
    test: PairedTest = "mcnemar",
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Sequence[str] | None = None,
) -> Result:
    """Share of pairs of models that differ significantly, ``100 · significant / C(M, 2)``.

    Arguments, missing cells and undefined cases are those of ``compare_pairs``. A pair without a common task counts as
    not separated.

    Returns:
        The separability in percent, 0..100; ``level`` is 1 − alpha.
    """
    pairs = compare_pairs(matrix, test=test, alpha=alpha, resamples=resamples, seed=seed, clusters=clusters)
    if isinstance(pairs, Undefined):
        return pairs
    possible = len(matrix.models) * (len(matrix.models) - 1) // 2
    how = {
        "mcnemar": "exact McNemar tests, pairwise complete",
        "bootstrap": f"paired bootstrap, {resamples} resamples",
        "t": "paired t tests by cluster, pairwise complete",
    }[test]
    return Estimate(
        value=100 * sum(pair.significant for pair in pairs) / possible,
        level=1 - alpha,
        n=len(pairs),
        of=possible,
        unit="pairs of models",
        method=f"{how}, Holm at {alpha}",
        seed=seed if test == "bootstrap" else None,
    )


def mcnemar_exact(only_first: ArrayLike, only_second: ArrayLike) -> NDArray[np.float64]:
    """Exact two-sided McNemar test: under H0 each task on which the models differ favours either with probability 1/2.

    ``p = min(1, 2 P(X ≤ min(b, c)))`` with X binomial(b + c, 1/2); without a task on which they differ, p = 1.

    Args:
        only_first: b, tasks that only the first model passes; one number or an array.
        only_second: c, tasks that only the second model passes.

    Returns:
        The p-value or p-values.

    >>> round(mcnemar_exact(1, 5).item(), 9)  # 2 (C(6,0) + C(6,1)) / 2^6 = 14/64
    0.21875
    """
    b, c = np.asarray(only_first, dtype=np.float64), np.asarray(only_second, dtype=np.float64)
    return np.asarray(np.minimum(1.0, 2 * bdtr(np.minimum(b, c), (b + c).astype(np.int64), 0.5)))


def holm(p_values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    """Adjust p-values by Holm's step-down procedure: the i-th smallest of m is ``max over j ≤ i of (m − j + 1) p_j``.

    Args:
        p_values: unadjusted p-values; NaN is refused.

    Returns:
        Adjusted p-values, at most 1, in the given order.

    Raises:
        ValueError: for a p-value outside 0..1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a p-value lies in 0..1 and is not NaN")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return [float(value) for value in adjusted]


def _why_no_test(
    matrix: ScoreMatrix, test: PairedTest, clusters: Sequence[str] | None, needed: float, resamples: int
) -> str | None:
    if test == "t":
        return None
    if matrix.weights is not None:
        return "this test counts all tasks equally; use the t test for weights"
    if test == "mcnemar":
        if not matrix.binary:
            return "McNemar's test needs one run per cell, pass or fail; use the bootstrap for others"
        return "McNemar's test takes tasks as independent; use the bootstrap for clusters" if clusters else None
    if resamples < needed:
        return f"{resamples} resamples cannot reach significance after Holm; use at least {int(np.ceil(needed))}"
    return None


def _t_test(matrix: ScoreMatrix, first: np.intp, second: np.intp, clusters: Sequence[str] | None) -> float:
    """Two-sided p of the paired t test over clusters, as ``means.clustered_mean``."""
    both = np.flatnonzero(matrix.scored[first] & matrix.scored[second])
    gaps = matrix.values[first, both] - matrix.values[second, both]
    weights = np.ones(len(both)) if matrix.weights is None else matrix.weights[both]
    member = np.arange(len(both))
    if clusters is not None:
        member = np.unique(np.asarray(clusters)[both], return_inverse=True)[1]
    n_clusters = int(member.max()) + 1
    if n_clusters < 2:
        return 1.0
    mean = float(weights @ gaps / weights.sum())
    if np.ptp(gaps) < 1e-12:
        return 1.0 if abs(mean) < 1e-12 else float(0.5 ** (n_clusters - 1))
    sums = np.bincount(member, weights=weights * (gaps - mean))
    error = np.sqrt(n_clusters / (n_clusters - 1) * (sums**2).sum()) / weights.sum()
    return float(2 * stdtr(n_clusters - 1, -abs(mean) / error)) if error > 0 else 1.0


def _bootstrap_p(
    values: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    resamples: int,
    seed: int,
    clusters: Sequence[str] | None,
) -> NDArray[np.float64]:
    below, above = np.zeros(len(first)), np.zeros(len(first))
    for means in bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters):
        gaps = means[:, first] - means[:, second]
        below += (gaps <= 1e-12).sum(axis=0)
        above += (gaps >= -1e-12).sum(axis=0)
    return np.minimum(1.0, 2 * (1 + np.minimum(below, above)) / (resamples + 1))


def tied_sets(scores: Mapping[str, float], pairs: Iterable[PairComparison]) -> tuple[tuple[str, ...], ...]:
    """Group the models that the benchmark cannot distinguish.

    A tied set is a longest stretch of neighbouring ranks without a significant pair inside, so sets can overlap: A can
    be tied with B, and B with C, while A and C differ. A model that differs from both neighbours forms a
    set of one. A pair that was not tested counts as not significant.

    Args:
        scores: model → score.
        pairs: tests of all pairs, from ``compare_pairs``.

    Returns:
        The sets, best models first.

    Raises:
        DifferentModelsError: when a tested model has no score.
    """
    tested = tuple(pairs)
    different = {frozenset((pair.first, pair.second)) for pair in tested if pair.significant}
    require_same_models(scores, {name for pair in tested for name in (pair.first, pair.second)} | set(scores))
    ranks = ordinal_ranks(scores)
    order = sorted(ranks, key=ranks.__getitem__)
    sets: list[tuple[str, ...]] = []
    covered = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and all(frozenset((order[end], model)) not in different for model in order[start:end]):
            end += 1
        if end > covered:
            sets.append(tuple(order[start:end]))
            covered = end
    return tuple(sets)
