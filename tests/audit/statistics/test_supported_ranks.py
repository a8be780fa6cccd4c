"""Ranges of ranks from tests of pairs: ties share them, and they hold the true ranks of all models together."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from agenthard.audit.statistics import PairComparison, ScoreMatrix, Undefined, compare_pairs, may_draw_level, rank_sets

Build = Callable[[ArrayLike], ScoreMatrix]


def pair(first: str, second: str, difference: float, significant: bool) -> PairComparison:
    p = 0.001 if significant else 0.5
    return PairComparison(
        first=first, second=second, difference=difference, n=9, of=9, p=p, adjusted_p=p, significant=significant
    )


def test_a_range_lies_between_the_better_and_the_worse() -> None:
    pairs = [
        pair("a", "b", 0.1, False),
        pair("c", "a", -0.4, True),
        pair("b", "c", 0.3, True),
        pair("c", "d", 0.1, False),
        pair("a", "d", 0.5, True),
        pair("b", "d", 0.4, False),
    ]
    found = rank_sets({"a": 0.8, "b": 0.7, "c": 0.4, "d": 0.3}, pairs)
    assert [(m, e.value, e.low, e.high) for m, e in found.items()] == [
        ("a", 1, 1, 2),
        ("b", 2, 1, 3),
        ("c", 3, 3, 4),
        ("d", 4, 2, 4),
    ]


def test_all_true_ranks_are_held_together(matrix: Build) -> None:
    held = leader = 0
    for number in range(80):
        rng = np.random.default_rng(number)
        ability = np.linspace(0.4, -0.4, 8)  # close models, best first
        logits = ability[:, None] - rng.normal(0, 1.4, 120)
        board = matrix((rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(int))
        pairs = compare_pairs(board)
        assert not isinstance(pairs, Undefined)
        ranges = rank_sets(board.scores(), pairs)
        truth = {f"m{i}": i + 1 for i in range(8)}
        inside = {model: (e.low or 0) <= truth[model] <= (e.high or 0) for model, e in ranges.items()}
        held += all(inside.values())
        leader += inside[next(iter(ranges))]
    assert held >= 0.9 * 80 and leader >= 0.95 * 80


def test_bounds_are_joint(matrix: Build) -> None:
    # m1 gains only where m0 gains too: their own bounds overlap, but no choice lets m1 draw level. m2 can.
    board = matrix([[1, 1, 1, 0, 1, 1], [1, 1, 0, 0, 1, 1], [1, 0, 1, 1, 0, 0]])
    assert may_draw_level(board, ["t4", "t5"], "m0") == ("m2",)
    assert may_draw_level(board, ["t4", "t5"], "m2") == ("m0", "m1")
    for subset in ([], ["t4"], ["t5"], ["t4", "t5"]):
        scores = board.drop(set(["t4", "t5"]) - set(subset)).scores()
        assert scores["m1"] < scores["m0"]
