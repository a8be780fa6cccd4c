"""The hard split: issue-cleaned tasks without those that nearly all models solve.

Tasks that every selection model fails go to review, because a wrong key looks like a hard task. Tasks that more than
``threshold`` of the selection models solve are left out, but at least ``min_category_share`` of each category is kept,
the hardest first. A split selected on the outcomes that it reports would bias the scores, so a model's score on the
hard split is computed on the split that the *other* models select (:func:`cross_fitted`).
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from agenthard.taxonomy.record import Record

Outcomes = Mapping[str, Mapping[str, float]]
"""Share of a model's scored trials that passed, by task id and model. A missing entry was not scored."""

DifficultyVerdict = Literal["hard", "kept_for_category", "easy", "all_fail", "unknown"]


class DifficultyRule(Record):
    """Parameters of the selection."""

    threshold: float = Field(default=14 / 16, ge=0, le=1)
    """A task solved by more than this share of the selection models is easy ("nearly all")."""
    min_category_share: float = Field(default=0.10, ge=0, le=1)
    """Share of each category's issue-cleaned tasks that stays at least."""
    min_models: int = Field(default=5, ge=1)
    """A task with outcomes of fewer selection models is unknown: not in the split, and listed."""


class HardTask(Record):
    """One issue-cleaned task and whether it is in the hard split."""

    task_id: str
    """Task."""
    verdict: DifficultyVerdict
    """hard and kept_for_category are in the split; easy, all_fail (to review) and unknown are not."""
    solved: float | None
    """Share of selection models that solve it, mean over models; None when unknown."""
    models: int
    """Selection models with an outcome."""

    @property
    def selected(self) -> bool:
        """Tell whether the task is in the split."""
        return self.verdict in ("hard", "kept_for_category")


def select_hard(
    categories: Mapping[str, str], outcomes: Outcomes, models: Sequence[str], rule: DifficultyRule
) -> list[HardTask]:
    """Judge the difficulty of issue-cleaned tasks.

    Args:
        categories: category of each issue-cleaned task, in the benchmark's order.
        outcomes: outcomes of models on tasks.
        models: the selection models.
        rule: parameters.

    Returns:
        One entry per task of ``categories``, in its order.
    """
    chosen = sorted(set(models))
    judged = {task_id: _judge(task_id, outcomes.get(task_id, {}), chosen, rule) for task_id in categories}
    by_category: dict[str, list[str]] = defaultdict(list)
    for task_id, category in categories.items():
        by_category[category].append(task_id)
    for members in by_category.values():
        missing = math.ceil(rule.min_category_share * len(members)) - sum(judged[i].selected for i in members)
        easy = [task_id for task_id in members if judged[task_id].verdict == "easy"]
        easy.sort(key=lambda task_id: judged[task_id].solved or 0.0)
        for task_id in easy[: max(0, missing)]:
            judged[task_id] = judged[task_id].model_copy(update={"verdict": "kept_for_category"})
    return list(judged.values())


def _judge(task_id: str, scores: Mapping[str, float], models: Sequence[str], rule: DifficultyRule) -> HardTask:
    values = [scores[model] for model in models if model in scores]
    if len(values) < rule.min_models:
        return HardTask(task_id=task_id, verdict="unknown", solved=None, models=len(values))
    solved = math.fsum(values) / len(values)
    verdict: DifficultyVerdict = "all_fail" if solved == 0 else "easy" if solved > rule.threshold else "hard"
    return HardTask(task_id=task_id, verdict=verdict, solved=solved, models=len(values))


def cross_fitted(
    categories: Mapping[str, str], outcomes: Outcomes, models: Sequence[str], rule: DifficultyRule
) -> dict[str, tuple[str, ...]]:
    """Select the hard tasks for each model without looking at that model.

    Returns:
        By model, the tasks on which its score is to be reported.
    """
    return {
        model: tuple(
            task.task_id
            for task in select_hard(categories, outcomes, [other for other in models if other != model], rule)
            if task.selected
        )
        for model in models
    }
