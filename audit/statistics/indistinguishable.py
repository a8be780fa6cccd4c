"""Models whose scores lie so close that the ranking between them says little (the paper's rule)."""

from collections.abc import Mapping

from agenthard.audit.statistics.ranking import ordinal_ranks, why_no_ranking
from agenthard.audit.statistics.result import Estimate, Result, undefined

PAPER_THRESHOLD = 0.01
"""Meaningless across sizes: with 89 tasks the smallest gap above 0 is 0.0112. Prefer ``tied_sets``."""
_SLACK = 1e-12


def indistinguishable_groups(
    scores: Mapping[str, float], threshold: float = PAPER_THRESHOLD
) -> tuple[tuple[str, ...], ...]:
    """Group neighbours of the ranking greedily.

    Walk down the ranking; a model opens a group, and the following models join while they are at most ``threshold``
    below the group's first model; the next one opens a new group. Groups of one are left out.

    Args:
        scores: model → score; ties keep the order given.
        threshold: largest difference within a group, in the scores' units.

    Returns:
        Groups of two or more, best first.

    Raises:
        ValueError: when a score is NaN.

    >>> indistinguishable_groups({"a": 0.70, "b": 0.695, "c": 0.689, "d": 0.50})
    (('a', 'b'),)
    """
    ranks = ordinal_ranks(scores)
    groups: list[list[str]] = []
    for model in sorted(ranks, key=ranks.__getitem__):
        if groups and scores[groups[-1][0]] - scores[model] <= threshold + _SLACK:
            groups[-1].append(model)
        else:
            groups.append([model])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def indistinguishable_models(scores: Mapping[str, float], threshold: float = PAPER_THRESHOLD) -> Result:
    """Count the models in a group of two or more, by the paper's greedy rule (``indistinguishable_groups``).

    Args:
        scores: model → score; ties keep the order given.
        threshold: largest difference within a group.

    Returns:
        The number of models. Undefined for fewer than two models, a score that is NaN, and when all scores are equal.
    """
    reason = why_no_ranking(scores.values())
    if reason:
        return undefined(reason, len(scores), "models")
    count = sum(len(group) for group in indistinguishable_groups(scores, threshold))
    return _count(count, len(scores), f"models within {threshold} of the first of their group, greedy from the top")


def close_pairs(scores: Mapping[str, float], threshold: float = PAPER_THRESHOLD) -> Result:
    """Count the pairs of models whose scores differ by less than the threshold.

    Args:
        scores: model → score.
        threshold: difference that a pair stays below.

    Returns:
        The number of pairs. Undefined as ``indistinguishable_models``.
    """
    reason = why_no_ranking(scores.values())
    if reason:
        return undefined(reason, len(scores), "models")
    values = list(scores.values())
    count = sum(abs(a - b) < threshold - _SLACK for i, a in enumerate(values) for b in values[i + 1 :])
    return _count(count, len(scores), f"pairs of models less than {threshold} apart")


def _count(value: int, models: int, method: str) -> Estimate:
    return Estimate(value=value, n=models, of=models, unit="models", method=method)
