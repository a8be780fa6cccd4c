"""Rankings of models: how they change between two versions of a benchmark, and how certain they are."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, require_same_models, why_unusable
from agenthard.audit.statistics.resampling import bootstrap_scores
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record

_DIGITS = 12
"""Scores are compared after rounding to this many digits, so that rounding errors break no tie."""


class RankMove(Record):
    """Rank of one model before and after."""

    model: str
    """Model."""
    initial: float
    """Score on the initial version."""
    later: float
    """Score on the later version."""
    initial_rank: int
    """1 is best."""
    later_rank: int
    """1 is best."""

    @property
    def shift(self) -> int:
        """Ranks gained (positive) or lost (negative)."""
        return self.initial_rank - self.later_rank


def ordinal_ranks(scores: Mapping[str, float], order: Sequence[str] | None = None) -> dict[str, int]:
    """Rank models from the best score down, 1, 2, 3 and so on; tied models keep their given order.

    Args:
        scores: model → score, higher is better.
        order: models in the order that ties keep; the order of ``scores`` when None.

    Returns:
        Model → rank, in the order used for ties.

    Raises:
        DifferentModelsError: when ``order`` names other models than ``scores``.
        ValueError: when a score is NaN or infinite.

    >>> ordinal_ranks({"a": 0.5, "b": 0.7, "c": 0.5})
    {'a': 2, 'b': 1, 'c': 3}
    """
    models = list(scores if order is None else order)
    require_same_models(scores, models)
    values = np.array([scores[model] for model in models], dtype=np.float64)
    if not np.isfinite(values).all():
        scoreless = models[int(np.argmin(np.isfinite(values)))]
        raise ValueError(f"the ranking is undefined because model {scoreless!r} has no score (NaN)")
    return dict(zip(models, rank_rows(values[None, :])[0].tolist(), strict=True))


def rank_rows(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rank each row of a versions × models array from the best score down; ties keep the order of the columns.

    Args:
        scores: one row per version, one column per model.

    Returns:
        Ranks from 1, same shape.
    """
    order = np.argsort(-np.round(scores, _DIGITS), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None, :], axis=1)
    return ranks


def rank_moves(initial: Mapping[str, float], later: Mapping[str, float]) -> tuple[RankMove, ...]:
    """Compare the ranks of two versions; ties of the later version keep the initial ranking.

    Args:
        initial: model → score on the initial version; its ties keep the order given.
        later: model → score on the later version.

    Returns:
        One move per model, best initial rank first.

    Raises:
        DifferentModelsError: when the versions are about different models.
        ValueError: when a score is NaN or infinite.
    """
    require_same_models(initial, later)
    before = ordinal_ranks(initial)
    ranking = sorted(before, key=before.__getitem__)
    after = ordinal_ranks(later, order=ranking)
    return tuple(
        RankMove(
            model=model, initial=initial[model], later=later[model], initial_rank=before[model], later_rank=after[model]
        )
        for model in ranking
    )


def ranking_change_rate(initial: Mapping[str, float], later: Mapping[str, float]) -> Result:
    """Share of models whose ordinal rank differs from the initial ranking (audit paper).

    Only this reading reproduces the paper: ordinal ranks, ties in initial order; dense, minimum, maximum and average
    ranks all give other numbers.

    Args:
        initial: model → score on the initial version; its ties keep the order given.
        later: model → score on the later version.

    Returns:
        The share, 0..1. Undefined for fewer than two models, for a score that is NaN, and when all models have the same
        initial score, because then no initial ranking exists.

    Raises:
        DifferentModelsError: when the versions are about different models.
    """
    moves = _moves_or_reason(initial, later)
    if isinstance(moves, Undefined):
        return moves
    changed = sum(move.shift != 0 for move in moves)
    return _of_models(changed / len(moves), len(moves), "models that change ordinal rank; ties keep the initial order")


def average_rank_shift(initial: Mapping[str, float], later: Mapping[str, float]) -> Result:
    """Mean of |change of rank| over all models, the unmoved included (audit paper).

    Arguments, ties and undefined cases are those of ``ranking_change_rate``; ``value · n`` is the sum of the shifts.

    Returns:
        The mean shift, in ranks.
    """
    moves = _moves_or_reason(initial, later)
    if isinstance(moves, Undefined):
        return moves
    total = sum(abs(move.shift) for move in moves)
    return _of_models(total / len(moves), len(moves), "mean |rank shift|; ties keep the initial order")


def kendall_tau_b(initial: Mapping[str, float], later: Mapping[str, float]) -> Result:
    """Kendall's τ-b of the scores, which corrects for ties: ``(C − D) / sqrt((P − T_1)(P − T_2))``.

    C and D count the concordant and discordant of the P pairs of models, T_1 and T_2 the pairs tied on either version
    (Kendall 1945). The paper's own figures use ordinal ranks; this one needs no rule for ties.

    Args:
        initial: model → score on the initial version.
        later: model → score on the later version.

    Returns:
        τ-b in −1..1. Undefined for fewer than two models, a score that is NaN, and when all models have the same score
        on either version.

    Raises:
        DifferentModelsError: when the versions are about different models.
    """
    moves = _moves_or_reason(initial, later)
    if isinstance(moves, Undefined):
        return moves
    x = np.round([move.initial for move in moves], _DIGITS)
    y = np.round([move.later for move in moves], _DIGITS)
    if len(set(y.tolist())) == 1:
        return undefined("all models have the same score on the later version", len(moves), "models")
    first, second = np.triu_indices(len(moves), 1)
    one, other = np.sign(x[first] - x[second]), np.sign(y[first] - y[second])
    tau = (one @ other) / np.sqrt(np.abs(one).sum()) / np.sqrt(np.abs(other).sum())
    return _of_models(float(np.clip(tau, -1, 1)), len(moves), "Kendall τ-b of the scores")


def _moves_or_reason(initial: Mapping[str, float], later: Mapping[str, float]) -> tuple[RankMove, ...] | Undefined:
    require_same_models(initial, later)
    reason = why_no_ranking(initial.values()) or _why_nan(later)
    return undefined(reason, len(initial), "models") if reason else rank_moves(initial, later)


def why_no_ranking(scores: Iterable[float]) -> str | None:
    """Name what keeps scores from ranking anything.

    Args:
        scores: one per model.

    Returns:
        The reason, to follow "undefined because", or None.
    """
    values = np.array(list(scores), dtype=np.float64)
    if len(values) < 2:
        return f"{len(values)} model(s) were given; a ranking needs two"
    if not np.isfinite(values).all():
        return "a model has no score (NaN)"
    if len(set(np.round(values, _DIGITS).tolist())) == 1:
        return "all models have the same initial score, so they have no initial ranking"
    return None


def _why_nan(scores: Mapping[str, float]) -> str | None:
    return None if all(np.isfinite(score) for score in scores.values()) else "a model has no score (NaN)"


def _of_models(value: float, models: int, method: str) -> Estimate:
    return Estimate(value=value, n=models, of=models, unit="models", method=method)


def share_of_lead(means: NDArray[np.float64], model: int) -> NDArray[np.float64]:
    """Share of first place of one model in each row: 1 alone, 1/2 with another one, 0 behind.

    Args:
        means: versions × models.
        model: its column.
    """
    first = means >= means.max(axis=1, keepdims=True) - 1e-12
    return np.asarray(first[:, model] / first.sum(axis=1))


def top_unchanged(
    matrix: ScoreMatrix, *, resamples: int = 2000, seed: int = 0, clusters: Sequence[str] | None = None
) -> Result:
    """Share of paired bootstrap resamples of tasks that the observed best model leads.

    A first place that it shares with k − 1 others counts 1/k. It is not the probability that it is the best: the
    observed leader is partly lucky, so the share is too high for that. Missing cells: complete tasks only.

    Args:
        matrix: the scores.
        resamples: number of resamples.
        seed: seed of the bootstrap.
        clusters: name of the cluster of each complete task; None for independent tasks.

    Returns:
        The share, 0..1. Undefined for fewer than two models or complete tasks, when every run passes or fails, when all
        models have the same score, and when several share first place.
    """
    complete = matrix.complete_tasks()
    scores = complete.means() if complete.tasks else np.zeros(len(complete.models))
    reason = why_unusable(complete) or why_no_ranking(scores)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    leaders = np.flatnonzero(scores >= scores.max() - 1e-12)
    if len(leaders) > 1:
        return undefined(
            f"{len(leaders)} models share first place: {', '.join(complete.models[i] for i in leaders)}",
            len(complete.tasks),
            "tasks",
        )
    means = bootstrap_scores(complete.values.T, complete.weights, resamples=resamples, seed=seed, clusters=clusters)
    kept = share_of_lead(means, int(leaders[0]))
    return Estimate(
        value=float(kept.mean()),
        n=len(complete.tasks),
        of=len(matrix.tasks),
        unit="tasks",
        method=f"share of {resamples} paired bootstrap resamples led by {complete.models[leaders[0]]};"
        f" complete tasks only",
        seed=seed,
    )
