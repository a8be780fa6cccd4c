"""How much of each category a cleaned split keeps."""

from collections import Counter
from collections.abc import Collection, Mapping

from agenthard.audit.statistics.result import Estimate, Result, undefined
from agenthard.taxonomy.record import Record

SAFEGUARD = 0.10
"""Least share of every category that a split must keep (audit paper)."""


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
        The share, 0..1. Undefined when there are no categories.

    Raises:
        ValueError: when a kept task has no category.
    """
    rows = retention(categories, kept)
    if not rows:
        return undefined("there are no categories", 0, "categories")
    alive = sum(row.kept > 0 for row in rows)
    return Estimate(
        value=alive / len(rows), n=len(rows), of=len(rows), unit="categories", method="categories with a task left"
    )
