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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from agenthard.audit.statistics.result import Undefined
from agenthard.taxonomy.record import Record

if TYPE_CHECKING:
    from agenthard.audit.statistics.information import TaskFit

Outcomes = Mapping[str, Mapping[str, float]]
"""Share of a model's scored trials that passed, by task id and model. A missing entry was not scored."""

DifficultyVerdict = Literal["hard", "kept_for_category", "easy", "less_informative", "all_fail", "unknown"]
SELECTED = ("hard", "kept_for_category")
"""Verdicts on tasks that are in the split."""
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
        return self.verdict in SELECTED


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
    table = OutcomeTable.of(categories, outcomes, sorted(set(models)))
    found = table.judge(np.arange(len(table.values)), rule)
    return [
        HardTask(
            task_id=task_id,
            verdict=found.verdicts[i],
            solved=None if found.verdicts[i] == "unknown" else float(found.solved[i]),
            models=int(found.counts[i]),
            information=None if found.information is None else found.information.get(i),
        )
        for i, task_id in enumerate(categories)
    ]


def cross_fitted(
    categories: Mapping[str, str], outcomes: Outcomes, models: Sequence[str], rule: DifficultyRule
) -> dict[str, tuple[str, ...]]:
    """Select the hard tasks for each model without looking at that model.

    Returns:
        By model, the tasks on which its score is to be reported.
    """
    names, ids = sorted(set(models)), list(categories)
    table = OutcomeTable.of(categories, outcomes, names)
    rows = np.arange(len(names))
    selected = {name: table.judge(np.delete(rows, i), rule).selected for i, name in enumerate(names)}
    return {model: tuple(ids[i] for i in np.flatnonzero(selected[model])) for model in models}


@dataclass(frozen=True)
class Judged:
    """What a rule makes of each task.

    Attributes:
        verdicts: verdict on each task.
        solved: share of models that solve it.
        counts: models with an outcome.
        information: by position, mean information over the range of abilities; None when selected by share.
    """

    verdicts: list[DifficultyVerdict]
    solved: NDArray[np.float64]
    counts: NDArray[np.intp]
    information: Mapping[int, float] | None

    @property
    def selected(self) -> NDArray[np.bool_]:
        """Whether each task is in the split."""
        return np.array([verdict in SELECTED for verdict in self.verdicts], dtype=np.bool_)


@dataclass(frozen=True)
class OutcomeTable:
    """Outcomes of models on issue-cleaned tasks, from which some of the models can select.

    Attributes:
        members: positions of the tasks of each category.
        values: models × tasks, share of runs that passed, 0 where there is none.
        scored: models × tasks, whether there is an outcome.
    """

    members: tuple[tuple[int, ...], ...]
    values: NDArray[np.float64]
    scored: NDArray[np.bool_]

    @classmethod
    def of(cls, categories: Mapping[str, str], outcomes: Outcomes, models: Sequence[str]) -> "OutcomeTable":
        """Lay outcomes out as a table; see ``select_hard`` for the arguments."""
        cells = [[outcomes.get(task_id, {}).get(model) for task_id in categories] for model in models]
        shape = (len(models), len(categories))
        values = np.array([[value or 0.0 for value in row] for row in cells]).reshape(shape)
        scored = np.array([[value is not None for value in row] for row in cells], dtype=np.bool_).reshape(shape)
        return cls.from_values(list(categories.values()), values, scored)

    @classmethod
    def from_values(
        cls, categories: Sequence[str], values: NDArray[np.float64], scored: NDArray[np.bool_]
    ) -> "OutcomeTable":
        """Make a table of arrays, models × tasks, and the category of each task."""
        members: dict[str, list[int]] = defaultdict(list)
        for position, category in enumerate(categories):
            members[category].append(position)
        return cls(tuple(map(tuple, members.values())), values, scored)

    def judge(self, models: NDArray[np.intp], rule: DifficultyRule) -> Judged:
        """Let some of the models, given by their rows, judge every task."""
        values, scored = self.values[models], self.scored[models]
        counts = np.asarray(scored.sum(axis=0), dtype=np.intp)
        sums = values.sum(axis=0) if self._binary else np.array([math.fsum(column) for column in values.T.tolist()])
        solved = sums / np.maximum(counts, 1)
        verdicts = _first_verdicts(counts, solved, rule)
        information = None
        if rule.by == "information":
            information = self._information(models, verdicts, rule)
            _keep_most_informative(verdicts, information, rule)
        self._keep_categories(verdicts, solved, information or {}, rule)
        return Judged(verdicts, solved, counts, information)

    @cached_property
    def _binary(self) -> bool:
        return bool(((self.values == 0) | (self.values == 1)).all())

    @cached_property
    def _fits(self) -> dict[tuple[bytes, tuple[int, ...]], "TaskFit | Undefined"]:
        """Fits by models and tasks: rules that differ in how much they keep share one."""
        return {}

    def _information(
        self, models: NDArray[np.intp], verdicts: Sequence[DifficultyVerdict], rule: DifficultyRule
    ) -> dict[int, float]:
        """Mean information of each task that may be selected; 0 without differences between models."""
        positions = tuple(i for i, verdict in enumerate(verdicts) if verdict in ("hard", "easy"))
        if not positions:
            return {}
        from agenthard.audit.statistics.information import fit_tasks

        key = (models.tobytes(), positions)
        if key not in self._fits:
            cells = np.ix_(models, np.array(positions))
            self._fits[key] = fit_tasks(self.values[cells], self.scored[cells].astype(np.float64))
        fit = self._fits[key]
        if isinstance(fit, Undefined):
            return dict.fromkeys(positions, 0.0)
        return dict(zip(positions, fit.within(*rule.abilities).tolist(), strict=True))

    def _keep_categories(
        self,
        verdicts: list[DifficultyVerdict],
        solved: NDArray[np.float64],
        information: Mapping[int, float],
        rule: DifficultyRule,
    ) -> None:
        """Keep tasks that the rule leaves out where a category would fall below its least share, the best first."""
        for members in self.members:
            kept = sum(verdicts[i] in SELECTED for i in members)
            missing = math.ceil(rule.min_category_share * len(members)) - kept
            others = [i for i in members if verdicts[i] in ("easy", "less_informative")]
            others.sort(key=lambda i: (-information.get(i, 0.0), float(solved[i])))
            for i in others[: max(0, missing)]:
                verdicts[i] = "kept_for_category"


def _first_verdicts(
    counts: NDArray[np.intp], solved: NDArray[np.float64], rule: DifficultyRule
) -> list[DifficultyVerdict]:
    found: list[DifficultyVerdict] = np.select(
        [counts < rule.min_models, solved == 0, solved > rule.threshold], ["unknown", "all_fail", "easy"], "hard"
    ).tolist()
    return found


def _keep_most_informative(
    verdicts: list[DifficultyVerdict], information: Mapping[int, float], rule: DifficultyRule
) -> None:
    """Replace hard and easy: as many tasks as are hard, or the share that the rule names, tell most."""
    size = verdicts.count("hard") if rule.keep is None else math.ceil(rule.keep * len(verdicts))
    best = {i for i in sorted(information, key=lambda i: -information[i])[:size] if information[i] > 0}
    for i in information:
        verdicts[i] = "hard" if i in best else "less_informative"
