"""How much the prompts of a benchmark differ: mean cosine distances of their embeddings, and a plane of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.embedders import embedder, unit_rows
from agenthard.audit.statistics.nulls import NullDistribution, null_of, summarise_null
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.audit.statistics.subsets import SubsetDraws

Vectors = Any
"""n × dimensions: a NumPy array or a SciPy sparse matrix."""
_BLOCK_CELLS = 1 << 20
_NEIGHBOURS = 64
NEAREST_DRAWS = 1000
"""Random subsets behind the null of the nearest neighbour, which is computed one by one."""
_NEIGHBOUR_CELLS = 1 << 20


def mean_pairwise_distance(vectors: Vectors) -> Result:
    """Mean cosine distance over all pairs, in closed form: ``1 − (|Σ u_i|² − n) / (n (n − 1))`` for unit vectors u_i.

    No n × n matrix is built: the sum of all pairwise products is the square of the sum. A prompt without direction (a
    vector of zeros, for instance an empty text) is left out ("n of N"). Duplicates count as distance 0.

    Args:
        vectors: one embedding per prompt, as a NumPy array or a SciPy sparse matrix.

    Returns:
        The mean distance, 0 (all prompts alike) to 2. Undefined for fewer than two prompts with a direction, and NaN.

    >>> round(mean_pairwise_distance(np.array([[1, 0], [0, 1], [0, 2]])).value, 12)  # (1 + 1 + 0) / 3
    0.666666666667
    """
    norms = _norms(vectors)
    if isinstance(norms, Undefined):
        return norms
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    n = int((norms > 0).sum())
    total = np.zeros(vectors.shape[1])
    for rows in _blocks(vectors):
        total += inverse[rows] @ _double(vectors, rows)
    return _pairwise(total, n, len(norms))


def _pairwise(total: NDArray[np.float64], n: int, of: int) -> Estimate:
    return _estimate(1 - (float(total @ total) - n) / (n * (n - 1)), n, of, "mean pairwise cosine distance")


def mean_nearest_neighbour_distance(vectors: Vectors) -> Result:
    """Mean cosine distance of each prompt to the one most like it, exact, computed in blocks of rows.

    It sees clones that the mean over all pairs hides: with every prompt twice it is 0. The work grows with n²; a few
    thousand prompts take seconds. Zero vectors are left out, as in ``mean_pairwise_distance``.

    Args:
        vectors: one embedding per prompt, as a NumPy array or a SciPy sparse matrix.

    Returns:
        The mean distance, 0 to 2. Undefined for fewer than two prompts with a direction, and NaN.
    """
    norms = _norms(vectors)
    if isinstance(norms, Undefined):
        return norms
    kept = np.flatnonzero(norms > 0)
    n = len(kept)
    units = _scaled(vectors, norms, kept)
    total = 0.0
    size = max(1, _BLOCK_CELLS // n)
    for start in range(0, n, size):
        block = units[start : start + size] @ units.T
        similar = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
        own = np.arange(len(similar))
        similar[own, start + own] = -np.inf
        total += float((1 - similar.max(axis=1)).sum())
    return _estimate(max(0.0, total / n), n, len(norms), "mean cosine distance to the nearest other prompt")


def _norms(vectors: Vectors) -> NDArray[np.float64] | Undefined:
    parts = []
    for rows in _blocks(vectors):
        block = _double(vectors, rows)
        if hasattr(block, "toarray"):
            parts.append(np.sqrt(np.asarray(block.multiply(block).sum(axis=1)).ravel()))
        else:
            parts.append(np.sqrt(np.einsum("ij,ij->i", block, block)))
    norms = np.concatenate(parts) if parts else np.zeros(0)
    if not np.isfinite(norms).all():
        return undefined("an embedding holds NaN or infinity", len(norms), "prompts")
    directed = int((norms > 0).sum())
    if directed < 2:
        return undefined(f"{directed} prompt(s) have an embedding; a distance needs two", len(norms), "prompts")
    return norms


def _blocks(vectors: Vectors) -> list[slice]:
    n, width = vectors.shape
    size = max(1, _BLOCK_CELLS // 8 // max(1, width)) if not hasattr(vectors, "toarray") else max(1, n)
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]


def _double(vectors: Vectors, rows: Any) -> Any:
    part = vectors[rows]
    return part.astype(np.float64) if part.dtype != np.float64 else part


def _scaled(vectors: Vectors, norms: NDArray[np.float64], kept: NDArray[np.intp]) -> Any:
    part = _double(vectors, kept)
    if hasattr(part, "toarray"):
        from scipy.sparse import diags_array

        return (diags_array(1 / norms[kept]) @ part).tocsr()
    return part / norms[kept, None]


def _estimate(value: float, n: int, of: int, method: str) -> Estimate:
    return Estimate(value=value, n=n, of=of, unit="prompts", method=f"{method}; zero vectors left out")


class PromptSpace:
    """Embeddings of all prompts, made once, because TF-IDF weights depend on all texts.

    Args:
        prompts: one text per task.
        name: the embedder.
        cache: file that keeps the vectors of models; None keeps none.
    """

    def __init__(self, prompts: Sequence[str], name: str = "tfidf", cache: Path | None = None) -> None:
        self._vectors: Any = embedder(name, cache).embed(prompts)
        self._size = len(prompts)

    def plane(self) -> NDArray[np.float64]:
        """Place all prompts in a plane, so that prompts with similar words or meaning are close (PCA).

        The two directions in which the unit vectors differ most, from their mean; the sign of each makes the largest
        coordinate positive. Prompts without direction lie where the mean of the others is.

        Returns:
            prompts × 2; zeros for fewer than three prompts with a direction.
        """
        places = np.zeros((self._size, 2))
        norms = self._all_norms
        directed = np.flatnonzero(norms > 0) if not isinstance(norms, Undefined) else np.zeros(0, np.intp)
        if len(directed) < 3 or self._vectors.shape[1] < 2:
            return places
        places[directed] = _main_directions(self._units[directed])
        return places

    def pairwise(self, positions: NDArray[np.intp]) -> Result:
        """Mean cosine distance over all pairs of these prompts."""
        return mean_pairwise_distance(self._vectors[positions])

    def nearest(self, positions: NDArray[np.intp]) -> Result:
        """Mean cosine distance of each of these prompts to the one of them most like it."""
        return mean_nearest_neighbour_distance(self._vectors[positions])

    def pairwise_null(self, subsets: SubsetDraws) -> NullDistribution | Undefined:
        """Mean pairwise distance of random subsets: |Σ u|² of all of them are one product with the unit vectors."""
        norms = self._all_norms
        if isinstance(norms, Undefined):
            return norms
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        directed = subsets.sums((norms > 0).astype(np.float64)[:, None])[:, 0]
        if (directed < 2).any():
            return null_of(self.pairwise, subsets)
        squares, columns = np.empty(subsets.draws), self._columns
        rows = max(1, _BLOCK_CELLS // max(columns.shape))
        for start in range(0, subsets.draws, rows):
            block = subsets.selected[start : start + rows] * inverse
            total = np.asarray(columns @ block.T)
            squares[start : start + rows] = np.einsum("ij,ij->j", total, total)
        values = 1 - (squares - directed) / (directed * (directed - 1))
        method = _estimate(0.0, 0, 0, "mean pairwise cosine distance").method
        return summarise_null(values, subsets, method)

    @cached_property
    def _all_norms(self) -> NDArray[np.float64] | Undefined:
        return _norms(self._vectors)

    @cached_property
    def _columns(self) -> Any:
        return _double(self._vectors, slice(None)).T

    def nearest_null(self, subsets: SubsetDraws) -> NullDistribution | Undefined:
        """Mean nearest-neighbour distance of the first random subsets, each as ``nearest`` would give it.

        The nearest prompts of every prompt are listed once; in a subset the first of them that was drawn counts, and
        only a prompt none of whose listed neighbours was drawn is compared with all.
        """
        few = SubsetDraws(subsets.selected[:NEAREST_DRAWS], subsets.keep, subsets.seed, subsets.design)
        return null_of(self._listed_nearest, few)

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
        return unit_rows(self._vectors)

    @cached_property
    def _lists(self) -> "_Neighbours":
        """The most similar prompts of every prompt, most similar first."""
        units, size = self._units, self._size
        directed = np.asarray(abs(units).sum(axis=1) > 0).ravel()
        length = min(_NEIGHBOURS, size - 1)
        neighbours = np.zeros((size, length), dtype=np.intp)
        similarities = np.zeros((size, length))
        rows = max(1, _NEIGHBOUR_CELLS // size)
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


def _main_directions(units: Any) -> NDArray[np.float64]:
    """Project rows on the two directions in which they differ most from their mean, without a dense copy of them."""
    from scipy.sparse.linalg import LinearOperator, svds

    n, width = units.shape
    mean = np.asarray(units.mean(axis=0)).ravel()
    centred = LinearOperator(
        (n, width),
        matvec=lambda x: units @ x.ravel() - float(mean @ x.ravel()),
        rmatvec=lambda y: units.T @ y.ravel() - mean * float(y.sum()),
        dtype=np.float64,
    )
    with one_thread():
        left, sizes, _ = svds(centred, k=2, v0=np.ones(min(n, width)), solver="arpack")
    order = np.argsort(-sizes, kind="stable")
    places = np.asarray(left[:, order] * sizes[order])
    largest = np.abs(places).argmax(axis=0)
    return places * np.where(places[largest, np.arange(2)] < 0, -1.0, 1.0)


@dataclass(frozen=True)
class _Neighbours:
    neighbours: NDArray[np.intp]
    similarities: NDArray[np.float64]
    directed: NDArray[np.bool_]
