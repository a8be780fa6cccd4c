"""What a hard split costs and gains, measured on models that had no part in selecting it."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.decisions.difficulty import DifficultyRule, OutcomeTable
from agenthard.audit.statistics import ScoreMatrix, Undefined
from agenthard.audit.statistics.matrix import why_unusable
from agenthard.audit.statistics.rank_nulls import named
from agenthard.audit.statistics.result import undefined
from agenthard.audit.statistics.unseen import FIGURES, Folds, UnseenFigures, model_folds, unseen_figures
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.kit.text import amount, plural, span
from agenthard.taxonomy.record import Record

DRAWS = 500
"""Random orders of the tasks behind each band."""
FEW_FOLDS, MANY_FOLDS, MANY_MODELS = 12, 40, 30
"""Folds in all: many with fewer models than this, because figures of few pairs vary with the partition."""
HALF = 0.5
"""Share of the tasks that the smallest of the compared selections keeps."""
_TITLES: Mapping[str, tuple[str, str]] = {
    "score": ("Mean score", "share"),
    "significant": ("Significant pairs", "%"),
    "signal": ("χ² per 100 tasks", "χ²"),
    "agreement": ("Chance-corrected agreement", "agreement"),
}

Verdict = Literal["above", "within", "below"]


class UnseenFigure(Record):
    """One figure, mean over the folds."""

    id: str
    """score, significant, signal or agreement."""
    title: str
    """Name for people."""
    unit: str
    """What the number is, as in ``Measure.unit``."""
    everything: float
    """On all issue-cleaned tasks."""
    chosen: float
    """On the tasks that the other models select."""
    random: float
    """Mean on random subsets that are as large."""
    low: float
    """Their 5 % quantile."""
    high: float
    """Their 95 % quantile."""

    @property
    def verdict(self) -> Verdict:
        """Where the chosen tasks are against random ones."""
        return "below" if self.chosen < self.low else "above" if self.chosen > self.high else "within"


class UnseenRow(Record):
    """One way to select a hard split, measured on unseen models."""

    rule: DifficultyRule
    """The rule."""
    title: str
    """The rule in words."""
    published: bool
    """Whether the hard split of this report is selected by it."""
    least: int
    """Fewest tasks that a fold selects."""
    most: int
    """Most tasks that a fold selects."""
    mean: float
    """Mean number of tasks."""
    figures: tuple[UnseenFigure, ...]
    """Figures."""
    sentence: str
    """What it costs and what it gains."""

    def figure(self, name: str) -> UnseenFigure:
        """Return a figure by its id."""
        return next(each for each in self.figures if each.id == name)


class UnseenModels(Record):
    """Hard splits judged on models that did not select them."""

    models: int
    """Compared models."""
    tasks: int
    """Issue-cleaned tasks on which every compared model has a verdict."""
    folds: int
    """Folds of one partition; the models of a fold are measured together on one set of tasks."""
    repetitions: int
    """Random partitions."""
    rows: tuple[UnseenRow, ...]
    """The rule of this report first, then others to choose from, unless they select the same tasks."""
    sentence: str
    """How it was measured."""


def judge_on_unseen(
    categories: Mapping[str, str],
    matrix: ScoreMatrix,
    clusters: Mapping[str, str] | None,
    settings: AnalysisSettings,
) -> UnseenModels | Undefined:
    """Select hard splits from some of the models, and measure them on the others.

    Args:
        categories: category of each issue-cleaned task, in the benchmark's order.
        matrix: scores of the compared models on these tasks.
        clusters: cluster by task id; None for independent tasks.
        settings: the rule, level and seed.

    Returns:
        Price and gain of the rule of the settings, and of others; undefined with too few models or verdicts.
    """
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    rule = settings.difficulty
    models = len(complete.models)
    number = MANY_FOLDS if models < MANY_MODELS else FEW_FOLDS
    folds = model_folds(models, rule.min_models, seed=settings.seed, folds=number)
    if folds is None:
        return undefined(
            f"{models} models cannot be parted into some that select (at least {rule.min_models}) and "
            "at least three that are measured",
            models,
            "models",
        )
    table = OutcomeTable.from_values([categories[task] for task in complete.tasks], complete.values, complete.scored)
    names = named(complete.tasks, clusters)
    rows: list[UnseenRow] = []
    for each in _rules(rule):
        found = unseen_figures(
            complete.values,
            folds,
            partial(_select, table, each),
            clusters=names,
            alpha=1 - settings.level,
            draws=DRAWS,
            seed=settings.seed,
        )
        if min(found.sizes) < 2:
            if each == rule:
                return undefined("a fold selects fewer than two tasks", len(complete.tasks), "tasks")
            continue
        row = _row(each, found, len(complete.tasks), published=each == rule)
        if all(row.figures != other.figures for other in rows):  # equal on every fold: the same tasks
            rows.append(row)
    return UnseenModels(
        models=len(complete.models),
        tasks=len(complete.tasks),
        folds=folds.per_repetition,
        repetitions=folds.repetitions,
        rows=tuple(rows),
        sentence=_how(folds, complete),
    )


def _select(table: OutcomeTable, rule: DifficultyRule, models: tuple[int, ...]) -> NDArray[np.bool_]:
    return table.judge(np.array(models), rule).selected


def _rules(rule: DifficultyRule) -> list[DifficultyRule]:
    """List the rule of the report and those it can be weighed against."""
    others = [
        rule.model_copy(update={"by": "share", "keep": None}),
        rule.model_copy(update={"by": "information", "keep": None}),
        rule.model_copy(update={"by": "information", "keep": HALF}),
    ]
    return [rule, *(each for each in others if each != rule)]


def _row(rule: DifficultyRule, found: UnseenFigures, tasks: int, *, published: bool) -> UnseenRow:
    figures = []
    for name in FIGURES:
        random = found.random[name][np.isfinite(found.random[name])]
        if not len(random) or not np.isfinite([found.everything[name], found.chosen[name]]).all():
            continue
        title, unit = _TITLES[name]
        low, high = np.quantile(random, [0.05, 0.95]).tolist()
        figures.append(
            UnseenFigure(
                id=name,
                title=title,
                unit=unit,
                everything=found.everything[name],
                chosen=found.chosen[name],
                random=float(random.mean()),
                low=low,
                high=high,
            )
        )
    row = UnseenRow(
        rule=rule,
        title=describe_rule(rule),
        published=published,
        least=min(found.sizes),
        most=max(found.sizes),
        mean=float(np.mean(found.sizes)),
        figures=tuple(figures),
        sentence="",
    )
    return row.model_copy(update={"sentence": _sentence(row, tasks)})


def describe_rule(rule: DifficultyRule) -> str:
    """Say in a few words what a rule selects.

    >>> describe_rule(DifficultyRule())
    'solved by at most 87.5 % of the models'
    """
    if rule.by == "share":
        return f"solved by at most {100 * rule.threshold:g} % of the models"
    low, high = (f"{100 * end:g}" for end in rule.abilities)
    size = "as many as by share" if rule.keep is None else f"{100 * rule.keep:g} % of the tasks"
    return f"most information about the {low}–{high} % range of models, {size}"


def _sentence(row: UnseenRow, tasks: int) -> str:
    pairs, signal = row.figure("significant"), row.figure("signal")
    way = "falls" if pairs.chosen < pairs.everything else "rises" if pairs.chosen > pairs.everything else "stays"
    gain = {
        "above": "more than chance gives, so each task counts for more",
        "within": "no more than chance gives, so no gain per task is shown",
        "below": "less than chance gives, so each task counts for less",
    }
    return (
        f"{row.title[0].upper()}{row.title[1:]}: on models that did not select it, the share of pairs that differ "
        f"significantly {way} from {amount(pairs.everything, '%')} on all {tasks:,} issue-cleaned tasks to "
        f"{amount(pairs.chosen, '%')} on {row.mean:,.0f} selected ones; as many random tasks give "
        f"{amount(pairs.random, '%')} (5–95 %: {span(pairs.low, pairs.high, '%')}). χ² of a pair per 100 tasks is "
        f"{signal.chosen:.1f} on selected tasks and {signal.random:.1f} on random ones ({signal.low:.1f} to "
        f"{signal.high:.1f}): {gain[signal.verdict]}."
    )


def _how(folds: Folds, matrix: ScoreMatrix) -> str:
    sizes: Sequence[int] = sorted({len(fold) for fold in folds.unseen})
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} or {sizes[-1]}"
    return (
        f"{plural(len(matrix.models), 'model')} are parted at random into {folds.per_repetition} folds, "
        f"{folds.repetitions} times. The models outside a fold select a split; the {size} models of the fold are "
        "measured on that one split, and on random subsets of equal size. Figures are means over the folds."
    )
