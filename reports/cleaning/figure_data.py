"""Filling the heat maps of agreement and the curve of separability against n."""

from collections.abc import Mapping, Sequence

import numpy as np

from agenthard.audit.statistics import Result, ScoreMatrix, Undefined, matrix_null, separability
from agenthard.audit.statistics.matrix import why_unusable
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.figures import AgreementMap, CurveMark, CurvePoint, SeparabilityCurve
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.nulls import NullBand
from agenthard.reports.cleaning.splits import Split
from agenthard.reports.cleaning.stage_table import SEPARABILITY_DRAWS

CURVE_SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Sizes of the random subsets of the curve, as shares of the initial benchmark."""
CURVE_RESAMPLES = 500
"""Resamples behind each point of the curve; a band of hundreds of draws needs no more."""


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
