"""Null distributions: what a statistic or a ranking would be if as many random tasks had been deleted.

Fewer tasks alone change every figure, so a figure of a cleaned split means nothing without its null.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from agenthard.audit.statistics.matrix import ScoreMatrix, require_same_models, why_unusable
from agenthard.audit.statistics.ranking import kendall_tau_b, rank_moves, rank_rows, why_no_ranking
from agenthard.audit.statistics.resampling import one_thread, random_subsets
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record

LEAST_DRAWS = 200
_SAME = 1e-12


class NullBand(Record):
    """What random subsets of equal size give, and where the observed value lies among them."""

    mean: float
    """Mean over the draws."""
    low: float
    """5 % quantile of the draws."""
    high: float
    """95 % quantile of the draws."""
    n: int
    """Items in each random subset."""
    of: int
    """Items drawn from."""
    draws: int
    """Draws on which the statistic is defined."""
    of_draws: int
    """All draws."""
    seed: int
    """Seed of the draws."""
    method: str
    """What was computed on each draw."""
    observed: float | None = None
    """The statistic of the subset in question; None when it is undefined or not given."""
    percentile: float | None = None
    """Where ``observed`` lies: 100 · (draws below + half of the draws equal) / draws."""
    exceeds: bool | None = None
    """Whether ``observed`` lies outside the 5–95 % band; None without an observed value."""


class NullDistribution(NullBand):
    """A null with its single draws."""

    values: tuple[float, ...] = Field(repr=False)
    """The statistic per defined draw."""

    def against(self, observed: Result) -> NullBand:
        """Place another observed value among the draws, and leave the draws out."""
        value = observed.value if isinstance(observed, Estimate) else None
        return _band(self.values, self.of, self.n, self.of_draws, self.seed, self.method, value)

    def band(self) -> NullBand:
        """Leave the draws out."""
        return NullBand(**self.model_dump(exclude={"values"}))


def random_subset_null(
    statistic: Callable[[NDArray[np.intp]], Result],
    *,
    total: int,
    keep: int,
    draws: int = LEAST_DRAWS,
    seed: int = 0,
    observed: Result | None = None,
) -> NullDistribution | Undefined:
    """Compute a statistic on random subsets of ``keep`` of ``total`` items.

    One draw is an anecdote, so at least 200 are needed. Draws on which the statistic is undefined are left out and
    counted ("draws of of_draws").

    Args:
        statistic: maps sorted positions (0-based) to a result, for instance the diversity of ``vectors[positions]``.
        total: number of items.
        keep: items in each subset.
        draws: number of subsets.
        seed: seed of the draws.
        observed: the same statistic on the subset in question.

    Returns:
        The distribution. Undefined when the statistic is undefined on every draw, or ``keep`` is not in 1..total − 1.

    Raises:
        ValueError: for fewer than 200 draws.
    """
    reason = _why_no_null(total, keep, draws)
    if reason:
        return undefined(reason, total, "tasks")
    with one_thread():
        results = [statistic(positions) for positions in random_subsets(total, keep, draws, seed)]
    defined = [result for result in results if isinstance(result, Estimate)]
    if not defined:
        why = next(result.reason for result in results if isinstance(result, Undefined))
        return undefined(f"the statistic is so on each of {draws} random subsets ({why})", keep, "tasks")
    value = observed.value if isinstance(observed, Estimate) else None
    values = [result.value for result in defined]
    return summarise_null(values, total, keep, draws, seed, defined[0].method, value)


def matrix_null(
    matrix: ScoreMatrix,
    statistic: Callable[[ScoreMatrix], Result],
    *,
    keep: int,
    draws: int = LEAST_DRAWS,
    seed: int = 0,
    observed: Result | None = None,
) -> NullDistribution | Undefined:
    """Compute a statistic of a matrix on random subsets of its tasks (see ``random_subset_null``).

    Args:
        matrix: the scores before cleaning.
        statistic: maps a matrix to a result; give it a fixed seed where it resamples.
        keep: tasks in each subset, the size of the cleaned split.
        draws: number of subsets, at least 200.
        seed: seed of the draws.
        observed: the same statistic on the cleaned matrix.

    Returns:
        The distribution, or why there is none.
    """
    return random_subset_null(
        lambda positions: statistic(matrix.take(positions)),
        total=len(matrix.tasks),
        keep=keep,
        draws=draws,
        seed=seed,
        observed=observed,
    )


def summarise_null(
    values: Sequence[float] | NDArray[Any],
    total: int,
    keep: int,
    draws: int,
    seed: int,
    method: str,
    observed: float | None,
) -> NullDistribution:
    """Summarise the values of a statistic over random subsets.

    Args:
        values: one per draw on which the statistic is defined, at least one.
        total: items drawn from.
        keep: items in each subset.
        draws: all draws.
        seed: seed of the draws.
        method: what was computed.
        observed: the value that is being judged, if any.

    Returns:
        Mean, 5–95 % band and percentile of the observed value.
    """
    band = _band(values, total, keep, draws, seed, method, observed)
    return NullDistribution(**band.model_dump(), values=tuple(np.asarray(values, dtype=np.float64).tolist()))


def _band(
    values: Sequence[float] | NDArray[Any],
    total: int,
    keep: int,
    draws: int,
    seed: int,
    method: str,
    observed: float | None,
) -> NullBand:
    array = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(array, [0.05, 0.95])
    percentile = exceeds = None
    if observed is not None:
        equal = np.abs(array - observed) <= _SAME
        percentile = float(100 * ((array < observed) & ~equal).mean() + 50 * equal.mean())
        exceeds = bool(observed < low - _SAME or observed > high + _SAME)
    return NullBand(
        mean=float(array.mean()),
        low=float(low),
        high=float(high),
        n=keep,
        of=total,
        draws=len(array),
        of_draws=draws,
        seed=seed,
        method=method,
        observed=observed,
        percentile=percentile,
        exceeds=exceeds,
    )


def selections(total: int, keep: int, draws: int, seed: int) -> NDArray[np.float64]:
    """Return ``random_subsets`` as draws × total, 1 where an item is drawn, else 0: sums over them are a product."""
    selected = np.zeros((draws, total))
    np.put_along_axis(selected, random_subsets(total, keep, draws, seed), 1.0, axis=1)
    return selected


def _why_no_null(total: int, keep: int, draws: int) -> str | None:
    if draws < LEAST_DRAWS:
        raise ValueError(f"a null distribution needs at least {LEAST_DRAWS} draws, got {draws}")
    if not 1 <= keep < total:
        return f"a random subset of {keep} of {total} items leaves nothing to chance"
    return None


class RankChangeNulls(Record):
    """Rank-change figures of a subset of the tasks, each in the null of keeping as many random tasks."""

    change_rate: NullDistribution
    """Share of models whose rank changes."""
    rank_shift: NullDistribution
    """Mean |rank shift|."""
    kendall_tau_b: NullDistribution | Undefined
    """τ-b between the scores on all tasks and on the subset."""
    top_changed: NullDistribution
    """1 when another model comes first, else 0; the mean is the probability of a new leader."""


def rank_change_nulls(
    matrix: ScoreMatrix, cleaned: ScoreMatrix, *, draws: int = 1000, seed: int = 0
) -> RankChangeNulls | Undefined:
    """Place the rank changes from ``matrix`` to ``cleaned`` among those of random subsets of equal size.

    All draws are ranked at once: subset means are a product of 0/1 selections with the scores. Ranks are ordinal, ties
    keep the initial ranking. Missing cells: tasks of ``matrix`` with a score for every model only, in both.

    Args:
        matrix: the scores before cleaning.
        cleaned: the scores on the tasks that were kept, of the same models.
        draws: random subsets, at least 200.
        seed: seed of the draws.

    Returns:
        The nulls with the observed values and their percentiles. Undefined for fewer than two models or complete tasks,
        when every run passes or fails, when all models have the same initial score, and when cleaning removed nothing
        or everything.

    Raises:
        DifferentModelsError: when the matrices are about different models.
        MatrixError: when ``cleaned`` has tasks that ``matrix`` does not have.
        ValueError: for fewer than 200 draws.
    """
    if draws < LEAST_DRAWS:
        raise ValueError(f"a null distribution needs at least {LEAST_DRAWS} draws, got {draws}")
    require_same_models(matrix.models, cleaned.models)
    complete = matrix.complete_tasks()
    matrix.keep(cleaned.tasks)
    kept = complete.keep(set(cleaned.tasks) & set(complete.tasks))
    total, keep = len(complete.tasks), len(kept.tasks)
    reason = why_unusable(complete) or why_no_ranking(complete.scores().values())
    if not reason and not 1 <= keep < total:
        reason = f"{keep} of {total} complete tasks are kept, so no random deletion compares with it"
    if reason:
        return undefined(reason, total, "tasks")
    before, after = complete.scores(), kept.scores()
    moves = rank_moves(before, after)
    order = [complete.models.index(move.model) for move in moves]
    subset_scores = selections(total, keep, draws, seed) @ complete.values[order].T / keep
    shifts = np.abs(rank_rows(subset_scores) - np.arange(1, len(order) + 1))
    taus = _tau_b(np.array([move.initial for move in moves]), subset_scores)
    taus = taus[np.isfinite(taus)]

    def null(values: NDArray[np.float64], method: str, observed: float | None) -> NullDistribution:
        return summarise_null(values, total, keep, draws, seed, method, observed)

    observed_shifts = np.array([abs(move.shift) for move in moves])
    observed_tau = kendall_tau_b(before, after)
    return RankChangeNulls(
        change_rate=null(
            (shifts != 0).mean(axis=1), "share of models whose rank changes", float((observed_shifts != 0).mean())
        ),
        rank_shift=null(shifts.mean(axis=1), "mean |rank shift|", float(observed_shifts.mean())),
        kendall_tau_b=null(
            taus, "Kendall τ-b of the scores", observed_tau.value if isinstance(observed_tau, Estimate) else None
        )
        if len(taus)
        else undefined(f"all models tie on each of {draws} random subsets", keep, "tasks"),
        top_changed=null((shifts[:, 0] != 0) * 1.0, "another model comes first", float(moves[0].shift != 0)),
    )


def _tau_b(initial: NDArray[np.float64], later: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's τ-b of one version with each row of others; NaN for a row whose models all tie."""
    first, second = np.triu_indices(len(initial), 1)
    before = np.sign(np.round(initial[first] - initial[second], 12))
    after = np.sign(np.round(later[:, first] - later[:, second], 12))
    with np.errstate(invalid="ignore"):
        return np.asarray(after @ before / np.sqrt(np.abs(before).sum() * np.abs(after).sum(axis=1)))
