"""Rank-change figures of many versions of a ranking at once, one version per row."""

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.separation import PAPER_THRESHOLD

_DIGITS = 12
_SLACK = 1e-12
_CHUNK_CELLS = 1 << 19


def later_ranks(initial_ranks: NDArray[np.integer], later: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rank each row of later scores from the best down; ties keep the initial ranks.

    Args:
        initial_ranks: versions × models, or one row for all.
        later: versions × models, scores.

    Returns:
        Ranks from 1, versions × models.
    """
    first = np.broadcast_to(initial_ranks, later.shape)
    order = np.lexsort((first, -np.round(later, _DIGITS)), axis=1)
    ranks = np.empty(later.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, np.arange(1, later.shape[1] + 1)[None, :], axis=1)
    return ranks


def tau_b_rows(initial: NDArray[np.float64], later: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's τ-b of initial and later scores, row by row; NaN where all models of a version tie.

    Args:
        initial: versions × models, or one row for all.
        later: versions × models.
    """
    first, second = np.triu_indices(later.shape[1], 1)
    rows = max(1, _CHUNK_CELLS // max(1, len(first)))
    parts = []
    for start in range(0, len(later), rows):
        block = later[start : start + rows]
        one = initial if len(initial) == 1 else initial[start : start + rows]
        before, after = (np.sign(np.round(x[:, first] - x[:, second], _DIGITS)) for x in (one, block))
        with np.errstate(invalid="ignore"):
            parts.append((after * before).sum(axis=1) / np.sqrt(np.abs(before).sum(axis=1) * np.abs(after).sum(axis=1)))
    return np.asarray(np.clip(np.concatenate(parts), -1, 1))


def close_models(scores: NDArray[np.float64], threshold: float = PAPER_THRESHOLD) -> NDArray[np.float64]:
    """Count the models in groups of two or more by the greedy rule of ``indistinguishable_groups``, row by row.

    Args:
        scores: versions × models.
        threshold: largest difference within a group.

    Returns:
        One count per row.
    """
    ordered = -np.sort(-scores, axis=1)
    first, size = ordered[:, 0].copy(), np.ones(len(ordered))
    count = np.zeros(len(ordered))
    for column in range(1, ordered.shape[1]):
        joins = first - ordered[:, column] <= threshold + _SLACK
        count += np.where(joins, np.where(size == 1, 2.0, 1.0), 0.0)
        size = np.where(joins, size + 1, 1)
        first = np.where(joins, first, ordered[:, column])
    return count
