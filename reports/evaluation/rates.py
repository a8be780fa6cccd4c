"""Shares of episodes that passed, per group, with the interval that repeated trials call for."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from agenthard.audit.statistics import Estimate, Result, Undefined, wilson_interval
from agenthard.audit.statistics.intervals import clustered_wilson
from agenthard.audit.statistics.result import undefined
from agenthard.taxonomy.record import Record


class Rate(Record):
    """How many of some episodes passed."""

    passed: int
    """Episodes that passed."""
    scored: int
    """Episodes with a verdict."""
    episodes: int
    """Episodes there are: those with an infrastructure or judge error have no verdict and are not failures."""
    tasks: int
    """Distinct tasks with a verdict."""
    wilson: Result
    """passed / scored with its Wilson interval, as if every episode were independent."""
    clustered: Result
    """The same share with the interval clustered by task; undefined where no task has two verdicts."""

    @property
    def score(self) -> Result:
        """The share with the interval to use: clustered by task where trials repeat, else Wilson's."""
        return self.wilson if isinstance(self.clustered, Undefined) else self.clustered


def rate_of(tasks: Sequence[tuple[int, int]], episodes: int, level: float) -> Rate:
    """Count a group.

    Args:
        tasks: (passed, with a verdict) per task.
        episodes: episodes of the group, with and without a verdict.
        level: coverage of the intervals.

    Returns:
        The rate; undefined without any verdict.

    >>> rate_of([(1, 1), (0, 1), (0, 0)], 3, 0.95).score.value
    0.5
    """
    counted = [(k, n) for k, n in tasks if n]
    passed, scored = sum(k for k, _ in counted), sum(n for _, n in counted)
    wilson = wilson_interval(passed, scored, level, "episodes")
    if isinstance(wilson, Estimate):
        wilson = wilson.model_copy(update={"of": episodes})
    return Rate(
        passed=passed,
        scored=scored,
        episodes=episodes,
        tasks=len(counted),
        wilson=wilson,
        clustered=_clustered(counted, episodes, level),
    )


def rates(frame: pd.DataFrame, by: Sequence[str], level: float) -> dict[tuple[Any, ...], Rate]:
    """Count every group of a table of episodes.

    Args:
        frame: one row per episode, with its ``verdict``.
        by: columns whose values make a group; a row without one of them belongs to none.
        level: coverage of the intervals.

    Returns:
        Values of the columns → rate, in rising order.
    """
    if frame.empty:
        return {}
    counts = frame.groupby([*by, "task_id"], sort=True)["verdict"].agg(["sum", "count", "size"]).reset_index()
    found = {}
    for key, group in counts.groupby(list(by), sort=True):
        pairs = zip(group["sum"].astype(int).tolist(), group["count"].astype(int).tolist(), strict=True)
        found[key] = rate_of(list(pairs), int(group["size"].sum()), level)
    return found


def _clustered(counts: Sequence[tuple[int, int]], episodes: int, level: float) -> Result:
    scored = sum(n for _, n in counts)
    if not any(n > 1 for _, n in counts):
        return undefined("no task has two verdicts, so there is nothing to cluster", scored, "episodes")
    low, high = clustered_wilson(counts, level)
    return Estimate(
        value=sum(k for k, _ in counts) / scored,
        low=low,
        high=high,
        level=level,
        n=scored,
        of=episodes,
        unit="episodes",
        method=f"Wilson interval with the effective number of episodes, clustered by {len(counts):,} tasks",
    )
