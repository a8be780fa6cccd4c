"""The prompts of a benchmark as points: how much those of a split differ, and the same for random subsets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import (
    Estimate,
    NullDistribution,
    Result,
    Undefined,
    embedder,
    mean_nearest_neighbour_distance,
    mean_pairwise_distance,
    random_subset_null,
)

_NEIGHBOURS = 64
_BLOCK_CELLS = 1 << 20


class PromptSpace:
    """Embeddings of all prompts, made once, because TF-IDF weights depend on all texts.

    Args:
        prompts: one text per task.
        name: the embedder.
    """

    def __init__(self, prompts: Sequence[str], name: str = "tfidf") -> None:
        self._vectors: Any = embedder(name).embed(prompts)
        self._size = len(prompts)

    def pairwise(self, positions: NDArray[np.intp]) -> Result:
        """Mean cosine distance over all pairs of these prompts."""
        return mean_pairwise_distance(self._vectors[positions])

    def nearest(self, positions: NDArray[np.intp]) -> Result:
        """Mean cosine distance of each of these prompts to the one of them most like it."""
        return mean_nearest_neighbour_distance(self._vectors[positions])

    def pairwise_null(self, keep: int, draws: int, seed: int) -> NullDistribution | Undefined:
        """Mean pairwise distance of random subsets."""
        return random_subset_null(self.pairwise, total=self._size, keep=keep, draws=draws, seed=seed)

    def nearest_null(self, keep: int, draws: int, seed: int) -> NullDistribution | Undefined:
        """Mean nearest-neighbour distance of random subsets, each as ``nearest`` would give it.

        The nearest prompts of every prompt are listed once; in a subset the first of them that was drawn counts, and
        only a prompt none of whose listed neighbours was drawn is compared with all.
        """
        return random_subset_null(self._listed_nearest, total=self._size, keep=keep, draws=draws, seed=seed)

    def _listed_nearest(self, positions: NDArray[np.intp]) -> Result:
        lists = self._lists
        used = positions[lists.directed[positions]]
        if len(used) < 2:
            return self.nearest(positions)
        drawn = np.zeros(self._size, dtype=np.bool_)
        drawn[used] = True
        present = drawn[lists.neighbours[used]]
        similar = lists.similarities[used, present.argmax(axis=1)]
        for row in np.flatnonzero(~present.any(axis=1)):
            others = used[used != used[row]]
            similar[row] = (self._units[[used[row]]] @ self._units[others].T).max()
        return Estimate(
            value=max(0.0, float((1 - similar).mean())),
            n=len(used),
            of=len(positions),
            unit="prompts",
            method="mean cosine distance to the nearest other prompt; zero vectors left out",
        )

    @cached_property
    def _units(self) -> Any:
        from sklearn.preprocessing import normalize

        return normalize(self._vectors)

    @cached_property
    def _lists(self) -> "_Neighbours":
        """The most similar prompts of every prompt, most similar first."""
        units, size = self._units, self._size
        directed = np.asarray(abs(units).sum(axis=1) > 0).ravel()
        length = min(_NEIGHBOURS, size - 1)
        neighbours = np.zeros((size, length), dtype=np.intp)
        similarities = np.zeros((size, length))
        rows = max(1, _BLOCK_CELLS // size)
        for start in range(0, size, rows):
            block = units[start : start + rows] @ units.T
            similar = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
            own = np.arange(len(similar))
            similar[own, start + own] = -np.inf
            similar[:, ~directed] = -np.inf
            top = np.argpartition(-similar, length - 1, axis=1)[:, :length]
            order = np.argsort(-np.take_along_axis(similar, top, axis=1), axis=1, kind="stable")
            neighbours[start : start + rows] = np.take_along_axis(top, order, axis=1)
            similarities[start : start + rows] = np.take_along_axis(similar, neighbours[start : start + rows], axis=1)
        return _Neighbours(neighbours, similarities, directed)


@dataclass(frozen=True)
class _Neighbours:
    neighbours: NDArray[np.intp]
    similarities: NDArray[np.float64]
    directed: NDArray[np.bool_]
