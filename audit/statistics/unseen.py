"""How well subsets of tasks tell models apart that had no part in choosing the tasks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from agenthard.audit.statistics.paired_tests import mcnemar_exact
from agenthard.audit.statistics.resampling import one_thread

FIGURES = ("score", "significant", "signal", "agreement")
"""Mean score; significant pairs in percent; χ² of a pair per 100 tasks, above chance; chance-corrected agreement."""

_CHUNK_CELLS = 1 << 22
_SAME = 1e-12

Choice = Callable[[tuple[int, ...]], NDArray[np.bool_]]
"""Chooses tasks from the outcomes of some models, given by their rows."""


@dataclass(frozen=True)
class Folds:
    """Ways to hold models out: in each repetition every model is held out once.

    Attributes:
        unseen: rows of the models held out, one tuple per fold; the others choose.
        per_repetition: folds that together hold out every model.
        repetitions: random partitions.
    """

    unseen: tuple[tuple[int, ...], ...]
    per_repetition: int
    repetitions: int


@dataclass(frozen=True)
class UnseenFigures:
    """Figures on models held out, means over the folds.

    Attributes:
        sizes: chosen tasks, per fold.
        everything: figure → value on all tasks.
        chosen: figure → value on the chosen tasks.
        random: figure → values on random subsets that are as large as the chosen ones, one per draw.
    """

    sizes: tuple[int, ...]
    everything: dict[str, float]
    chosen: dict[str, float]
    random: dict[str, NDArray[np.float64]]


def model_folds(models: int, least_choosing: int, *, seed: int, folds: int = 12) -> Folds | None:
    """Partition models at random, again and again.

    Folds have about six models or more, so that there are pairs to tell apart: at most five folds, at least two.

    Args:
        models: how many there are.
        least_choosing: least number of models that choose.
        seed: seed of the partitions.
        folds: folds in all, roughly.

    Returns:
        The folds; None when a fold of three models leaves too few that choose.

    >>> model_folds(12, 5, seed=0).per_repetition, model_folds(71, 5, seed=0).per_repetition, model_folds(8, 5, seed=0)
    (2, 5, None)
    """
    parts = next((k for k in range(min(5, max(2, models // 6)), 6) if models - -(-models // k) >= least_choosing), 0)
    if not parts or models // parts < 3:
        return None
    rng, repetitions = np.random.default_rng(seed), -(-folds // parts)
    unseen = [
        tuple(sorted(part.tolist()))
        for _ in range(repetitions)
        for part in np.array_split(rng.permutation(models), parts)
    ]
    return Folds(tuple(unseen), parts, repetitions)


def unseen_figures(
    values: NDArray[np.float64],
    folds: Folds,
    choose: Choice,
    *,
    clusters: Sequence[str] | None = None,
    alpha: float = 0.05,
    draws: int = 500,
    seed: int = 0,
) -> UnseenFigures:
    """Choose tasks from the outcomes of some models, and measure on the others.

    All models of a fold are measured on one set of tasks. A random draw is one order of the tasks, of which each fold
    takes as many as it chose: its subsets overlap at least as much as the chosen ones do, which makes its band wide
    rather than narrow.

    Args:
        values: models × tasks, share of runs that passed, without gaps.
        folds: which models are held out.
        choose: chooses tasks from the outcomes of the models that are not.
        clusters: cluster of each task; random subsets take whole ones first.
        alpha: family-wise error rate of the tests of pairs.
        draws: random orders.
        seed: seed of the orders.

    Returns:
        The figures.
    """
    models, tasks = values.shape
    place = _random_places(tasks, clusters, draws, seed)
    owner = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    sizes, totals = [], [np.zeros((len(FIGURES), rows)) for rows in (1, 1, draws)]
    with one_thread():
        for held_out in folds.unseen:
            chosen = choose(tuple(i for i in range(models) if i not in held_out))
            sizes.append(int(chosen.sum()))
            part = values[list(held_out)]
            subsets = (np.ones((1, tasks), np.bool_), chosen[None, :], place < sizes[-1])
            for total, selected in zip(totals, subsets, strict=True):
                total += _figures(part, selected, owner, alpha) / len(folds.unseen)
    everything, chosen_, random = (dict(zip(FIGURES, total, strict=True)) for total in totals)
    return UnseenFigures(
        sizes=tuple(sizes),
        everything={name: float(value[0]) for name, value in everything.items()},
        chosen={name: float(value[0]) for name, value in chosen_.items()},
        random=random,
    )


def _random_places(tasks: int, clusters: Sequence[str] | None, draws: int, seed: int) -> NDArray[np.intp]:
    """Place of each task in a random order, draws × tasks; the tasks of a cluster follow one another."""
    rng = np.random.default_rng(seed)
    order = rng.random((draws, tasks))
    if clusters is not None:
        owner = np.unique(np.asarray(clusters), return_inverse=True)[1]
        order = np.floor(rng.random((draws, owner.max() + 1)).argsort(axis=1)[:, owner]) + order
    return np.asarray(order.argsort(axis=1).argsort(axis=1))


def _figures(
    values: NDArray[np.float64], selected: NDArray[np.bool_], owner: NDArray[np.intp] | None, alpha: float
) -> NDArray[np.float64]:
    """The figures of each subset: figures × subsets."""
    first, second = np.triu_indices(len(values), 1)
    one, other = values[first], values[second]
    mask, n = selected.astype(np.float64), selected.sum(axis=1)[:, None]
    score = mask @ values.T / n
    p, q = score[:, first], score[:, second]
    chance, most = (p * q + (1 - p) * (1 - q)).mean(axis=1), (1 - np.abs(p - q)).mean(axis=1)
    if owner is None and not ((values > _SAME) & (values < 1 - _SAME)).any():
        # Counts of passes and failures are whole numbers, so one product gives all of them exactly.
        passed, both = mask @ np.rint(values).T, mask @ np.rint(one * other).T
        only_first, only_second = passed[:, first] - both, passed[:, second] - both
        observed = ((n - only_first - only_second) / n).mean(axis=1)
        tests = _mcnemar(only_first.astype(np.intp), only_second.astype(np.intp))
        squares = (only_first - only_second) ** 2 / np.maximum(only_first + only_second, 1)
    else:
        observed = (mask @ (one * other + (1 - one) * (1 - other)).T / n).mean(axis=1)
        squares, freedom = _squares(one - other, selected, owner)
        tests = 2 * stdtr(freedom, -np.sqrt(squares))
    with np.errstate(invalid="ignore", divide="ignore"):
        corrected = np.where(most - chance > _SAME, (observed - chance) / (most - chance), np.nan)
    return np.stack(
        [
            score.mean(axis=1),
            _significant(tests, alpha),
            100 * ((squares - 1) / n).mean(axis=1),
            corrected,
        ]
    )


def _mcnemar(only_first: NDArray[np.intp], only_second: NDArray[np.intp]) -> NDArray[np.float64]:
    """``mcnemar_exact``, computed once for each pair of counts that occurs: there are few among many subsets."""
    width = int(only_second.max(initial=0)) + 1
    codes = only_first * width + only_second
    found = np.flatnonzero(np.bincount(codes.ravel()))
    table = np.zeros(int(codes.max(initial=0)) + 1)
    table[found] = mcnemar_exact(found // width, found % width)
    return np.asarray(table[codes])


def _squares(
    gaps: NDArray[np.float64], selected: NDArray[np.bool_], owner: NDArray[np.intp] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Squared t of each pair's mean difference, with errors by cluster, and degrees of freedom: subsets × pairs."""
    owner = np.arange(gaps.shape[1]) if owner is None else owner
    order = np.argsort(owner, kind="stable")
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    gaps, selected = gaps[:, order], selected[:, order]
    squares = np.empty((len(selected), len(gaps)))
    groups = np.add.reduceat(selected.astype(np.float64), starts, axis=1)
    used = (groups > 0).sum(axis=1)[:, None].astype(np.float64)
    rows = max(1, _CHUNK_CELLS // gaps.shape[1])
    for pair, gap in enumerate(gaps):
        for start in range(0, len(selected), rows):
            block, counts = selected[start : start + rows], groups[start : start + rows]
            sums = np.add.reduceat(block * gap, starts, axis=1)
            mean = sums.sum(axis=1) / counts.sum(axis=1)
            spread = ((sums - counts * mean[:, None]) ** 2).sum(axis=1)
            squares[start : start + rows, pair] = sums.sum(axis=1) ** 2 / np.maximum(spread, _SAME)
    squares *= np.maximum(used - 1, 0) / used
    return squares, np.broadcast_to(np.maximum(used - 1, 1), squares.shape)


def _significant(p: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Share of pairs whose p-value Holm's step-down procedure rejects, row by row, in percent."""
    pairs = p.shape[1]
    rejects = np.sort(p, axis=1) * np.arange(pairs, 0, -1) <= alpha
    return np.asarray(100 * np.logical_and.accumulate(rejects, axis=1).sum(axis=1) / pairs)
