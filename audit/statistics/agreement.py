"""How often models succeed and fail on the same tasks; the lower, the better a benchmark tells them apart."""

from dataclasses import dataclass

import numpy as np

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.result import Estimate, Result, undefined


def model_agreement(matrix: ScoreMatrix) -> Result:
    """Mean over all pairs of models of the share of tasks on which both are right or both are wrong.

    ``A = mean over i < j of (1/n_ij) Σ_t [x_it x_jt + (1 − x_it)(1 − x_jt)]``, which for pass and fail is the mean of
    ``1[x_it = x_jt]`` (audit paper). With several runs per cell x is the share that passed, and the term is the
    probability that a random run of one model and a random run of the other agree. A also moves with the mean score
    alone: read it beside ``chance_corrected_agreement``.

    Missing cells: pairwise complete; a pair without a common task is left out, and the method says "k of N pairs".

    Args:
        matrix: the scores.

    Returns:
        The agreement, 0..1. Undefined for fewer than two models or tasks, and when every run passes or every run fails.

    >>> model_agreement(ScoreMatrix.from_array([[1, 1, 0, 0], [1, 0, 0, 0]], "ab", "1234")).value
    0.75
    """
    reason = why_unusable(matrix)
    if reason:
        return undefined(reason, len(matrix.tasks), "tasks")
    pairs = _pairs(matrix)
    if not pairs.used:
        return undefined("no two models have a score on the same task", len(matrix.tasks), "tasks")
    return _estimate(matrix, pairs.observed, pairs, "mean share of equal outcomes")


def chance_corrected_agreement(matrix: ScoreMatrix) -> Result:
    """Where agreement lies between that of independent models (0) and the most that their scores allow (1).

    ``(A − A_indep) / (A_max − A_indep)`` with, per pair, ``A_indep = p q + (1 − p)(1 − q)`` and
    ``A_max = 1 − |p − q|`` from the pair's scores p and q; A, A_indep and A_max are each averaged over the pairs.
    Missing cells: as in ``model_agreement``; p and q are taken over the pair's common tasks.

    Args:
        matrix: the scores.

    Returns:
        The corrected agreement, at most 1; below 0 when models agree less than by chance. Undefined as
        ``model_agreement``, and when in every pair one model passes or fails everything (A_max = A_indep).
    """
    raw = model_agreement(matrix)
    if not isinstance(raw, Estimate):
        return raw
    pairs = _pairs(matrix)
    if pairs.most - pairs.chance < 1e-12:
        why = "in every pair one model passes or fails all tasks, so its agreement is fixed by the scores"
        return undefined(why, raw.n, raw.unit)
    corrected = (pairs.observed - pairs.chance) / (pairs.most - pairs.chance)
    return _estimate(matrix, corrected, pairs, "agreement corrected by the models' mean scores,")


@dataclass(frozen=True)
class _Pairs:
    """Means over the pairs of models with a common task: observed agreement, that of independent models, the most."""

    observed: float
    chance: float
    most: float
    used: int
    comparisons: int


def _pairs(matrix: ScoreMatrix) -> _Pairs:
    values, upper = matrix.values, np.triu_indices(len(matrix.models), 1)
    if matrix.scored.all():
        # Without gaps the pairs that agree on a task follow from its column sums: Σ_{i<j} x_i x_j = (S² − Σ x²)/2.
        n = np.full(len(upper[0]), float(len(matrix.tasks)))
        agree_total = sum(float((x.sum(axis=0) ** 2 - (x**2).sum(axis=0)).sum()) / 2 for x in (values, 1 - values))
        observed = agree_total / float(n.sum())
        score = values.mean(axis=1)
        p, q = score[upper[0]], score[upper[1]]
    else:
        scored = matrix.scored.astype(np.float64)
        values = values * scored
        common = (scored @ scored.T)[upper]
        n = common[common > 0]
        agreeing = (values @ values.T + (scored - values) @ (scored - values).T)[upper][common > 0]
        if not len(n):
            return _Pairs(0.0, 0.0, 0.0, 0, 0)
        observed = float((agreeing / n).mean())
        p, q = (values @ scored.T)[upper][common > 0] / n, (scored @ values.T)[upper][common > 0] / n
    chance, most = p * q + (1 - p) * (1 - q), 1 - np.abs(p - q)
    return _Pairs(observed, float(chance.mean()), float(most.mean()), len(n), int(n.sum()))


def _estimate(matrix: ScoreMatrix, value: float, pairs: _Pairs, method: str) -> Estimate:
    all_pairs = len(matrix.models) * (len(matrix.models) - 1) // 2
    return Estimate(
        value=value,
        n=int((matrix.scored.sum(axis=0) >= 2).sum()),
        of=len(matrix.tasks),
        unit="tasks",
        method=f"{method} over {pairs.used} of {all_pairs} pairs of models; pairwise complete"
        f" ({pairs.comparisons} of {all_pairs * len(matrix.tasks)} comparisons)",
    )
