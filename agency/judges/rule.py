"""The rule judge: each criterion is decided by a check of ours, and the weighted shares make a score from 0 to 10."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from agenthard.agency.judges.grades import CriterionGrade, Grade
from agenthard.agency.judges.probe import Probe, ProbeError
from agenthard.agency.scenario import ScenarioTask
from agenthard.agency.workspace.evalspace import EvalSpace
from agenthard.containment import JobLimits

TOP_SCORE = 10.0


class Outcome(NamedTuple):
    """What a check found."""

    share: float
    """Share of the criterion that is met, from 0 to 1."""
    reason: str = ""
    """Why it is not all; empty when it is."""


Check = Callable[[Probe], Outcome]


def grade(
    task: ScenarioTask,
    checks: Mapping[str, Check],
    space: EvalSpace,
    limits: JobLimits | None = None,
    *,
    weak_isolation: bool = False,
) -> Grade:
    """Grade a snapshot by the rules of its task.

    Args:
        task: the task; each of its criteria names a check.
        checks: the checks by name.
        space: copy of the snapshot, and gold.
        limits: what each program of the workspace may use.
        weak_isolation: run programs although this machine lacks a layer of isolation.

    Raises:
        ValueError: a criterion names no check that is known, or the task has no criterion.
        JobError: this machine cannot contain the programs of the workspace.
    """
    unknown = [each.id for each in task.criteria if each.check not in checks]
    if unknown or not task.criteria:
        raise ValueError(f"task {task.id} cannot be graded by rules: no check decides {', '.join(unknown) or 'it'}")
    graded = []
    for criterion in task.criteria:
        probe = Probe(space, limits, weak_isolation=weak_isolation)
        try:
            found = checks[str(criterion.check)](probe)
        except ProbeError as error:
            found = Outcome(0.0, str(error))
        share = min(max(found.share, 0.0), 1.0) if math.isfinite(found.share) else 0.0
        graded.append(CriterionGrade(criterion=criterion.id, share=share, reason=found.reason if share < 1 else ""))
    total = sum(each.weight for each in task.criteria)
    share = sum(each.weight * got.share for each, got in zip(task.criteria, graded, strict=True)) / total
    score = round(TOP_SCORE * share, 9)
    return Grade(
        task_id=task.id,
        snapshot=space.snapshot,
        score=score,
        passed=score >= TOP_SCORE * task.threshold,
        criteria=tuple(graded),
    )


def metric_share(value: float, *, worst: float, best: float, logarithmic: bool = False) -> float:
    """Map a measured number to a share: 0 at ``worst`` or beyond, 1 at ``best`` or beyond, straight between them.

    Args:
        value: the number; one that is not finite earns nothing.
        worst: where the share begins.
        best: where it is full; below ``worst`` when lower is better.
        logarithmic: whether equal ratios, and not equal differences, earn equal shares; all numbers are positive then.

    >>> metric_share(0.75, worst=0.5, best=1.0)
    0.5
    >>> round(metric_share(1e-4, worst=1e-2, best=1e-6, logarithmic=True), 9)
    0.5
    """
    if worst == best:
        raise ValueError("worst and best are the same number: write an assertion instead of a metric")
    if not math.isfinite(value) or (logarithmic and value <= 0):
        return 0.0
    if logarithmic:
        value, worst, best = math.log(value), math.log(worst), math.log(best)
    return min(max((value - worst) / (best - worst), 0.0), 1.0)
