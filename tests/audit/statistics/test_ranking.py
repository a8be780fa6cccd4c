""" """

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import kendalltau

from agenthard.audit.statistics import (
    DifferentModelsError,
    Estimate,
    ScoreMatrix,
    Undefined,
    average_rank_shift,
    close_pairs,
    indistinguishable_groups,
    indistinguishable_models,
    kendall_tau_b,
    ordinal_ranks,
    rank_moves,
    ranking_change_rate,
    top_unchanged,
)

Published = dict[str, dict[str, float]]
SCORES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=8)


@pytest.mark.parametrize(
    ("version", "changed", "rate", "total", "mean"),
    [("issue-filtered", 9, "56.2", 14, "0.88"), ("hard", 12, "75.0", 18, "1.12")],
)
def test_the_published_rank_changes(
    published: Published, version: str, changed: int, rate: str, total: int, mean: str
) -> None:
    change = ranking_change_rate(published["initial"], published[version])
    shift = average_rank_shift(published["initial"], published[version])
    assert isinstance(change, Estimate) and isinstance(shift, Estimate)
    assert (change.value * 16, shift.value * 16, change.n) == (changed, total, 16)
    assert (f"{100 * change.value:.1f}", f"{shift.value:.2f}") == (rate, mean)


@pytest.mark.parametrize(("version", "models", "pairs"), [("initial", 8, 5), ("issue-filtered", 8, 4), ("hard", 2, 1)])
def test_the_published_indistinguishable_models(published: Published, version: str, models: int, pairs: int) -> None:
    by_group, by_pair = indistinguishable_models(published[version]), close_pairs(published[version])
    assert isinstance(by_group, Estimate) and isinstance(by_pair, Estimate)
    assert (by_group.value, by_pair.value) == (models, pairs)


def test_a_group_is_measured_from_its_first_model() -> None:
    # .600, .594 and .588 are each .006 apart, but .588 is .012 below .600
    scores = {"a": 0.600, "b": 0.594, "c": 0.588}
    assert indistinguishable_groups(scores) == (("a", "b"),)
    # exactly the threshold apart belongs to the group, whatever 0.64 − 0.63 is in binary
    assert indistinguishable_groups({"a": 0.64, "b": 0.63}) == (("a", "b"),)
    assert close_pairs({"a": 0.64, "b": 0.63}) == close_pairs({"a": 0.9, "b": 0.1})


def test_ties_keep_the_initial_order() -> None:
    initial = {"a": 0.5, "b": 0.7, "c": 0.5, "d": 0.2}
    assert ordinal_ranks(initial) == {"a": 2, "b": 1, "c": 3, "d": 4}
    # all tied later: no model moves, because ties keep the initial ranking and not the order of the file
    assert [move.shift for move in rank_moves(initial, dict.fromkeys(initial, 0.4))] == [0, 0, 0, 0]


def test_rounding_errors_break_no_tie() -> None:
    assert ordinal_ranks({"a": 0.3, "b": 0.1 + 0.2}) == {"a": 1, "b": 2}


def test_moves_say_who_went_where() -> None:
    moves = rank_moves({"a": 0.9, "b": 0.8, "c": 0.7}, {"c": 0.9, "a": 0.5, "b": 0.4})
    assert [(move.model, move.initial_rank, move.later_rank, move.shift) for move in moves] == [
        ("a", 1, 2, -1),
        ("b", 2, 3, -1),
        ("c", 3, 1, 2),
    ]


@given(SCORES)
def test_kendalls_tau_is_scipys(pairs: list[tuple[int, int]]) -> None:
    initial = {f"m{i}": a / 6 for i, (a, _) in enumerate(pairs)}
    later = {f"m{i}": b / 6 for i, (_, b) in enumerate(pairs)}
    result = kendall_tau_b(initial, later)
    expected = kendalltau([a for a, _ in pairs], [b for _, b in pairs]).statistic
    if np.isnan(expected):
        assert isinstance(result, Undefined)
    else:
        assert isinstance(result, Estimate) and result.value == pytest.approx(expected, abs=1e-9)


@given(SCORES)
def test_shifts_cancel_and_a_version_does_not_differ_from_itself(pairs: list[tuple[int, int]]) -> None:
    initial = {f"m{i}": a / 6 for i, (a, _) in enumerate(pairs)}
    later = {f"m{i}": b / 6 for i, (_, b) in enumerate(pairs)}
    assert sum(move.shift for move in rank_moves(initial, later)) == 0
    same = ranking_change_rate(initial, initial)
    assert isinstance(same, Undefined) or same.value == 0


def test_tau_by_hand() -> None:
    # pairs of (1, 2, 3, 3) and (1, 3, 2, 4): of 6, concordant 4, discordant 1, tied on the first 1
    result = kendall_tau_b(dict(zip("abcd", (1, 2, 3, 3), strict=True)), dict(zip("abcd", (1, 3, 2, 4), strict=True)))
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx((4 - 1) / np.sqrt(5 * 6), abs=1e-12)


@pytest.mark.parametrize("statistic", [ranking_change_rate, average_rank_shift, kendall_tau_b])
def test_rankings_that_do_not_exist_are_undefined(statistic: type) -> None:
    two = {"a": 0.5, "b": 0.4}
    for initial, later, why in (
        ({"a": 0.5}, {"a": 0.4}, "needs two"),
        ({"a": 0.5, "b": 0.5}, two, "same initial score"),
        ({"a": float("nan"), "b": 0.5}, two, "NaN"),
        (two, {"a": float("nan"), "b": 0.5}, "NaN"),
    ):
        result = statistic(initial, later)
        assert isinstance(result, Undefined) and why in result.reason
    with pytest.raises(DifferentModelsError, match=r"\['b'\].*\['c'\]"):
        statistic(two, {"a": 0.5, "c": 0.4})


def test_counts_of_close_models_can_be_undefined() -> None:
    for scores in ({"a": 0.5}, {"a": 0.5, "b": 0.5}, {"a": 0.5, "b": float("nan")}):
        assert isinstance(indistinguishable_models(scores), Undefined)
        assert isinstance(close_pairs(scores), Undefined)
    with pytest.raises(ValueError, match="'b' has no score"):
        ordinal_ranks({"a": 0.5, "b": float("nan")})


Build = Callable[[ArrayLike], ScoreMatrix]


def test_the_chance_of_a_new_leader_by_enumeration(matrix: Build) -> None:
    # m0 passes t0, t1; m1 passes t2. Of 27 resamples of 3 tasks, m1 leads where t2 is drawn twice (6) or thrice (1).
    # With four tasks, one that both fail, they also tie: a shared first place counts one half.
    result = top_unchanged(matrix([[1, 1, 0], [0, 0, 1]]), resamples=40_000)
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(20 / 27, abs=4 * np.sqrt(20 * 7 / 27**2 / 40_000))
    shared = top_unchanged(matrix([[1, 1, 0, 0], [0, 0, 1, 0]]), resamples=40_000)
    draws = [(a.count(0) + a.count(1), a.count(2)) for a in product(range(4), repeat=4)]
    exact = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in draws])
    assert isinstance(shared, Estimate) and shared.value == pytest.approx(exact, abs=0.01)


def test_a_shared_lead_is_undefined(matrix: Build) -> None:
    result = top_unchanged(matrix([[1, 1, 0], [1, 0, 1], [0, 0, 1]]))
    assert isinstance(result, Undefined) and "share first place: m0, m1" in result.reason


def test_models_that_all_tie_have_no_ranks(matrix: Build) -> None:
    result = top_unchanged(matrix([[1, 0], [0, 1]]))
    assert isinstance(result, Undefined) and "same initial score" in result.reason
