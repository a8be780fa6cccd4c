"""Data of the figures: agreement of pairs, separability against n, components, difficulty of tasks."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from agenthard.audit.statistics import (
    Estimate,
    InvertedKeys,
    NullBand,
    NullDistribution,
    Result,
    ScoreMatrix,
    Undefined,
    separability,
)
from agenthard.audit.statistics.matrix import why_unusable
from agenthard.audit.statistics.rank_nulls import named
from agenthard.audit.statistics.result import undefined
from agenthard.audit.statistics.score_nulls import separability_null
from agenthard.audit.statistics.subsets import plain_subsets
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import Split, SplitName
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Finding, Tier
from agenthard.taxonomy.record import Record


class AgreementMap(Record):
    """Agreement of every pair of models on one split, for a heat map."""

    split: SplitName
    """Which split."""
    split_id: str
    """Its id."""
    n: int
    """Tasks."""
    models: tuple[str, ...]
    """Rows and columns, best initial rank first."""
    values: tuple[tuple[float | None, ...], ...]
    """Share of common tasks on which both models are right or both wrong; None without a common task. Diagonal 1."""


class CurvePoint(Record):
    """Separability of random subsets of one size."""

    n: int
    """Tasks in each subset."""
    band: NullBand
    """Mean and 5–95 % over the draws, in percent."""


class CurveMark(Record):
    """Position of a split on the curve."""

    split: SplitName
    """Which split."""
    n: int
    """Its tasks."""
    separability: Result
    """Its separability, in percent."""


class SeparabilityCurve(Record):
    """Separability against the number of tasks: random subsets as a band, the splits as marks."""

    points: tuple[CurvePoint, ...]
    """Random subsets of the initial split, by rising n."""
    marks: tuple[CurveMark, ...]
    """The splits."""
    method: str
    """How the curve was made."""


class CategoryShare(Record):
    """Findings of one category."""

    category: str
    """Category id."""
    findings: int
    """Findings."""
    tasks: int
    """Tasks they touch."""


class ComponentShare(Record):
    """Findings in one of the four parts of a task; signals, which only order a queue, are counted separately."""

    component: str
    """user, environment, evaluation or ground_truth."""
    title: str
    """Name for people."""
    confirmed: int
    """Confirmed findings."""
    suspected: int
    """Suspected findings."""
    signals: int
    """Signals."""
    tasks: int
    """Tasks that a confirmed or suspected finding touches."""
    share: Result
    """Confirmed and suspected findings of this component among those of all components."""
    categories: tuple[CategoryShare, ...]
    """Confirmed and suspected findings by category, most first."""


class ItemPoint(Record):
    """One task in the difficulty–discrimination plane."""

    task_id: str
    """Task."""
    category: str
    """Its category or domain."""
    difficulty: Result
    """2PL: b, log-odds that an average model fails. Item-rest: share of models that fail it."""
    discrimination: Result
    """2PL: a. Item-rest: correlation with the score on the other tasks. Negative: weaker models do better."""
    flagged: bool
    """Whether a confirmed or suspected finding touches it."""
    decision: Literal["keep", "unchecked", "drop", "review"]
    """What the policy decided."""
    inverted: float | None = None
    """Probability that its key is inverted; None where that is undefined."""


class ItemMap(Record):
    """Difficulty and discrimination of tasks."""

    method: str
    """2PL with how it was fitted, or item-rest and why no 2PL."""
    points: tuple[ItemPoint, ...]
    """Tasks with both numbers, in the benchmark's order."""
    left_out: int
    """Tasks without: every model passes or fails them, or no model has a score."""
    models: int
    """Models behind the numbers."""
    answer_keys: InvertedKeys | Undefined = undefined("it was not computed")
    """Probability that the key of a task is inverted: weaker models pass it and stronger ones fail."""


CURVE_SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Sizes of the random subsets of the curve, as shares of the initial benchmark."""
CURVE_DRAWS = 500
"""Random subsets behind each point of the curve."""


def agreement_map(split: Split, matrix: ScoreMatrix) -> AgreementMap:
    """Share of common tasks on which two models are both right or both wrong, for every pair.

    Args:
        split: which split.
        matrix: scores on it, best model first; without gaps, as in the table of stages, so that both say one number.
            With several runs per cell: the probability that random runs agree.

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
    """Separability of random subsets of rising size, and the positions of the splits.

    Args:
        matrix: scores on the initial split.
        splits: each split with its scores.
        clusters: cluster by task id; None for independent tasks.
        settings: level and seed.

    Returns:
        The curve; undefined where models cannot be compared at all.
    """

    def statistic(part: ScoreMatrix) -> Result:
        return separability(
            part,
            level=settings.level,
            resamples=settings.resamples,
            seed=settings.seed,
            clusters=named(part.tasks, clusters),
        )

    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    marks = []
    for split, part in splits:
        common = part.complete_tasks()
        marks.append(CurveMark(split=split.name, n=len(common.tasks), separability=statistic(common)))
    total, names = len(complete.tasks), named(complete.tasks, clusters)
    sizes = {max(2, round(share * total)) for share in CURVE_SHARES} | {mark.n for mark in marks}
    points = []
    for n in sorted(size for size in sizes if 2 <= size < total):
        subsets = plain_subsets(total, n, clusters=names, draws=CURVE_DRAWS, seed=settings.seed)
        null = separability_null(
            complete,
            subsets,
            level=settings.level,
            resamples=settings.resamples,
            seed=settings.seed,
            clusters=names,
        )
        if isinstance(null, NullDistribution):
            points.append(CurvePoint(n=n, band=null.band()))
    whole = statistic(complete)
    if isinstance(whole, Estimate):
        points.append(CurvePoint(n=total, band=_everything(whole, settings.seed)))
    return SeparabilityCurve(
        points=tuple(points),
        marks=tuple(marks),
        method=f"share of pairs of models with disjoint {100 * settings.level:g} % intervals "
        f"({whole.method if isinstance(whole, Estimate) else 'undefined'})",
    )


def _everything(whole: Estimate, seed: int) -> NullBand:
    """Give the end of the curve: the only subset with all tasks."""
    n = whole.n
    return NullBand(
        mean=whole.value,
        low=whole.value,
        high=whole.value,
        n=n,
        of=n,
        draws=1,
        of_draws=1,
        seed=seed,
        method=whole.method,
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
        share: Result = undefined("the number of findings is 0", 0, "findings")
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
