"""How often models succeed and fail on the same tasks; the lower, the better a benchmark tells them apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.statistics.matrix import ScoreMatrix, why_unusable
from reports.statistics.result import Estimate, Result, undefined


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
    if not pairs.observed.size:
        return undefined("no two models have a score on the same task", len(matrix.tasks), "tasks")
    return _estimate(matrix, float(pairs.observed.mean()), pairs, "mean share of equal outcomes")


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
    observed, chance, most = pairs.observed.mean(), pairs.chance.mean(), pairs.most.mean()
    if most - chance < 1e-12:
        why = "in every pair one model passes or fails all tasks, so its agreement is fixed by the scores"
        return undefined(why, raw.n, raw.unit)
    corrected = float((observed - chance) / (most - chance))
    return _estimate(matrix, corrected, pairs, "agreement corrected by the models' mean scores,")


@dataclass(frozen=True)
class _Pairs:
    """Per pair of models with a common task: observed agreement, that of independent models, and the most possible."""

    observed: NDArray[np.float64]
    chance: NDArray[np.float64]
    most: NDArray[np.float64]
    compared: int
    cells: int


def _pairs(matrix: ScoreMatrix) -> _Pairs:
    scored = matrix.scored.astype(np.float64)
    values = matrix.values * scored
    upper = np.triu_indices(len(matrix.models), 1)
    common = (scored @ scored.T)[upper]
    used = common > 0
    n = common[used]
    both_pass, both_fail = (values @ values.T)[upper][used], ((scored - values) @ (scored - values).T)[upper][used]
    p, q = (values @ scored.T)[upper][used] / n, (scored @ values.T)[upper][used] / n
    return _Pairs((both_pass + both_fail) / n, p * q + (1 - p) * (1 - q), 1 - np.abs(p - q), int(n.sum()), len(common))


def _estimate(matrix: ScoreMatrix, value: float, pairs: _Pairs, method: str) -> Estimate:
    shared = int((matrix.scored.sum(axis=0) >= 2).sum())
    cells = pairs.cells * len(matrix.tasks)
    return Estimate(
        value=value,
        n=shared,
        of=len(matrix.tasks),
        unit="tasks",
        method=f"{method} over {len(pairs.observed)} of {pairs.cells} pairs of models; pairwise complete"
        f" ({pairs.compared} of {cells} comparisons)",
    )
