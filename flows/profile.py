"""Where the time of an audit went: by stage and by check (``agenthard audit --profile``)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from agenthard.flows.audited_run import read_costs
from agenthard.taxonomy.record import Record

TOP_CHECKS = 15
"""Checks that the table names."""

_recorded: ContextVar[dict[str, float] | None] = ContextVar("recorded_stages", default=None)


class StageTime(Record):
    """Time of one stage of this command."""

    stage: str
    """What was done."""
    seconds: float
    """Wall seconds."""


class CheckTime(Record):
    """Time of one check over all tasks, summed over processes; what checks share is paid by the first of them."""

    check: str
    """Id of the check."""
    seconds: float
    """Wall seconds."""
    executed: float
    """Part of them that it waited for processes of benchmark code."""
    share: float
    """Share of the time of all checks."""
    milliseconds_per_task: float
    """Mean over all tasks."""


class Profile(Record):
    """Where the time of an audit went."""

    tasks: int
    """Tasks that were checked."""
    stages: tuple[StageTime, ...]
    """Stages in their order."""
    checks: tuple[CheckTime, ...]
    """Checks, the longest first; of a continued audit also what they took before it was interrupted."""


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Count the wall time of the block for a stage, where stages are recorded."""
    began = time.perf_counter()
    try:
        yield
    finally:
        stages = _recorded.get()
        if stages is not None:
            stages[stage] = stages.get(stage, 0.0) + time.perf_counter() - began


@contextmanager
def recorded_stages() -> Iterator[dict[str, float]]:
    """Record the wall seconds of each stage that ends inside the block, in the order in which they end."""
    stages: dict[str, float] = {}
    token = _recorded.set(stages)
    try:
        yield stages
    finally:
        _recorded.reset(token)


def read_profile(run: Path, stages: dict[str, float]) -> Profile:
    """Put the time of the stages together with the time of the checks that the run folder holds.

    Args:
        run: folder of the finished audit.
        stages: wall seconds by stage.

    Raises:
        CommandError: when the folder has no such figures.
    """
    costs = read_costs(run)
    total = sum(cost.seconds for cost in costs.values())
    checks = [
        CheckTime(
            check=check,
            seconds=cost.seconds,
            executed=cost.executed,
            share=round(cost.seconds / total, 4) if total else 0.0,
            milliseconds_per_task=round(cost.milliseconds_per_task, 3),
        )
        for check, cost in costs.items()
    ]
    return Profile(
        tasks=max((cost.tasks for cost in costs.values()), default=0),
        stages=tuple(StageTime(stage=stage, seconds=round(seconds, 3)) for stage, seconds in stages.items()),
        checks=tuple(sorted(checks, key=lambda row: (-row.seconds, row.check))),
    )


def stage_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return the rows of the table of stages: name, seconds, share; the sum comes last."""
    total = sum(row.seconds for row in profile.stages)
    rows = [*profile.stages, StageTime(stage="all", seconds=total)]
    return [(row.stage, f"{row.seconds:.2f}", f"{row.seconds / total:.1%}" if total else "") for row in rows]


def check_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return the rows of the table of checks: id, seconds, those of executed code, share, ms per task; the sum last."""
    shown, others = profile.checks[:TOP_CHECKS], profile.checks[TOP_CHECKS:]
    groups = [(row.check, [row]) for row in shown]
    groups += [(f"{len(others)} others", list(others))] if others else []
    groups += [("all", list(profile.checks))]
    total = sum(row.seconds for row in profile.checks)
    return [
        (
            name,
            f"{sum(row.seconds for row in rows):.2f}",
            f"{sum(row.executed for row in rows):.2f}",
            f"{sum(row.seconds for row in rows) / total:.1%}" if total else "",
            f"{sum(row.milliseconds_per_task for row in rows):.2f}",
        )
        for name, rows in groups
    ]
