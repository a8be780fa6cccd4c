"""The hard split: issue-cleaned tasks without those that nearly all models solve.

Tasks that every selection model fails go to review, because a wrong key looks like a hard task. By share, tasks that
more than ``threshold`` of the selection models solve are left out. By information, the tasks stay that measure the
abilities of a range most precisely. Either way at least ``min_category_share`` of each category is kept. A split
selected on the outcomes that it reports would bias the scores, so a model's score on the hard split is computed on the
split that the *other* models select (:func:`cross_fitted`).
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, field_validator

from agenthard.taxonomy.record import Record

Outcomes = Mapping[str, Mapping[str, float]]
"""Share of a model's scored trials that passed, by task id and model. A missing entry was not scored."""

DifficultyVerdict = Literal["hard", "kept_for_category", "easy", "less_informative", "all_fail", "unknown"]
Selection = Literal["share", "information"]


class DifficultyRule(Record):
    """Parameters of the selection."""

    by: Selection = "share"
    """share: tasks that at most ``threshold`` of the models solve; information: as many tasks, those that measure the
    abilities of ``abilities`` most precisely."""
    threshold: float = Field(default=14 / 16, ge=0, le=1)
    """A task solved by more than this share of the selection models is easy ("nearly all")."""
    abilities: tuple[float, float] = (0.5, 1.0)
    """By information: the range, as quantiles of the selection models' abilities; by default the better half."""
    keep: float | None = Field(default=None, gt=0, le=1)
    """By information: share of the issue-cleaned tasks that stay; None = as many as by share."""
    min_category_share: float = Field(default=0.10, ge=0, le=1)
    """Share of each category's issue-cleaned tasks that stays at least."""
    min_models: int = Field(default=5, ge=1)
    """A task with outcomes of fewer selection models is unknown: not in the split, and listed."""

    @field_validator("abilities")
    @classmethod
    def _rising(cls, value: tuple[float, float]) -> tuple[float, float]:
        if not 0 <= value[0] < value[1] <= 1:
            raise ValueError("a range of abilities is two rising shares of the models, such as 0.5 and 1")
        return value


class HardTask(Record):
    """One issue-cleaned task and whether it is in the hard split."""

    task_id: str
    """Task."""
    verdict: DifficultyVerdict
    """hard and kept_for_category are in the split; easy, less_informative, all_fail (to review) and unknown are not."""
    solved: float | None
    """Share of selection models that solve it, mean over models; None when unknown."""
    models: int
    """Selection models with an outcome."""
    information: float | None = None
    """By information: mean information over the range of abilities; None by share, and where it cannot be measured."""

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
    if rule.by == "information":
        judged = _most_informative(judged, outcomes, chosen, rule)
    for members in by_category.values():
        missing = math.ceil(rule.min_category_share * len(members)) - sum(judged[i].selected for i in members)
        others = [task_id for task_id in members if judged[task_id].verdict in ("easy", "less_informative")]
        others.sort(key=lambda i: (-(judged[i].information or 0.0), judged[i].solved or 0.0))
        for task_id in others[: max(0, missing)]:
            judged[task_id] = judged[task_id].model_copy(update={"verdict": "kept_for_category"})
    return list(judged.values())


def _most_informative(
    judged: Mapping[str, HardTask], outcomes: Outcomes, models: Sequence[str], rule: DifficultyRule
) -> dict[str, HardTask]:
    """Choose again by information; without differences between models there is none, and no task is chosen."""
    import numpy as np

    from agenthard.audit.statistics.information import fit_tasks
    from agenthard.audit.statistics.result import Undefined, undefined

    ids = [task_id for task_id, task in judged.items() if task.verdict in ("hard", "easy")]
    cells = [[outcomes.get(task_id, {}).get(model) for task_id in ids] for model in models]
    runs = np.array([[value is not None for value in row] for row in cells], dtype=np.float64)
    passed = np.array([[value or 0.0 for value in row] for row in cells])
    fit = undefined("no task has outcomes", 0, "tasks") if not ids else fit_tasks(passed, runs)
    amounts = [0.0] * len(ids) if isinstance(fit, Undefined) else fit.within(*rule.abilities).tolist()
    found = dict(zip(ids, amounts, strict=True))
    size = sum(judged[i].verdict == "hard" for i in ids) if rule.keep is None else math.ceil(rule.keep * len(judged))
    best = {task_id for task_id in sorted(ids, key=lambda i: -found[i])[:size] if found[task_id] > 0}
    verdicts = {task_id: "hard" if task_id in best else "less_informative" for task_id in ids}
    return {
        task_id: task.model_copy(update={"verdict": verdicts[task_id], "information": found[task_id]})
        if task_id in found
        else task
        for task_id, task in judged.items()
    }


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
