"""The bootstrap: resampled means of all models at once, as a product of a count matrix with the scores."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

_POOLS = ThreadpoolController()

_CHUNK_CELLS = 1 << 18
_REMEMBERED_CELLS = 1 << 25
_LARGEST_COUNT = np.iinfo(np.uint8).max


def bootstrap_means(
    values: NDArray[np.floating], *, resamples: int, seed: int, clusters: Sequence[str] | None = None
) -> Iterator[NDArray[np.float64]]:
    """Resample tasks with replacement and average each column, the same tasks for all columns (paired).

    A resample is a vector of counts, so a block of resamples is a matrix product: counts (resamples × tasks) @ values
    (tasks × columns). With clusters, whole clusters are drawn, and a mean is the drawn sum over the drawn size. Equal
    seeds draw equal tasks.

    Args:
        values: tasks × columns, without missing cells.
        resamples: number of resamples, at least 1.
        seed: seed of the draws.
        clusters: name of the cluster of each task; None when tasks are independent.

    Yields:
        Blocks of resampled means, rows are resamples, columns are those of ``values``.

    Raises:
        ValueError: for fewer than one resample, or not one cluster per task.
    """
    if resamples < 1:
        raise ValueError(f"a bootstrap needs at least one resample, got {resamples}")
    sums, sizes = values, None
    if clusters is not None:
        if len(clusters) != len(values):
            raise ValueError(f"there are {len(clusters)} clusters for {len(values)} tasks: give one per task")
        member = np.unique(np.asarray(clusters), return_inverse=True)[1]
        sizes = np.bincount(member).astype(np.float64)
        sums = np.zeros((len(sizes), values.shape[1]))
        np.add.at(sums, member, values)
    # Sums of whole numbers below 2**24 are exact in single precision, which multiplies twice as fast.
    exact = bool((sums == np.rint(sums)).all() and len(sums) * np.abs(sums).max(initial=0) < 2**24)
    factors = np.ascontiguousarray(sums, dtype=np.float32 if exact else np.float64)
    for counts in _counts(len(sums), resamples, seed):
        weights = counts.astype(factors.dtype)
        with one_thread():
            totals = (weights @ factors).astype(np.float64)
        yield totals / (len(sums) if sizes is None else (weights.astype(np.float64) @ sizes)[:, None])


def all_bootstrap_means(
    values: NDArray[np.floating], *, resamples: int, seed: int, clusters: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """Return the blocks of ``bootstrap_means`` as one array of resamples × columns."""
    return np.concatenate(list(bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters)))


def bootstrap_scores(
    values: NDArray[np.floating],
    weights: NDArray[np.float64] | None,
    *,
    resamples: int,
    seed: int,
    clusters: Sequence[str] | None = None,
) -> NDArray[np.float64]:
    """Resample tasks and take each column's mean, weighted where tasks have weights: resamples × columns.

    Args:
        values: tasks × columns, without missing cells.
        weights: weight of each task, or of each cell (0 leaves it out); None where all count equally.
        resamples: number of resamples.
        seed: seed of the draws.
        clusters: name of the cluster of each task.
    """
    if weights is None:
        return all_bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters)
    factors = weights if weights.ndim == 2 else weights[:, None]
    columns = np.column_stack([values * factors, factors])
    means = all_bootstrap_means(columns, resamples=resamples, seed=seed, clusters=clusters)
    sums, sizes = np.split(means, [values.shape[1]], axis=1)
    return np.asarray(sums / np.where(sizes > 0, sizes, 1.0))


def percentile_interval(resampled: NDArray[np.float64], level: float) -> dict[str, float]:
    """Cut equal tails off the resampled values of a statistic.

    Args:
        resampled: one value per resample, NaN where the statistic is undefined on it.
        level: coverage of the interval.

    Returns:
        ``low``, ``high`` and ``level``; nothing when no resample has a value.
    """
    defined = resampled[np.isfinite(resampled)]
    if not len(defined):
        return {}
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return {"low": float(low), "high": float(high), "level": level}


@lru_cache(maxsize=2)
def random_subsets(total: int, keep: int, draws: int, seed: int) -> NDArray[np.intp]:
    """Draw random subsets of equal size, without replacement; the last ones are remembered, for the next statistic.

    Args:
        total: number of items.
        keep: items in each subset, from 1 to ``total``.
        draws: number of subsets.
        seed: seed of the draws.

    Returns:
        draws × keep positions, sorted within each subset; read-only.

    Raises:
        ValueError: when a subset would be empty or larger than the whole.
    """
    if not 1 <= keep <= total:
        raise ValueError(f"a random subset needs 1 to {total} items, got {keep}")
    rng = np.random.default_rng(seed)
    subsets = np.stack([rng.choice(total, keep, replace=False, shuffle=False) for _ in range(draws)])
    subsets.sort(axis=1)
    subsets.setflags(write=False)
    return subsets


def _counts(items: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """How often each resample holds each item; small sets are remembered, because nulls draw them again and again."""
    if items * resamples > _REMEMBERED_CELLS:
        yield from _fresh_counts(items, resamples, seed)
    else:
        yield from _remembered_counts(items, resamples, seed)


@lru_cache(maxsize=1)
def _remembered_counts(items: int, resamples: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    return tuple(_fresh_counts(items, resamples, seed))


def _fresh_counts(items: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK_CELLS // items)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = rng.integers(0, items, (size, items), dtype=np.int64)
        drawn += np.arange(size, dtype=np.int64)[:, None] * items
        counts = np.bincount(drawn.ravel(), minlength=size * items).reshape(size, items)
        yield counts.astype(np.uint8 if items <= _LARGEST_COUNT or counts.max() <= _LARGEST_COUNT else np.int64)


def one_thread() -> AbstractContextManager[object]:
    """Run the linear algebra inside a ``with`` block on one thread; without effect on results."""
    limit: AbstractContextManager[object] = _POOLS.limit(limits=1, user_api="blas")
    return limit
