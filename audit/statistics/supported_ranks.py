"""Ranks that the tests of pairs support: ranges that hold for all models together, ties included."""

from collections.abc import Iterable, Mapping

from agenthard.audit.statistics.paired_tests import PairComparison
from agenthard.audit.statistics.ranking import ordinal_ranks
from agenthard.audit.statistics.result import Estimate


def rank_sets(scores: Mapping[str, float], pairs: Iterable[PairComparison], level: float = 0.95) -> dict[str, Estimate]:
    """Range of ranks of each model: behind those that are significantly better, ahead of those significantly worse.

    With tests of all pairs that hold the family-wise error rate (Holm), all ranges hold the true ranks together with
    at least the level (Mogstad, Romano, Shaikh and Wilhelm 2024). A bootstrap of ranks promises this for no model:
    near ties it covers far less. Models with equal outcomes have equal ranges.

    Args:
        scores: model → score.
        pairs: tests of all pairs at the same level (``compare_pairs``); a pair that was not tested is not different.
        level: 1 − family-wise error rate of the tests.

    Returns:
        Model → ordinal rank (1 is best; ties keep the order given) with its range, best first.

    >>> [(e.low, e.high) for e in rank_sets({"a": 0.5, "b": 0.5}, []).values()]
    [(1.0, 2.0), (1.0, 2.0)]
    """
    better: dict[str, int] = dict.fromkeys(scores, 0)
    worse: dict[str, int] = dict.fromkeys(scores, 0)
    tested = 0
    for pair in pairs:
        tested += 1
        if pair.significant:
            ahead, behind = (pair.first, pair.second) if pair.difference > 0 else (pair.second, pair.first)
            worse[ahead] += 1
            better[behind] += 1
    ranks = ordinal_ranks(scores)
    models = len(scores)
    return {
        model: Estimate(
            value=rank,
            low=float(min(rank, 1 + better[model])),
            high=float(max(rank, models - worse[model])),
            level=level,
            n=models,
            of=models,
            unit="models",
            method=f"ranks that {tested:,} paired tests support, for all models together",
        )
        for model, rank in sorted(ranks.items(), key=lambda item: item[1])
    }
