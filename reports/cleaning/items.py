"""How hard every task is, and how sharply it tells models apart."""

from collections.abc import Collection, Mapping, Sequence
from math import sqrt

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics import Estimate, Result, ScoreMatrix, Undefined, item_parameters
from agenthard.audit.statistics.matrix import why_unusable
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.figures import ItemMap, ItemPoint

MOST_CELLS = 40_000
"""A 2PL is fitted up to this many scores; beyond, the fit takes longer than the rest of the report together."""


def item_map(
    matrix: ScoreMatrix, categories: Mapping[str, str], decisions: Sequence[Decision], flagged: Collection[str]
) -> ItemMap | Undefined:
    """Place every task by difficulty and discrimination.

    A 2PL where it can be fitted: single runs, at most ``MOST_CELLS`` scores. Otherwise the classical figures: the share
    of models that fail the task, and its correlation with the score on the other tasks (item-rest).

    Args:
        matrix: scores of the comparable models on all tasks.
        categories: category by task id.
        decisions: what happens to each task.
        flagged: tasks that a confirmed or suspected finding touches.

    Returns:
        The map; undefined for fewer than two models or tasks that differ between models.
    """
    action = {decision.task_id: decision.action for decision in decisions}
    numbers: Mapping[str, tuple[Result, Result]] | Undefined
    if matrix.binary and matrix.passed.size <= MOST_CELLS:
        fit = item_parameters(matrix)
        if isinstance(fit, Undefined):
            return fit
        method = fit.method
        numbers = {i.task: (i.difficulty, i.discrimination) for i in fit.items if i.discrimination is not None}
    else:
        why = "repeated runs" if not matrix.binary else f"more than {MOST_CELLS:,} scores, on which a 2PL takes long"
        method = f"item-rest: share of models that fail the task, correlation with the score on the others ({why})"
        numbers = item_rest(matrix)
        if isinstance(numbers, Undefined):
            return numbers
    points = [
        ItemPoint(
            task_id=task,
            category=categories[task],
            difficulty=numbers[task][0],
            discrimination=numbers[task][1],
            flagged=task in flagged,
            decision=action[task],
        )
        for task in matrix.tasks
        if task in numbers
    ]
    return ItemMap(
        method=method, points=tuple(points), left_out=len(matrix.tasks) - len(points), models=len(matrix.models)
    )


def item_rest(matrix: ScoreMatrix) -> Mapping[str, tuple[Result, Result]] | Undefined:
    """Classical difficulty and discrimination of each task that every model has a verdict on.

    Difficulty is the share of models that fail the task; discrimination the Pearson correlation over models of the
    task's values with the mean score on the other tasks.

    Args:
        matrix: the scores.

    Returns:
        Task → (difficulty, discrimination), without tasks on which all models are equal. Undefined for fewer than two
        models or tasks.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    values, n = complete.values, len(complete.models)
    rest = (values.sum(axis=1, keepdims=True) - values) / (values.shape[1] - 1)
    x, y = values - values.mean(axis=0), rest - rest.mean(axis=0)
    found: dict[str, tuple[Result, Result]] = {}
    for i, task in enumerate(complete.tasks):
        scale = sqrt(float((x[:, i] ** 2).sum() * (y[:, i] ** 2).sum()))
        if scale < 1e-12:
            continue
        difficulty = Estimate(
            value=float(1 - values[:, i].mean()), n=n, of=n, unit="models", method="share of models that fail it"
        )
        correlation = Estimate(
            value=float((x[:, i] * y[:, i]).sum() / scale), n=n, of=n, unit="models", method="item-rest correlation"
        )
        found[task] = difficulty, correlation
    return found
