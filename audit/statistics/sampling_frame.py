"""Rates and F1 over labelled tasks: as they are, in clusters, or weighted up from a sample to the whole benchmark."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.intervals import clustered_wilson, effective_wilson
from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.resampling import all_bootstrap_means, percentile_interval
from agenthard.audit.statistics.result import Estimate, Result, undefined

LEVEL = 0.95
"""Coverage of every interval here."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SamplingFrame:
    """Labelled tasks with their clusters and strata, for rates about them or about the whole benchmark.

    >>> frame = SamplingFrame(("a", "b", "c", "d"))
    >>> hits, among = np.array([True, True, False, False]), np.array([True, True, True, True])
    >>> result = frame.rate(hits, among)
    >>> result.value, round(result.low, 3), round(result.high, 3)
    (0.5, 0.15, 0.85)
    """

    tasks: tuple[str, ...]
    """Ids of the labelled tasks."""
    clusters: tuple[str, ...] | None = None
    """Cluster of each task; None when tasks are independent."""
    strata: tuple[str, ...] | None = None
    """Stratum that each task was drawn from; None when the labelled tasks are not a sample."""
    population: Mapping[str, int] | None = None
    """Tasks of the benchmark in each stratum; None without strata."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """Tasks of the benchmark that each labelled task represents: N_h / n_h of its stratum, or 1."""
        if self.strata is None or self.population is None:
            return np.ones(len(self.tasks))
        drawn = Counter(self.strata)
        return np.array([self.population[name] / drawn[name] for name in self.strata])

    def rate(self, hits: Mask, among: Mask, unit: str = "tasks") -> Result:
        """Share of ``hits`` among ``among``, with its interval.

        Independent tasks: Wilson. Clusters: Wilson at the effective number of tasks. A weighted sample:
        ``Σ w·hit / Σ w·among``, and Wilson at the effective number of tasks ``p(1 − p)/V``, with V from Taylor
        linearisation by stratum with the finite population correction (by cluster and without it where there are
        clusters). A rate over strata that are labelled in full is a count, and its interval has no width.

        Args:
            hits: the tasks to count.
            among: the tasks to count them among.
            unit: what ``among`` counts.

        Returns:
            The share; undefined when ``among`` is empty.
        """
        hits = hits & among
        if self.strata is not None:
            return self._weighted(hits.astype(np.float64), among.astype(np.float64), int(among.sum()), unit)
        plain = wilson_interval(int(hits.sum()), int(among.sum()), LEVEL, unit)
        if self.clusters is None or not isinstance(plain, Estimate):
            return plain
        counts: dict[str, list[int]] = {}
        for name, hit, counted in zip(self.clusters, hits, among, strict=True):
            count = counts.setdefault(name, [0, 0])
            count[0] += int(hit)
            count[1] += int(counted)
        pairs = [(k, n) for k, n in counts.values()]
        low, high = clustered_wilson(pairs, LEVEL)
        method = f"Wilson interval at the effective number of tasks, {sum(n > 0 for _, n in pairs)} clusters"
        return plain.model_copy(update={"low": low, "high": high, "method": method})

    def f1(self, flagged: Mask, flawed: Mask, answered: Mask, *, resamples: int, seed: int) -> Result:
        """F1 = 2 TP / (2 TP + FP + FN) over the answered tasks.

        The interval is a percentile interval from a bootstrap over tasks, or over whole clusters; resamples without a
        flag and without a flaw are left out. An F1 of 0 or 1 has none, because every resample repeats it. For a
        weighted sample it is that of ``rate``, because F1 is a ratio of two weighted sums as well.

        Args:
            flagged: tasks that were flagged.
            flawed: tasks that are flawed.
            answered: tasks that have an answer.
            resamples: resamples of the bootstrap.
            seed: seed of the bootstrap.

        Returns:
            F1; undefined when no answered task is flawed or flagged.
        """
        both = (flagged & flawed & answered).astype(np.float64)
        sizes = ((flagged & answered).astype(np.float64)) + (flawed & answered)
        n = int(answered.sum())
        if not sizes.sum():
            return undefined("no task is flagged and none is flawed", n, "tasks")
        if self.strata is not None:
            return self._weighted(2 * both, sizes, n, "tasks")
        clusters = None if self.clusters is None else [c for c, a in zip(self.clusters, answered, strict=True) if a]
        values = np.stack([both, sizes], axis=1)[answered]
        drawn = all_bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters)
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled = np.where(drawn[:, 1] > 0, 2 * drawn[:, 0] / drawn[:, 1], np.nan)
        value = float(2 * both.sum() / sizes.sum())
        of = "tasks" if clusters is None else f"{len(set(clusters))} clusters"
        return Estimate(
            value=value,
            n=n,
            of=len(self.tasks),
            unit="tasks",
            method=f"F1; percentile interval, {np.isfinite(resampled).sum()} of {resamples} resamples of {of}",
            seed=seed,
            **(percentile_interval(resampled, LEVEL) if 0 < value < 1 else {}),
        )

    def _weighted(self, y: NDArray[np.float64], x: NDArray[np.float64], n: int, unit: str) -> Result:
        """Ratio of two weighted sums, 0..1."""
        weights = self.weights
        total = float(weights @ x)
        if not total:
            return undefined(f"the number of {unit} is 0", 0, unit)
        value = min(1.0, float(weights @ y) / total)
        point = Estimate(value=value, n=n, of=n, unit=unit, method="weighted by tasks per labelled task")
        effective = self._effective(value, (y - value * x) / total, x)
        if effective is None:
            return point.model_copy(update={"method": f"{point.method}; no interval: a stratum has one labelled task"})
        if effective == inf:
            method = f"{point.method}; exact, because every task concerned is labelled"
            return point.model_copy(update={"low": value, "high": value, "level": LEVEL, "method": method})
        low, high = effective_wilson(value, effective, LEVEL)
        how = "strata, finite population correction" if self.clusters is None else f"{len(set(self.clusters))} clusters"
        method = f"{point.method}; Wilson interval at the effective number of tasks ({effective:.1f}), {how}"
        return point.model_copy(update={"low": low, "high": high, "level": LEVEL, "method": method})

    def _effective(self, value: float, z: NDArray[np.float64], x: NDArray[np.float64]) -> float | None:
        """Effective number of tasks; infinity for a full count, None when the variance cannot be known."""
        assert self.strata is not None and self.population is not None
        weights, names = self.weights, np.array(self.strata)
        if np.all(weights[x > 0] == 1):
            return inf
        variance = 0.0
        if self.clusters is not None:
            member = np.unique(self.clusters, return_inverse=True)[1]
            sums = np.bincount(member, weights=weights * z)
            variance = len(sums) / (len(sums) - 1) * float(sums @ sums) if len(sums) > 1 else 0.0
        else:
            for name in sorted(set(self.strata)):
                inside = names == name
                drawn, there = int(inside.sum()), self.population[name]
                if drawn < there and drawn == 1:
                    return None
                if drawn < there:
                    variance += there**2 * (1 - drawn / there) * float(z[inside].var(ddof=1)) / drawn
        if variance > 1e-15:
            return value * (1 - value) / variance
        if self.clusters is not None:
            return float(len({name for name, counted in zip(self.clusters, x, strict=True) if counted}))
        counted = weights * x
        return float(counted.sum() ** 2 / (counted @ counted))
