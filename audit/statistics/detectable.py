"""The smallest difference between two models that a benchmark of this size would detect."""

from math import sqrt

import numpy as np

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.result import Estimate, Result, undefined

Z_95_80 = 2.8
"""1.96 + 0.84: normal quantiles for a two-sided test at 5 % and a power of 80 %, rounded as in the published tables."""


def detectable_difference(n: int, agreement: float) -> Result:
    """Minimum detectable difference of two scores on the same n tasks, 95 % confidence and 80 % power.

    ``2.8 · sqrt((1 − A)/n)``: the difference of two models on a task has a variance of about 1 − A, the share of tasks
    on which they differ.

    Args:
        n: number of tasks.
        agreement: mean model agreement A, 0..1.

    Returns:
        The difference in score units (0.13 = 13 points). Undefined for fewer than two tasks, and for an agreement of 1,
        which says that no two models ever differ.

    Raises:
        ValueError: when the agreement lies outside 0..1.

    >>> round(100 * detectable_difference(165, 0.66).value)
    13
    """
    if not 0 <= agreement <= 1:
        raise ValueError(f"an agreement lies in 0..1, got {agreement}")
    return _detectable(n, n, 1 - agreement)


def minimum_detectable_difference(matrix: ScoreMatrix) -> Result:
    """Minimum detectable difference of a matrix: ``detectable_difference`` with its own size and disagreement.

    The disagreement is the mean over pairs of models of the mean squared difference per task, which is 1 − A for pass
    and fail and stays the right variance for several runs per cell. Missing cells: complete tasks only.

    Args:
        matrix: the scores.

    Returns:
        The difference in score units. Undefined for fewer than two models or complete tasks, when every run passes or
        fails, and when no two models differ.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    x = complete.values
    squares = (x**2).mean(axis=1)
    first, second = np.triu_indices(len(x), 1)
    gaps = squares[first] + squares[second] - 2 * (x @ x.T / x.shape[1])[first, second]
    return _detectable(len(complete.tasks), len(matrix.tasks), float(gaps.mean()))


def _detectable(n: int, of: int, disagreement: float) -> Result:
    if n < 2:
        return undefined(f"{n} task(s) were given; a comparison needs two", n, "tasks")
    if disagreement < 1e-12:
        return undefined("the models agree on all tasks, so nothing says how much they vary", n, "tasks")
    return Estimate(
        value=Z_95_80 * sqrt(disagreement / n),
        level=0.95,
        n=n,
        of=of,
        unit="tasks",
        method="paired, 95 % confidence and 80 % power: 2.8 · sqrt((1 − A)/n); complete tasks only",
    )
