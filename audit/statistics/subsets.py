"""Random subsets that compare with one subset of the tasks: as many tasks, whole clusters, equal shares of strata."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LEAST_STRATUM = 5
"""Strata with fewer tasks are pooled: within them nothing could be drawn."""
_CHUNK_CELLS = 1 << 19


@dataclass(frozen=True, eq=False)
class SubsetDraws:
    """Random subsets of equal size, one row each; every statistic of a split is compared with the same ones.

    Attributes:
        selected: draws × items, whether a subset holds the item; read-only.
        keep: items in each subset.
        seed: seed of the draws.
        design: what was kept equal, in words.
    """

    selected: NDArray[np.bool_]
    keep: int
    seed: int
    design: str

    @property
    def draws(self) -> int:
        """Number of subsets."""
        return len(self.selected)

    @property
    def total(self) -> int:
        """Number of items drawn from."""
        return int(self.selected.shape[1])

    def sums(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Sum the rows of items × columns over each subset: draws × columns."""
        result = np.empty((self.draws, values.shape[1]))
        size = max(1, _CHUNK_CELLS // max(1, self.total))
        for start in range(0, self.draws, size):
            result[start : start + size] = self.selected[start : start + size].astype(np.float64) @ values
        return result


def matching_subsets(
    kept: NDArray[np.bool_],
    *,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    draws: int,
    seed: int,
) -> SubsetDraws:
    """Draw subsets as a subset was drawn, except that chance decides which items leave.

    The numbers of items that leave each cluster are permuted over the clusters of equal size of a stratum, and which
    of a cluster's items leave is random. So every draw has as many items, whole clusters leave together where they do
    in the subset, and every stratum keeps as many items. When the subset itself was drawn like this, it is
    exchangeable with the draws, which makes a test exact. Without clusters and strata this is deleting random items.

    Args:
        kept: whether the subset in question holds the item.
        clusters: cluster of each item; None where items are independent.
        strata: stratum of each item, such as its domain; clusters should not cross strata (a cluster that does
            belongs to the stratum of its first item).
        draws: number of subsets.
        seed: seed of the draws.

    Returns:
        The draws; the last ones are remembered for the next statistic.

    >>> found = matching_subsets(np.array([1, 1, 0, 0], bool), clusters=["a", "a", "b", "b"], draws=200, seed=1)
    >>> sorted({tuple(row) for row in found.selected.astype(int).tolist()})
    [(0, 0, 1, 1), (1, 1, 0, 0)]
    """
    owner = np.arange(len(kept)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    stratum = np.zeros(len(kept), np.intp) if strata is None else _pooled(np.unique(strata, return_inverse=True)[1])
    words = [f"{int((~kept).sum()):,} of {len(kept):,} random tasks deleted"]
    if clusters is not None:
        words.append("variants of one task together as in the split")
    if strata is not None and len(np.unique(stratum)) > 1:
        words.append("as many per domain as in the split")
    selected = _drawn(
        np.ascontiguousarray(kept, dtype=np.bool_).tobytes(),
        owner.astype(np.int64).tobytes(),
        stratum.astype(np.int64).tobytes(),
        draws,
        seed,
    )
    return SubsetDraws(selected, int(kept.sum()), seed, ", ".join(words))


def forget_subsets() -> None:
    """Free the remembered draws, which no statistic of another matrix can use."""
    _drawn.cache_clear()


def plain_subsets(
    total: int, keep: int, *, clusters: Sequence[str] | None = None, draws: int, seed: int
) -> SubsetDraws:
    """Draw random subsets of a given size; with clusters, whole ones leave until one is left in part.

    Args:
        total: number of items.
        keep: items in each subset.
        clusters: cluster of each item.
        draws: number of subsets.
        seed: seed of the draws.
    """
    order = np.random.default_rng(seed).permutation(total)
    if clusters is not None:
        owner = np.unique(np.asarray(clusters), return_inverse=True)[1]
        place = np.random.default_rng(seed).permutation(owner.max() + 1)
        order = np.argsort(place[owner], kind="stable")
    kept = np.zeros(total, dtype=np.bool_)
    kept[order[:keep]] = True
    return matching_subsets(kept, clusters=clusters, draws=draws, seed=seed)


def _pooled(stratum: NDArray[np.intp]) -> NDArray[np.intp]:
    small = np.bincount(stratum) < LEAST_STRATUM
    return np.where(small[stratum], -1, stratum)


@lru_cache(maxsize=3)
def _drawn(kept: bytes, owner: bytes, stratum: bytes, draws: int, seed: int) -> NDArray[np.bool_]:
    holds = np.frombuffer(kept, np.bool_)
    member, layer = np.frombuffer(owner, np.int64), np.frombuffer(stratum, np.int64)
    rng = np.random.default_rng(seed)
    selected = np.empty((draws, len(holds)), dtype=np.bool_)
    sizes = np.bincount(member)
    first = np.zeros(len(sizes), np.intp)
    first[member[::-1]] = np.arange(len(member))[::-1]
    for level in np.unique(layer[first]):
        for size in np.unique(sizes[layer[first] == level]):
            groups = np.flatnonzero((layer[first] == level) & (sizes == size))
            items = (
                np.stack([np.flatnonzero(member == group) for group in groups]) if size > 1 else first[groups][:, None]
            )
            _fill(selected, items, holds[items].sum(axis=1), rng)
    selected.setflags(write=False)
    return selected


def _fill(
    selected: NDArray[np.bool_], items: NDArray[np.intp], kept: NDArray[np.intp], rng: np.random.Generator
) -> None:
    """Permute the numbers of kept items over clusters of one size, and choose that many items of each at random."""
    groups, size = items.shape
    rows = max(1, _CHUNK_CELLS // items.size)
    for start in range(0, len(selected), rows):
        block = min(rows, len(selected) - start)
        order = rng.random((block, groups), dtype=np.float32).argsort(axis=1)
        numbers = kept[order]
        if size == 1:
            selected[start : start + block, items[:, 0]] = numbers > 0
            continue
        place = rng.random((block, groups, size), dtype=np.float32).argsort(axis=2).argsort(axis=2)
        selected[start : start + block][:, items.ravel()] = (place < numbers[:, :, None]).reshape(block, -1)
