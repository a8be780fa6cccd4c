"""How far each model's score could move if tasks without a decision counted either way."""

from collections.abc import Collection

import numpy as np

from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.result import Undefined, undefined
from agenthard.taxonomy.record import Record


class ScoreBounds(Record):
    """One model's score with the undecided tasks in, out, and chosen for or against it."""

    model: str
    """Model."""
    kept: float
    """Score when all undecided tasks stay."""
    dropped: float
    """Score when all undecided tasks go."""
    least: float
    """Lowest score that any choice of undecided tasks to drop gives."""
    most: float
    """Highest score that any choice gives."""


def score_bounds(matrix: ScoreMatrix, undecided: Collection[str]) -> tuple[ScoreBounds, ...] | Undefined:
    """Bound every model's score over all ways to keep or drop the undecided tasks.

    A task whose judge timed out or gave no verdict may be flawed or sound. The lowest mean is reached by adding, in
    rising order, the undecided tasks on which the model is worst while they lower it; the highest the other way round.
    Missing cells: complete tasks only.

    Args:
        matrix: the scores on the tasks that are kept or undecided.
        undecided: ids of the tasks without a decision.

    Returns:
        One record per model, in the order of the matrix. Undefined when no decided task has a score for every model.

    Raises:
        MatrixError: when an undecided task is not in the matrix.
    """
    decided, open_tasks = matrix.drop(undecided).complete_tasks(), matrix.keep(undecided).complete_tasks()
    if not decided.tasks:
        return undefined("no decided task has a score for every model", 0, "tasks")
    rows = []
    for model, sure, maybe in zip(matrix.models, decided.values, open_tasks.values, strict=True):
        rising = np.cumsum(np.concatenate([[sure.sum()], np.sort(maybe)]))
        falling = np.cumsum(np.concatenate([[sure.sum()], np.sort(maybe)[::-1]]))
        sizes = np.arange(len(sure), len(sure) + len(maybe) + 1)
        rows.append(
            ScoreBounds(
                model=model,
                kept=float(rising[-1] / sizes[-1]),
                dropped=float(sure.mean()),
                least=float((rising / sizes).min()),
                most=float((falling / sizes).max()),
            )
        )
    return tuple(rows)
