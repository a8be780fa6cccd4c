"""Runs of neighbouring ranks in which no pair of models differs significantly."""

from collections.abc import Iterable, Mapping

from agenthard.audit.statistics.matrix import require_same_models
from agenthard.audit.statistics.paired_tests import PairComparison
from agenthard.audit.statistics.ranking import ordinal_ranks


def tied_sets(scores: Mapping[str, float], pairs: Iterable[PairComparison]) -> tuple[tuple[str, ...], ...]:
    """Group the models that the benchmark cannot tell apart.

    A tied set is a longest stretch of neighbouring ranks without a significant pair inside, so sets can overlap: A can
    be tied with B, and B with C, while A and C differ. A model that differs from both neighbours stands alone. A pair
    that was not tested counts as not told apart.

    Args:
        scores: model → score.
        pairs: tests of all pairs, from ``compare_pairs``.

    Returns:
        The sets, best models first.

    Raises:
        DifferentModelsError: when a tested model has no score.
    """
    tested = tuple(pairs)
    different = {frozenset((pair.first, pair.second)) for pair in tested if pair.significant}
    require_same_models(scores, {name for pair in tested for name in (pair.first, pair.second)} | set(scores))
    ranks = ordinal_ranks(scores)
    order = sorted(ranks, key=ranks.__getitem__)
    sets: list[tuple[str, ...]] = []
    covered = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and all(frozenset((order[end], model)) not in different for model in order[start:end]):
            end += 1
        if end > covered:
            sets.append(tuple(order[start:end]))
            covered = end
    return tuple(sets)
