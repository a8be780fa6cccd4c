"""Paired differences of models: to the leader and to the next one, with interval, p and the tasks they would need."""

from collections.abc import Mapping, Sequence

import numpy as np

from agenthard.audit.statistics import Estimate, PairComparison, Result, ScoreMatrix, paired_gap, tasks_needed
from agenthard.taxonomy.record import Record


class PairDifference(Record):
    """Two models on the tasks that both have."""

    first: str
    """The model that ranks higher."""
    second: str
    """The other model."""
    difference: Result
    """first − second; its interval holds for all tested pairs together (Bonferroni), within −1..1."""
    p: float
    """p-value of the pair alone."""
    adjusted_p: float
    """p-value after Holm's correction over all pairs."""
    significant: bool
    """Whether the two are told apart."""
    needed: int | None
    """Tasks of this kind that tell such a difference with 80 % power among as many pairs; None for equal scores."""


def pair_differences(
    ranking: Sequence[str],
    matrix: ScoreMatrix,
    pairs: Sequence[PairComparison],
    clusters: Mapping[str, str] | None,
    level: float,
) -> tuple[PairDifference, ...]:
    """Compare each model with the leader and with the next one of the ranking.

    Args:
        ranking: models, best first.
        matrix: the scores that the pairs were tested on.
        pairs: tests of all pairs.
        clusters: cluster by task id.
        level: 1 − family-wise error rate.

    Returns:
        The pairs, by rank of the lower model.
    """
    tests = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    wanted = dict.fromkeys(
        pair for i in range(1, len(ranking)) for pair in ((ranking[0], ranking[i]), (ranking[i - 1], ranking[i]))
    )
    place = {model: i for i, model in enumerate(matrix.models)}
    names = None if clusters is None else np.array([clusters[task] for task in matrix.tasks])
    rows = []
    for first, second in wanted:
        test = tests.get(frozenset((first, second)))
        if test is None:
            continue
        one, other = place[first], place[second]
        both = np.flatnonzero(matrix.scored[one] & matrix.scored[other])
        x, y = matrix.values[one, both], matrix.values[other, both]
        own = None if names is None else names[both].tolist()
        weights = None if matrix.weights is None else matrix.weights[both]
        heavy = None if weights is None else weights.tolist()
        gap = _within(paired_gap(x.tolist(), y.tolist(), own, 1 - (1 - level) / max(1, len(pairs)), heavy))
        mean = float(np.average(x - y, weights=weights))
        needed = tasks_needed(
            mean, float(np.average((x - y) ** 2, weights=weights)), pairs=max(1, len(pairs)), alpha=1 - level
        )
        rows.append(
            PairDifference(
                first=first,
                second=second,
                difference=gap,
                p=test.p,
                adjusted_p=test.adjusted_p,
                significant=test.significant,
                needed=needed,
            )
        )
    return tuple(rows)


def _within(gap: Result) -> Result:
    """Cut an interval at −1 and 1."""
    if not isinstance(gap, Estimate) or gap.low is None or gap.high is None:
        return gap
    return gap.model_copy(update={"low": max(-1.0, gap.low), "high": min(1.0, gap.high)})
