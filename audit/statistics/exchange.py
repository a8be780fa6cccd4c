"""Two sides of the same models and tasks, such as two rounds of runs or two answer keys: is the difference noise?

Deleting random tasks is not a model of scoring tasks again. If nothing but chance tells the sides apart, they can be
swapped: the outcomes of one task for all models together, or those of one model on one task. Either gives exact tests.
"""

from collections.abc import Sequence
from math import exp

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import MatrixError, ScoreMatrix, require_same_models, why_unusable
from agenthard.audit.statistics.monte_carlo import Tail
from agenthard.audit.statistics.nulls import NullDistribution, summarise_null
from agenthard.audit.statistics.rank_figures import later_ranks, tau_b_rows
from agenthard.audit.statistics.ranking import rank_rows
from agenthard.audit.statistics.resampling import bootstrap_means, percentile_interval
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.audit.statistics.subsets import SubsetDraws
from agenthard.taxonomy.record import Record

_SAME = 1e-12
_CHUNK_CELLS = 1 << 21
_CHUNK_DRAWS = 500


class TaskChange(Record):
    """How the models' scores on one task change from the first side to the second."""

    task: str
    """Task."""
    gained: int
    """Models whose score rises."""
    lost: int
    """Models whose score falls."""
    p: float
    """p-value corrected over all tasks (Benjamini and Hochberg): that run-to-run noise moves as many models one way."""


class TogetherTest(Record):
    """Whether models change together on tasks, as they do where a task is scored by another key."""

    together: NullDistribution
    """Evidence summed over tasks, against swapping the sides of every model and task alone."""
    tasks: tuple[TaskChange, ...]
    """All tasks on which a score differs, in the order of the matrix."""
    least: int | None
    """Models that must move one way on a task so that it alone can be told from noise; None when all are too few."""


class RankExchange(Record):
    """Changes of scores and ranks between two sides, each against swapping the sides of random tasks."""

    score_shift: NullDistribution
    """Mean over models of |second − first|."""
    change_rate: NullDistribution
    """Share of models whose ordinal rank differs."""
    rank_shift: NullDistribution
    """Mean |rank shift|."""
    kendall_tau_b: NullDistribution | Undefined
    """τ-b of the two sides' scores; small values speak against the null."""
    top_changed: NullDistribution
    """1 when another model comes first, else 0; the mean is P(another leader | sides swapped), without a band."""
    bootstrap: dict[str, Result]
    """The first four figures with a percentile interval from a paired bootstrap over tasks, both sides together."""


def changes_together(
    first: ScoreMatrix, second: ScoreMatrix, *, draws: int = 5000, seed: int = 0, alpha: float = 0.05
) -> TogetherTest | Undefined:
    """Test whether models change together on tasks.

    If the sides are two rounds of equal runs, then each model's change on each task is as likely up as down, whatever
    the other models do, and with single runs each way has a probability p (1 − p) of at most 1/4. Tasks that are scored
    differently move many models one way. The p-value of a task with k = max(rises, falls) is the bound
    2 P(Binomial(M, 1/4) ≥ k), which more noise cannot exceed (1/2 instead of 1/4 for several runs per cell). Tasks are
    judged by Benjamini and Hochberg's correction, all together by Σ (log p)² against swapping the sides of every cell,
    given which cells differ: a few tasks with much evidence count more than many with little.

    Args:
        first: one side, without missing cells.
        second: the other side: the same models and tasks in the same order.
        draws: random swaps.
        seed: seed of the draws.
        alpha: rate of false discoveries that ``least`` is for.

    Returns:
        The tests; undefined where nothing can differ, or nothing does.

    Raises:
        MatrixError: when models or tasks differ, or cells are missing.
    """
    reason = _why_not(first, second)
    if reason:
        return undefined(reason, len(first.tasks), "tasks")
    change = second.values - first.values
    rises, falls = ((sign * change > _SAME).sum(axis=0) for sign in (1, -1))
    log_p = _log_p(len(first.models), 0.25 if first.binary and second.binary else 0.5)
    flips, evidence, rng = rises + falls, np.zeros(draws), np.random.default_rng(seed)
    for number, tasks in zip(*np.unique(flips[flips > 0], return_counts=True), strict=True):
        for _ in range(tasks):
            up = rng.binomial(number, 0.5, draws)
            evidence += log_p[np.maximum(up, number - up)] ** 2
    own = log_p[np.maximum(rises, falls)]
    together = summarise_null(
        evidence,
        _swaps(draws, len(first.tasks), seed),
        "Σ over tasks of (log p)²; the sides of each model and task swapped at random",
        float((own**2).sum()),
        tail="greater",
    )
    p = false_discoveries(np.exp(own))
    return TogetherTest(
        together=together,
        tasks=tuple(
            TaskChange(task=first.tasks[i], gained=int(rises[i]), lost=int(falls[i]), p=float(p[i]))
            for i in np.flatnonzero(flips)
        ),
        least=next((k for k, log in enumerate(log_p.tolist()) if exp(log) * len(first.tasks) <= alpha), None),
    )


def _log_p(models: int, chance: float) -> NDArray[np.float64]:
    """Log of min(1, 2 P(Binomial(models, chance) ≥ k)) for k = 0 … models."""
    from scipy.special import bdtrc

    counts = np.arange(models + 1)
    tail = np.where(counts > 0, bdtrc(np.maximum(counts - 1, 0), models, chance), 1.0)
    return np.asarray(np.log(np.minimum(1.0, 2 * tail)))


def false_discoveries(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values by Benjamini and Hochberg: the i-th smallest of m is ``min over j ≥ i of m p_j / j``.

    >>> false_discoveries(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def rank_exchange(
    first: ScoreMatrix,
    second: ScoreMatrix,
    *,
    clusters: Sequence[str] | None = None,
    draws: int = 5000,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> RankExchange | Undefined:
    """Test whether scores and ranks of two sides differ by more than chance.

    The sides of random tasks, or clusters, are swapped for all models together, so nothing is assumed about how models
    depend on each other. Ties keep the order of the mean of both sides, which no swap changes.

    Args:
        first: one side, without missing cells.
        second: the other side: the same models and tasks in the same order.
        clusters: cluster of each task, swapped whole.
        draws: random swaps.
        resamples: resamples of the bootstrap.
        level: coverage of the bootstrap's intervals.
        seed: seed of all draws.

    Returns:
        The figures with their nulls; undefined where nothing can differ, or nothing does.

    Raises:
        MatrixError: when models or tasks differ, or cells are missing.
    """
    reason = _why_not(first, second)
    if reason:
        return undefined(reason, len(first.tasks), "tasks")
    scale = 1.0 if first.weights is None else first.weights / first.weights.mean()
    sides = first.values * scale, second.values * scale
    mean = (sides[0].mean(axis=1) + sides[1].mean(axis=1)) / 2
    order = np.argsort(-np.round(mean, 12), kind="stable")
    one, other = (side[order].T for side in sides)
    observed = _figures(one.mean(axis=0)[None, :], other.mean(axis=0)[None, :])
    half = _by_cluster(other - one, clusters) / (2 * len(one))
    centre, rng = mean[order], np.random.default_rng(seed)
    drawn = []
    for start in range(0, draws, _CHUNK_DRAWS):
        signs = rng.choice([-1.0, 1.0], (min(_CHUNK_DRAWS, draws - start), len(half)))
        shift = signs @ half
        drawn.append(_figures(centre - shift, centre + shift))
    boot = [
        _figures(*np.hsplit(block, 2))
        for block in bootstrap_means(np.hstack([one, other]), resamples=resamples, seed=seed, clusters=clusters)
    ]
    swaps = _swaps(draws, len(one), seed)

    def null(name: str, method: str, tail: Tail = "greater", indicator: bool = False) -> NullDistribution | Undefined:
        values = np.concatenate([each[name] for each in drawn])
        values, value = values[np.isfinite(values)], float(observed[name][0])
        if not np.isfinite(value) or not len(values):
            return undefined("all models have the same score on a side", len(order), "models")
        method = f"{method}; the sides of random tasks swapped"
        return summarise_null(values, swaps, method, value, tail=tail, indicator=indicator)

    def always(name: str, method: str, indicator: bool = False) -> NullDistribution:
        found = null(name, method, indicator=indicator)
        assert isinstance(found, NullDistribution)
        return found

    return RankExchange(
        score_shift=always("score_shift", "mean over models of |second − first|"),
        change_rate=always("change_rate", "share of models whose rank differs"),
        rank_shift=always("rank_shift", "mean |rank shift|"),
        kendall_tau_b=null("kendall_tau_b", "Kendall τ-b of the scores", "less"),
        top_changed=always("top_changed", "another model comes first", True),
        bootstrap={
            name: _with_interval(observed[name], np.concatenate([each[name] for each in boot]), level, len(order), seed)
            for name in ("score_shift", "change_rate", "rank_shift", "kendall_tau_b")
        },
    )


def _figures(first: NDArray[np.float64], second: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Figures of each pair of rows of scores."""
    before = rank_rows(first)
    shifts = np.abs(later_ranks(before, second) - before)
    leads = np.take_along_axis(shifts, before.argmin(axis=1)[:, None], axis=1)[:, 0]
    return {
        "score_shift": np.abs(second - first).mean(axis=1),
        "change_rate": (shifts != 0).mean(axis=1),
        "rank_shift": shifts.mean(axis=1),
        "kendall_tau_b": tau_b_rows(first, second),
        "top_changed": (leads != 0) * 1.0,
    }


def _with_interval(
    observed: NDArray[np.float64], drawn: NDArray[np.float64], level: float, models: int, seed: int
) -> Result:
    if not np.isfinite(observed[0]):
        return undefined("all models have the same score on a side", models, "models")
    value, ends = float(observed[0]), percentile_interval(drawn, level)
    ends |= {"low": min(ends["low"], value), "high": max(ends["high"], value)} if ends else {}
    method = f"percentile interval of {len(drawn)} paired bootstrap resamples of the tasks of both sides"
    return Estimate(value=value, n=models, of=models, unit="models", method=method, seed=seed, **ends)


def _by_cluster(values: NDArray[np.float64], clusters: Sequence[str] | None) -> NDArray[np.float64]:
    if clusters is None:
        return values
    member = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = np.zeros((member.max() + 1, values.shape[1]))
    np.add.at(sums, member, values)
    return sums


def _swaps(draws: int, tasks: int, seed: int) -> SubsetDraws:
    """What a summary says of the draws: all tasks stay, their sides are swapped."""
    return SubsetDraws(np.broadcast_to(np.True_, (draws, tasks)), tasks, seed, "")


def _why_not(first: ScoreMatrix, second: ScoreMatrix) -> str | None:
    require_same_models(first.models, second.models)
    if first.models != second.models or first.tasks != second.tasks:
        raise MatrixError("the two sides must list the same models and tasks in the same order")
    if not (first.scored.all() and second.scored.all()):
        raise MatrixError("a cell is missing on one side: keep the tasks that both sides have for every model")
    if len(first.models) < 2:
        return f"{len(first.models)} model(s) were given; a comparison needs two"
    if np.abs(first.values - second.values).max(initial=0) <= _SAME:
        return "no score differs between the sides"
    return why_unusable(first) and why_unusable(second)
