"""How precisely each split measures models, by their ability."""

from collections.abc import Sequence

import numpy as np

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import ScoreMatrix, Undefined
from agenthard.audit.statistics.information import fit_tasks
from agenthard.reports.cleaning.splits import TITLES, Split, SplitName
from agenthard.taxonomy.record import Record

POINTS = 61
"""Abilities at which the curves are computed."""
_MARGIN = 0.5
"""How far the curves go beyond the weakest and the strongest model, in standard deviations of the abilities."""


class InformationCurve(Record):
    """Test information of one split."""

    split: SplitName
    """Which split."""
    n: int
    """Its tasks."""
    measured: int
    """Its tasks that give information: models differ on them, and better ones do better."""
    values: tuple[float, ...]
    """Sum over its tasks of a² P (1 − P), at each ability."""
    in_range: float
    """Mean over the range of abilities of the rule."""


class InformationCurves(Record):
    """Test information of all splits against ability."""

    abilities: tuple[float, ...]
    """Abilities at which the curves are computed, in standard deviations of the compared models."""
    models: dict[str, float]
    """Ability of each compared model."""
    low: float
    """Where the range of abilities of the rule starts."""
    high: float
    """Where it ends."""
    curves: tuple[InformationCurve, ...]
    """One per split."""
    method: str
    """How it was measured."""
    sentence: str
    """How much information the splits keep with how many of the tasks."""


def information_curves(
    matrix: ScoreMatrix, splits: Sequence[Split], rule: DifficultyRule
) -> InformationCurves | Undefined:
    """Measure the test information of each split.

    Args:
        matrix: scores of the compared models on the initial split.
        splits: the splits, the initial one first.
        rule: parameters of the hard split, which name the range of abilities.

    Returns:
        The curves; undefined where models do not differ.
    """
    fit = fit_tasks(matrix.values * matrix.scored, matrix.scored.astype(np.float64))
    if isinstance(fit, Undefined):
        return fit
    grid = np.linspace(fit.abilities.min() - _MARGIN, fit.abilities.max() + _MARGIN, POINTS)
    by_task, mean = fit.information(grid), fit.within(*rule.abilities)
    place = {task: i for i, task in enumerate(matrix.tasks)}
    curves = []
    for split in splits:
        rows = [place[task] for task in split.task_ids if task in place]
        part = by_task[rows]
        curves.append(
            InformationCurve(
                split=split.name,
                n=len(split.task_ids),
                measured=int((part.max(axis=1, initial=0) > 0).sum()),
                values=tuple(part.sum(axis=0).tolist()),
                in_range=float(mean[rows].sum()),
            )
        )
    low, high = np.quantile(fit.abilities, rule.abilities).tolist()
    return InformationCurves(
        abilities=tuple(grid.tolist()),
        models=dict(zip(matrix.models, fit.abilities.tolist(), strict=True)),
        low=low,
        high=high,
        curves=tuple(curves),
        method="2PL per task, abilities from the scores (log-odds, standardised); tasks that all models pass or fail "
        "and tasks on which weaker models do better give none",
        sentence=_sentence(curves, rule),
    )


def _sentence(curves: Sequence[InformationCurve], rule: DifficultyRule) -> str:
    first, others = curves[0], curves[1:]
    if not others or first.in_range <= 0:
        return ""
    kept = "; ".join(
        f"the {TITLES[each.split]} split keeps {100 * each.in_range / first.in_range:.1f} % of the information with "
        f"{100 * each.n / first.n:.1f} % of the tasks"
        for each in others
    )
    low, high = (f"{100 * end:g}" for end in rule.abilities)
    return f"About models between the {low} % and the {high} % quantile of ability, {kept}."
