"""Difficulty of tasks: the hard split, and the map of difficulty and discrimination."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agenthard.audit.decisions.difficulty import DifficultyRule, HardTask, cross_fitted, select_hard
from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics import (
    InvertedKeys,
    Result,
    ScoreMatrix,
    Undefined,
    inverted_keys,
    item_parameters,
    item_rest,
)
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.figure_data import ItemMap, ItemPoint
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.record import Record


class HardSelection(Record):
    """The hard split and how it came about."""

    rule: DifficultyRule
    """Threshold, least share of each category, least number of models."""
    selection_models: tuple[str, ...]
    """Models whose outcomes select the published split."""
    tasks: tuple[HardTask, ...]
    """Verdict on every issue-cleaned task, in the benchmark's order."""
    selected: tuple[str, ...]
    """Tasks of the published hard split."""
    hard: int
    """Tasks selected because models fail them."""
    kept_for_category: int
    """Easy tasks that stay so that each category keeps its least share."""
    easy: int
    """Tasks left out because nearly all models solve them; by information, because others tell more."""
    all_fail: int
    """Tasks that every model fails: to review, because a wrong key looks like a hard task."""
    unknown: int
    """Tasks with outcomes of too few models."""
    cross_fitted: dict[str, int]
    """Model → tasks of the split that the other models select, on which its score is taken."""
    sentence: str
    """How the split is selected, how scores on it are taken, and why."""


@dataclass(frozen=True)
class HardSplit:
    """The selection, and for each model the tasks on which its score is taken."""

    record: HardSelection
    """The selection as the report shows it."""
    own_tasks: Mapping[str, tuple[str, ...]]
    """Model → tasks that the other models select."""


def select_hard_split(
    categories: Mapping[str, str], matrix: ScoreMatrix, rule: DifficultyRule
) -> HardSplit | Undefined:
    """Select the hard split from issue-cleaned tasks, and the split of each model without looking at it.

    Args:
        categories: category of each issue-cleaned task, in the benchmark's order.
        matrix: scores of the selection models on at least these tasks; missing cells are not outcomes.
        rule: parameters.

    Returns:
        The split; undefined with too few models, or when no task is hard.
    """
    models = matrix.models
    if len(models) <= rule.min_models:
        return undefined(
            f"{len(models)} model(s) attempted every task; the hard split needs {rule.min_models + 1}, because each "
            f"model's score is taken on the split that at least {rule.min_models} others select",
            len(models),
            "models",
        )
    outcomes = {
        task: {
            model: float(value)
            for model, value, scored in zip(models, matrix.values[:, i], matrix.scored[:, i], strict=True)
            if scored
        }
        for i, task in enumerate(matrix.tasks)
    }
    tasks = tuple(select_hard(categories, outcomes, models, rule))
    own = cross_fitted(categories, outcomes, models, rule)
    selected = tuple(task.task_id for task in tasks if task.selected)
    if not selected or not all(own.values()):
        return undefined("no issue-cleaned task is hard for the selection models", len(categories), "tasks")
    verdicts: Counter[str] = Counter(task.verdict for task in tasks)
    sizes = {model: len(ids) for model, ids in own.items()}
    return HardSplit(
        HardSelection(
            rule=rule,
            selection_models=models,
            tasks=tasks,
            selected=selected,
            hard=verdicts["hard"],
            kept_for_category=verdicts["kept_for_category"],
            easy=verdicts["easy"] + verdicts["less_informative"],
            all_fail=verdicts["all_fail"],
            unknown=verdicts["unknown"],
            cross_fitted=sizes,
            sentence=_sentence(verdicts, len(selected), len(tasks), rule, sizes),
        ),
        own,
    )


def _sentence(verdicts: Counter[str], selected: int, tasks: int, rule: DifficultyRule, sizes: Mapping[str, int]) -> str:
    models = len(sizes)
    by_share = f"that at most {100 * rule.threshold:g} % of {models} selection models solve"
    low, high = (f"{100 * end:g}" for end in rule.abilities)
    by_information = (
        f"that tell most about models between the {low} % and {high} % quantile of {models} selection models"
    )
    parts = [
        f"The published hard split keeps {selected:,} of {tasks:,} issue-cleaned tasks: {verdicts['hard']:,} "
        f"{by_share if rule.by == 'share' else by_information}, and {verdicts['kept_for_category']:,} "
        f"{'easier' if rule.by == 'share' else 'other'} ones so that every category keeps "
        f"{100 * rule.min_category_share:g} %",
        f"{verdicts['easy']:,} easy tasks are left out"
        if rule.by == "share"
        else f"{verdicts['less_informative']:,} that tell less are left out",
        f"{verdicts['all_fail']:,} that every model fails go to review, because a wrong key looks like a hard task",
    ]
    if verdicts["unknown"]:
        parts.append(f"{verdicts['unknown']:,} have outcomes of fewer than {rule.min_models} models")
    least, most = min(sizes.values()), max(sizes.values())
    return (
        f"{'; '.join(parts)}. No score here is taken on it, because its own models selected it: a model is scored on "
        f"the tasks that the other {models - 1} models select ({least:,} to {most:,} tasks), so that no score is "
        f"selected on the outcome it reports. The published split is for models that had no part in selecting it."
    )


_NAMED = 10
"""Tasks named in a sentence."""


def keys_text(keys: InvertedKeys | Undefined) -> str:
    """Write which tasks look as if their key were inverted."""
    if isinstance(keys, Undefined):
        return f"Whether a key is inverted is {keys.reason}."
    likely = keys.likely()
    order = sorted(keys.probabilities, key=lambda task: -keys.probabilities[task])[:_NAMED]
    named = ", ".join(f"{task} ({keys.probabilities[task]:.2f})" for task in order)
    count = plural(len(likely), "task") if likely else "No task"
    return (
        f"{count} with a probability of .5 or more that the answer key is inverted; the most likely are {named}. "
        "Weaker models pass such tasks and stronger ones fail, also where a task rewards something else than the "
        f"others do. With {keys.models} models this {_POWER[keys.models >= _MANY_MODELS]}."
    )


_MANY_MODELS = 40
_POWER = {
    False: "finds few inverted keys (one in six of those planted in 165 tasks of 15 models) and seldom names others",
    True: "finds most inverted keys (nine in ten of those planted in 1,700 tasks of 71 models)",
}
"""What planted keys show (`perf/calibration.py keys`)."""
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
    keys = inverted_keys(matrix)
    inverted = {} if isinstance(keys, Undefined) else keys.probabilities
    points = [
        ItemPoint(
            task_id=task,
            category=categories[task],
            difficulty=numbers[task][0],
            discrimination=numbers[task][1],
            flagged=task in flagged,
            decision=action[task],
            inverted=inverted.get(task),
        )
        for task in matrix.tasks
        if task in numbers
    ]
    return ItemMap(
        method=method,
        points=tuple(points),
        left_out=len(matrix.tasks) - len(points),
        models=len(matrix.models),
        answer_keys=keys,
    )
