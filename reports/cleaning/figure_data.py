"""Filling the data of the figures: heat maps, the curve of separability, shares of components, difficulty of tasks."""

from collections.abc import Collection, Mapping, Sequence
from math import sqrt

import numpy as np

from audit.decisions.policy import Decision
from reports.cleaning.figures import (
    AgreementMap,
    CategoryShare,
    ComponentShare,
    CurveMark,
    CurvePoint,
    ItemMap,
    ItemPoint,
    SeparabilityCurve,
)
from reports.cleaning.inputs import AnalysisSettings
from reports.cleaning.nulls import NullBand
from reports.cleaning.splits import Split
from reports.cleaning.stage_table import SEPARABILITY_DRAWS
from reports.statistics import (
    Estimate,
    Result,
    ScoreMatrix,
    Undefined,
    item_parameters,
    matrix_null,
    separability,
)
from reports.statistics.matrix import why_unusable
from reports.statistics.result import undefined
from taxonomy.categories import COMPONENT_TITLES
from taxonomy.finding import Finding, Tier

CURVE_SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Sizes of the random subsets of the curve, as shares of the initial benchmark."""
CURVE_RESAMPLES = 500
"""Resamples behind each point of the curve; a band of hundreds of draws needs no more."""
MOST_CELLS = 40_000
"""A 2PL is fitted up to this many scores; beyond, the fit takes longer than the rest of the report together."""


def agreement_map(split: Split, matrix: ScoreMatrix) -> AgreementMap:
    """Share of common tasks on which two models are both right or both wrong, for every pair.

    Args:
        split: which split.
        matrix: scores on it, best model first. With several runs per cell: the probability that random runs agree.

    Returns:
        The heat map; a model agrees with itself fully, also when its repeated runs do not.
    """
    scored = matrix.scored.astype(np.float64)
    passed = matrix.values * scored
    failed = scored - passed
    common = scored @ scored.T
    equal = passed @ passed.T + failed @ failed.T
    rows = [
        tuple(
            1.0 if i == j else float(equal[i, j] / common[i, j]) if common[i, j] else None
            for j in range(len(matrix.models))
        )
        for i in range(len(matrix.models))
    ]
    return AgreementMap(
        split=split.name, split_id=split.split_id, n=len(matrix.tasks), models=matrix.models, values=tuple(rows)
    )


def separability_curve(
    matrix: ScoreMatrix,
    splits: Sequence[tuple[Split, ScoreMatrix]],
    clusters: Mapping[str, str] | None,
    settings: AnalysisSettings,
) -> SeparabilityCurve | Undefined:
    """Separability of random subsets of rising size, and where the splits stand.

    Args:
        matrix: scores on the initial split.
        splits: each split with its scores.
        clusters: cluster by task id; None for independent tasks.
        settings: level and seed.

    Returns:
        The curve; undefined where models cannot be compared at all.
    """

    def statistic(part: ScoreMatrix) -> Result:
        names = None if clusters is None else [clusters[task] for task in part.tasks]
        return separability(part, level=settings.level, resamples=CURVE_RESAMPLES, seed=settings.seed, clusters=names)

    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    sizes = sorted({max(2, round(share * len(complete.tasks))) for share in CURVE_SHARES})
    points = []
    for n in sizes:
        null = matrix_null(complete, statistic, keep=n, draws=SEPARABILITY_DRAWS, seed=settings.seed)
        band = NullBand.of_draws_of(null)
        if isinstance(band, NullBand):
            points.append(CurvePoint(n=n, band=band))
    marks = []
    for split, part in splits:
        common = part.complete_tasks()
        marks.append(CurveMark(split=split.name, n=len(common.tasks), separability=statistic(common)))
    return SeparabilityCurve(
        points=tuple(points),
        marks=tuple(marks),
        resamples=CURVE_RESAMPLES,
        method=f"share of pairs of models with disjoint {100 * settings.level:g} % intervals, {CURVE_RESAMPLES} paired "
        f"bootstrap resamples; {SEPARABILITY_DRAWS} random subsets per size; tasks that every model has a verdict on",
    )


def component_shares(findings: Sequence[Finding], components: Mapping[str, str]) -> tuple[ComponentShare, ...]:
    """Count findings by the part of the task that is wrong.

    Args:
        findings: all findings.
        components: component of each finding, by finding id.

    Returns:
        One record per component, in the order of the taxonomy.
    """
    sure = [finding for finding in findings if finding.tier is not Tier.SIGNAL]
    rows = []
    for component, title in COMPONENT_TITLES.items():
        mine = [f for f in findings if components[f.id] == component]
        counted = [f for f in mine if f.tier is not Tier.SIGNAL]
        share: Result = undefined("there are no findings", 0, "findings")
        if sure:
            share = Estimate(
                value=len(counted) / len(sure),
                n=len(sure),
                of=len(sure),
                unit="findings",
                method="share of confirmed and suspected findings; a count, no sample",
            )
        rows.append(
            ComponentShare(
                component=component,
                title=title,
                confirmed=sum(f.tier is Tier.CONFIRMED for f in mine),
                suspected=sum(f.tier is Tier.SUSPECTED for f in mine),
                signals=len(mine) - len(counted),
                tasks=len({task for f in counted for task in f.task_ids}),
                share=share,
                categories=_category_shares(counted),
            )
        )
    return tuple(rows)


def _category_shares(findings: Sequence[Finding]) -> tuple[CategoryShare, ...]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.category, []).append(finding)
    rows = [
        CategoryShare(category=name, findings=len(group), tasks=len({task for f in group for task in f.task_ids}))
        for name, group in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.findings, row.category)))


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
