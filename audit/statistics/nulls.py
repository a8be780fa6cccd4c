"""Null distributions: what a statistic or a ranking would be if as many random tasks had been deleted.

Fewer tasks alone change every figure, so a figure of a cleaned split means nothing without its null.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.monte_carlo import MonteCarloP, Tail, monte_carlo_p
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.audit.statistics.subsets import SubsetDraws, plain_subsets
from agenthard.taxonomy.record import Record

LEAST_DRAWS = 200
_SAME = 1e-12


class NullBand(Record):
    """What random subsets of equal size give, and where the observed value lies among them."""

    mean: float
    """Mean over the draws."""
    low: float | None
    """5 % quantile of the draws; None for an indicator (0 or 1), whose mean is a probability."""
    high: float | None
    """95 % quantile of the draws; None for an indicator."""
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
    tail: Tail = "both"
    """Which values speak against the null."""
    p: MonteCarloP | None = None
    """p-value of ``observed`` with its Monte-Carlo error; None without an observed value."""


class NullDistribution(NullBand):
    """A null with its single draws."""

    values: tuple[float, ...] = Field(repr=False)
    """The statistic per defined draw."""

    def against(self, observed: Result) -> NullBand:
        """Place another observed value among the draws, and leave the draws out."""
        value = observed.value if isinstance(observed, Estimate) else None
        return _band(self.values, self, value)

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
    reason = why_no_null(total, keep, draws)
    if reason:
        return undefined(reason, total, "tasks")
    return null_of(statistic, plain_subsets(total, keep, draws=draws, seed=seed), observed=observed)


def null_of(
    statistic: Callable[[NDArray[np.intp]], Result],
    subsets: SubsetDraws,
    *,
    observed: Result | None = None,
    tail: Tail = "both",
) -> NullDistribution | Undefined:
    """Compute a statistic on given random subsets (see ``random_subset_null``).

    Args:
        statistic: maps sorted positions to a result.
        subsets: the random subsets.
        observed: the same statistic on the subset in question.
        tail: which values speak against the null.

    Returns:
        The distribution; undefined when the statistic is undefined on every draw.
    """
    with one_thread():
        results = [statistic(np.flatnonzero(row)) for row in subsets.selected]
    defined = [result for result in results if isinstance(result, Estimate)]
    if not defined:
        why = next(result.reason for result in results if isinstance(result, Undefined))
        return undefined(
            f"the statistic is so on each of {subsets.draws} random subsets ({why})", subsets.keep, "tasks"
        )
    value = observed.value if isinstance(observed, Estimate) else None
    return summarise_null([result.value for result in defined], subsets, defined[0].method, value, tail=tail)


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
    subsets: SubsetDraws,
    method: str,
    observed: float | None = None,
    *,
    tail: Tail = "both",
    indicator: bool = False,
) -> NullDistribution:
    """Summarise the values of a statistic over random subsets.

    Args:
        values: one per draw on which the statistic is defined, at least one.
        subsets: the random subsets.
        method: what was computed.
        observed: the value that is being judged, if any.
        tail: which values speak against the null.
        indicator: whether the statistic is 0 or 1, and has no band.

    Returns:
        Mean, 5–95 % band, percentile and p-value of the observed value.
    """
    array = np.asarray(values, dtype=np.float64)
    low, high = (None, None) if indicator else np.quantile(array, [0.05, 0.95]).tolist()
    about = NullBand(
        mean=float(array.mean()),
        low=low,
        high=high,
        n=subsets.keep,
        of=subsets.total,
        draws=len(array),
        of_draws=subsets.draws,
        seed=subsets.seed,
        method=f"{method}; {subsets.design}" if subsets.design else method,
        tail=tail,
    )
    return NullDistribution(**_band(array, about, observed).model_dump(), values=tuple(array.tolist()))


def _band(values: Sequence[float] | NDArray[np.float64], about: NullBand, observed: float | None) -> NullBand:
    """Place an observed value; None takes the former one away."""
    found = about.model_dump(exclude={"values", "observed", "percentile", "p"})
    if observed is None:
        return NullBand(**found)
    array = np.asarray(values, dtype=np.float64)
    equal = np.abs(array - observed) <= _SAME
    return NullBand(
        **found,
        observed=observed,
        percentile=float(100 * ((array < observed) & ~equal).mean() + 50 * equal.mean()),
        p=monte_carlo_p(array, observed, about.tail),
    )


def why_no_null(total: int, keep: int, draws: int) -> str | None:
    """Name what leaves nothing to draw, or None.

    Raises:
        ValueError: for fewer than 200 draws.
    """
    if draws < LEAST_DRAWS:
        raise ValueError(f"a null distribution needs at least {LEAST_DRAWS} draws, got {draws}")
    if not 1 <= keep < total:
        return f"a random subset of {keep} of {total} items leaves nothing to chance"
    return None
