"""Attempts that try again with feedback, and the attempt that counts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agenthard.taxonomy.trajectory import Trajectory


class Retry(NamedTuple):
    """An attempt and the one it tries again."""

    before: Trajectory
    """The earlier attempt."""
    run: Trajectory
    """The retry."""
    counts: bool
    """True when no further attempt follows."""


def replaced(runs: Iterable[Trajectory]) -> frozenset[str]:
    """Return the ids of runs that a later run tries again."""
    return frozenset(run.retry_of for run in runs if run.retry_of is not None)


def retries(runs: Sequence[Trajectory]) -> Iterator[Retry]:
    """Yield each retry whose earlier attempt is at hand."""
    known, again = {run.id: run for run in runs}, replaced(runs)
    for run in runs:
        before = known.get(run.retry_of or "")
        if before is not None:
            yield Retry(before, run, run.id not in again)
