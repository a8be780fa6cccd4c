"""How much a reduction of a benchmark keeps: of its tasks, of each category, and of its easy tasks (SMART)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record

SAFEGUARD = 0.10
"""Least share of every category that a split must keep (audit paper)."""
EASY_PROBABILITY = 0.8
KEPT_SHARE = 0.10


class StageCompression(Record):
    """Size of a stage against the original and against the stage before."""

    stage: str
    """Name of the stage."""
    n: int
    """Tasks left."""
    from_original: Result
    """1 − n / tasks of the first stage."""
    from_previous: Result
    """1 − n / tasks of the stage before; undefined for the first stage."""


def compression(kept: int, original: int) -> Result:
    """Share of tasks removed: ``1 − n_kept / n``.

    Args:
        kept: tasks left.
        original: tasks before.

    Returns:
        The share, 0..1. Undefined when there were no tasks.

    Raises:
        ValueError: when more tasks are left than there were, or a number is negative.

    >>> compression(121, 165).value
    0.2666666666666667
    """
    if not 0 <= kept <= original:
        raise ValueError(f"a stage can keep 0 to {original} tasks, got {kept}")
    if not original:
        return undefined("there were no tasks", 0, "tasks")
    return Estimate(value=1 - kept / original, n=original, of=original, unit="tasks", method="1 − kept / original")


def stage_compressions(sizes: Mapping[str, int]) -> tuple[StageCompression, ...]:
    """Compare every stage with the original and with the stage before.

    Args:
        sizes: stage → tasks left, in order; the first stage is the original.

    Returns:
        One record per stage.

    Raises:
        ValueError: when a stage has more tasks than the one before.
    """
    names, counts = list(sizes), list(sizes.values())
    return tuple(
        StageCompression(
            stage=name,
            n=counts[i],
            from_original=compression(counts[i], counts[0]),
            from_previous=compression(counts[i], counts[i - 1]) if i else undefined("no stage comes before the first"),
        )
        for i, name in enumerate(names)
    )


def pooled_compression(benchmarks: Mapping[str, tuple[int, int]]) -> Result:
    """Compression of all benchmarks put together: ``1 − Σ kept / Σ n``. Large benchmarks weigh more.

    Args:
        benchmarks: benchmark → (tasks left, tasks before).

    Returns:
        The share, 0..1. Undefined when there were no tasks.
    """
    kept, original = (sum(pair[i] for pair in benchmarks.values()) for i in (0, 1))
    result = compression(kept, original)
    if isinstance(result, Undefined):
        return result
    return result.model_copy(update={"method": f"pooled over {len(benchmarks)} benchmarks: 1 − Σ kept / Σ original"})


def macro_compression(benchmarks: Mapping[str, tuple[int, int]]) -> Result:
    """Mean of the benchmarks' compressions; every benchmark weighs the same.

    Args:
        benchmarks: benchmark → (tasks left, tasks before).

    Returns:
        The share, 0..1; benchmarks without tasks are left out ("n of N"). Undefined when none has tasks.
    """
    parts = [compression(kept, original) for kept, original in benchmarks.values()]
    values = [part.value for part in parts if isinstance(part, Estimate)]
    if not values:
        return undefined("no benchmark has tasks", 0, "benchmarks")
    return Estimate(
        value=sum(values) / len(values), n=len(values), of=len(parts), unit="benchmarks", method="macro average"
    )


class CategoryRetention(Record):
    """What is left of one category."""

    category: str
    """Category or subtask."""
    n: int
    """Tasks before."""
    kept: int
    """Tasks left."""
    share: float
    """kept / n; a count, not a sample, so it has no interval."""
    below_safeguard: bool
    """Whether less than the safeguard is left."""


def retention(
    categories: Mapping[str, str], kept: Collection[str], safeguard: float = SAFEGUARD
) -> tuple[CategoryRetention, ...]:
    """Share of tasks kept in each category.

    Args:
        categories: task id → category, for all tasks before cleaning.
        kept: ids of the tasks that are left.
        safeguard: least share that should be left of each category.

    Returns:
        One record per category, in alphabetical order.

    Raises:
        ValueError: when a kept task has no category, or an id occurs twice among the kept.
    """
    unknown = sorted(set(kept) - set(categories))
    if unknown:
        raise ValueError(f"{len(unknown)} kept task(s) have no category, the first is {unknown[0]!r}")
    if len(set(kept)) < len(kept):
        raise ValueError("a task id occurs twice among the kept tasks")
    before, after = Counter(categories.values()), Counter(categories[task] for task in kept)
    return tuple(
        CategoryRetention(
            category=name,
            n=n,
            kept=after[name],
            share=after[name] / n,
            below_safeguard=after[name] / n < safeguard - 1e-12,
        )
        for name, n in sorted(before.items())
    )


def category_coverage(categories: Mapping[str, str], kept: Collection[str]) -> Result:
    """Share of the original categories that still have a task.

    Args:
        categories: task id → category, for all tasks before cleaning.
        kept: ids of the tasks that are left.

    Returns:
        The share, 0..1. Undefined without categories.

    Raises:
        ValueError: when a kept task has no category.
    """
    rows = retention(categories, kept)
    if not rows:
        return undefined("the number of categories is 0", 0, "categories")
    alive = sum(row.kept > 0 for row in rows)
    return Estimate(
        value=alive / len(rows), n=len(rows), of=len(rows), unit="categories", method="categories with a task left"
    )


def easy_tasks(
    tasks: Sequence[str], right: ArrayLike, probability: ArrayLike, threshold: float = EASY_PROBABILITY
) -> tuple[str, ...]:
    """Tasks that every filter model gets right with a probability above the threshold on the right option (SMART).

    Args:
        tasks: task ids.
        right: models × tasks, whether the model chose the right option.
        probability: models × tasks, probability that the model gave the right option.
        threshold: probability that an easy task exceeds for every model.

    Returns:
        Ids of the easy tasks, in the given order; none without a filter model.

    Raises:
        ValueError: when the shapes differ, or a probability lies outside 0..1 or is NaN.
    """
    correct, sure = np.asarray(right, dtype=bool), np.asarray(probability, dtype=np.float64)
    if correct.shape != sure.shape or correct.ndim != 2 or correct.shape[1] != len(tasks):
        raise ValueError(f"expected models × {len(tasks)} tasks twice, got {correct.shape} and {sure.shape}")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise ValueError("a probability lies in 0..1 and is not NaN")
    if not len(correct):
        return ()
    easy = np.flatnonzero((correct & (sure > threshold)).all(axis=0))
    return tuple(tasks[int(i)] for i in easy)


def keep_some(easy: Sequence[str], rng: np.random.Generator, share: float = KEPT_SHARE) -> tuple[str, ...]:
    """Choose the easy tasks that stay, at random.

    Args:
        easy: ids of the easy tasks.
        rng: source of randomness.
        share: share of them to keep, rounded to the nearest whole task.

    Returns:
        Ids that stay, in the given order.

    Raises:
        ValueError: when the share lies outside 0..1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies in 0..1, got {share}")
    chosen = rng.permutation(len(easy))[: round(share * len(easy))]
    return tuple(easy[i] for i in sorted(chosen))
