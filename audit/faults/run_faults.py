"""Flaws that show in some runs of a task."""

from collections.abc import Sequence
from random import Random
from typing import Any

from agenthard.audit.faults.operator import Fault, Sound
from agenthard.taxonomy.trajectory import Trajectory

_SHARE = 0.6
"""Share of the runs of a task in which a flaw shows."""


def some_runs(runs: Sequence[Trajectory], rng: Random) -> set[str]:
    """Choose the runs in which the flaw shows; returns their ids."""
    return {run.id for run in rng.sample(runs, max(1, round(len(runs) * _SHARE)))}


def run_fault(sound: Sound, runs: Sequence[Trajectory], pointer: str, before: Any, after: Any, says: str) -> Fault:
    """Make a flaw of changed runs; the task stays as it is."""
    return Fault(task=sound.task, pointer=pointer, before=before, after=after, says=says, runs=tuple(runs))
