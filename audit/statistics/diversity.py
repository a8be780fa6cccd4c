"""How much the prompts of a benchmark differ: mean pairwise and nearest-neighbour cosine distance of embeddings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined

Vectors = Any
"""n × dimensions: a NumPy array or a SciPy sparse matrix."""
_BLOCK_CELLS = 1 << 22


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
    return _estimate(1 - (float(total @ total) - n) / (n * (n - 1)), n, len(norms), "mean pairwise cosine distance")


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
