""" """

from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike
from sklearn.metrics import cohen_kappa_score

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    chance_corrected_agreement,
    cohen_kappa,
    krippendorff_alpha,
    model_agreement,
)

Build = Callable[[ArrayLike], ScoreMatrix]
TABLES = arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(2, 8)), elements=st.integers(0, 1))


def named(values: ArrayLike) -> ScoreMatrix:
    rows, columns = np.asarray(values, dtype=object).shape
    return ScoreMatrix.from_array(values, [f"m{i}" for i in range(rows)], [f"t{i}" for i in range(columns)])


def test_agreement_by_hand(matrix: Build) -> None:
    result = model_agreement(matrix([[1, 1, 0], [1, 0, 0], [0, 1, 1]]))
    # m0–m1: t0, t2 → 2/3; m0–m2: t1 → 1/3; m1–m2: none → 0; mean = 1/3
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(1 / 3, abs=1e-12)
    assert (result.n, result.of, result.unit) == (3, 3, "tasks")


def test_chance_correction_by_hand(matrix: Build) -> None:
    # p = 3/4, q = 1/4, agree on 2 of 4: A = 1/2; A_indep = 2 · 3/16 = 3/8; A_max = 1/2 → (1/8)/(1/8) = 1
    nested = chance_corrected_agreement(matrix([[1, 1, 1, 0], [1, 0, 0, 0]]))
    # the same scores, agree on none: (0 − 3/8)/(1/8) = −3
    apart = chance_corrected_agreement(matrix([[1, 1, 1, 0], [0, 0, 0, 1]]))
    assert isinstance(nested, Estimate) and isinstance(apart, Estimate)
    assert (nested.value, apart.value) == (pytest.approx(1, abs=1e-12), pytest.approx(-3, abs=1e-12))


def test_two_models_of_equal_score_have_cohens_kappa(matrix: Build) -> None:
    x, y = [1, 1, 0, 1, 0, 0, 1, 0], [1, 0, 0, 1, 1, 0, 1, 0]
    result = chance_corrected_agreement(matrix([x, y]))
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(cohen_kappa_score(x, y), abs=1e-12)


@given(TABLES)
def test_agreement_is_the_mean_share_of_equal_outcomes(values: np.ndarray) -> None:
    result = model_agreement(named(values))
    if len(set(values.ravel().tolist())) == 1:
        assert isinstance(result, Undefined)
        return
    assert isinstance(result, Estimate)
    expected = np.mean([(a == b).mean() for a, b in combinations(values, 2)])
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert 0 <= result.value <= 1


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_models_and_tasks_does_not_matter(values: np.ndarray, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffled = rng.permutation(rng.permutation(values, axis=0), axis=1)
    for statistic in (model_agreement, chance_corrected_agreement):
        one, other = statistic(named(values)), statistic(named(shuffled))
        assert type(one) is type(other)
        if isinstance(one, Estimate) and isinstance(other, Estimate):
            assert one.value == pytest.approx(other.value, abs=1e-9)
            assert one.value <= 1 + 1e-9


def test_missing_cells_are_left_out_pair_by_pair(matrix: Build) -> None:
    result = model_agreement(matrix([[1, 1, 0, None], [1, 0, None, None], [0, None, 0, None]]))
    # m0–m1: t0 of t0, t1 → 1/2; m0–m2: t2 of t0, t2 → 1/2; m1–m2: none of t0 → 0; mean 1/3
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(1 / 3, abs=1e-12)
    assert (result.n, result.of) == (3, 4)
    assert "3 of 3 pairs" in result.method and "(5 of 12 comparisons)" in result.method


def test_the_path_with_gaps_agrees_with_the_closed_form(leveled: ScoreMatrix) -> None:
    rows = leveled.passed.astype(object)
    gap = np.full((len(rows), 1), None, dtype=object)
    for statistic in (model_agreement, chance_corrected_agreement):
        closed, gappy = statistic(leveled), statistic(named(np.hstack([rows, gap])))
        assert isinstance(closed, Estimate) and isinstance(gappy, Estimate)
        assert closed.value == pytest.approx(gappy.value, abs=1e-12)


def test_pairs_without_a_common_task(matrix: Build) -> None:
    result = model_agreement(matrix([[1, 0, None], [None, None, 1], [1, 1, None]]))
    assert isinstance(result, Estimate)
    assert result.value == 0.5
    assert "1 of 3 pairs" in result.method
    nothing = model_agreement(matrix([[1, None], [None, 0]]))
    assert isinstance(nothing, Undefined) and "same task" in nothing.reason


def test_repeated_runs_agree_by_chance_of_random_runs() -> None:
    runs = np.full((2, 2), 4, np.int32)
    empty = np.zeros((2, 2), np.int32)
    m = ScoreMatrix(("a", "b"), ("s", "t"), np.array([[4, 2], [3, 2]], np.int32), runs, empty, empty.astype(np.int8))
    result = model_agreement(m)
    # s: 1 · 3/4; t: 1/2 · 1/2 + 1/2 · 1/2 = 1/2; mean = 5/8
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(5 / 8, abs=1e-12)


def test_fixed_agreement_cannot_be_corrected(matrix: Build) -> None:
    result = chance_corrected_agreement(matrix([[1, 1, 1], [1, 0, 0]]))
    assert isinstance(result, Undefined) and "fixed by the scores" in result.reason


# Three coders, 15 units (the worked example of the Wikipedia article on Krippendorff's alpha).
CODERS = (
    "* * * * * 3 4 1 2 1 1 3 3 * 3",
    "1 * 2 1 3 3 4 3 * * * * * * *",
    "* * 2 1 3 4 4 * 2 1 1 3 3 * 4",
)
UNITS = list(zip(*[[None if c == "*" else int(c) for c in row.split()] for row in CODERS], strict=True))
LABELS = st.lists(st.tuples(*[st.sampled_from([0, 1, 2])] * 2), min_size=2, max_size=12)


def brute_force(units: list[tuple[int | None, ...]], distance: str) -> float:
    def d(a: int, b: int) -> float:
        return float((a - b) ** 2 if distance == "interval" else a != b)

    kept = [[v for v in unit if v is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    pooled = [v for unit in kept for v in unit]
    n = len(pooled)
    observed = sum(sum(d(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in kept) / n
    expected = sum(d(a, b) for a, b in permutations(pooled, 2)) / (n * (n - 1))
    return 1 - observed / expected


@pytest.mark.parametrize(("metric", "published"), [("nominal", 0.691), ("interval", 0.811)])
def test_the_published_example(metric: str, published: float) -> None:
    result = krippendorff_alpha(UNITS, metric)  # type: ignore[arg-type]
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(published, abs=5e-4)
    assert result.value == pytest.approx(brute_force(UNITS, metric), abs=1e-12)
    # of 15 units, 2 have no label and 1 has one
    assert (result.n, result.of) == (12, 15)
    assert result.low is not None and result.high is not None and result.low < result.value < result.high


def test_ordinal_distance_counts_the_labels_between() -> None:
    # pooled labels 1: 3, 2: 2, 3: 1; the distance of 1 and 3 is 3/2 + 2 + 1/2 = 4, of 1 and 2: 5/2, of 2 and 3: 3/2
    # D_o: units (1, 1), (1, 2), (2, 3): (0 + 25/4 + 9/4) · 2 / 6 = 17/6
    # D_e: 2 · (3·2·25/4 + 3·1·16 + 2·1·9/4) / 30 = 2 · (37.5 + 48 + 4.5)/30 = 6 → α = 1 − 17/36
    result = krippendorff_alpha([(1, 1), (1, 2), (2, 3)], "ordinal")
    assert isinstance(result, Estimate) and result.value == pytest.approx(1 - 17 / 36, abs=1e-12)


@given(LABELS)
def test_alpha_is_its_definition_and_forgets_who_said_what(pairs: list[tuple[int, int]]) -> None:
    result = krippendorff_alpha(pairs, resamples=10)
    swapped = krippendorff_alpha([pair[::-1] for pair in reversed(pairs)], resamples=10)
    if len({label for pair in pairs for label in pair}) == 1:
        assert isinstance(result, Undefined) and "D_e = 0" in result.reason
        return
    assert isinstance(result, Estimate) and isinstance(swapped, Estimate)
    assert result.value == pytest.approx(brute_force(list(pairs), "nominal"), abs=1e-9)
    assert result.value == pytest.approx(swapped.value, abs=1e-12)


@given(LABELS)
def test_kappa_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    result = cohen_kappa(first, second, resamples=10)
    if len({*first, *second}) == 1:
        assert isinstance(result, Undefined) and "p_e = 1" in result.reason
        return
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)


def test_kappa_by_hand() -> None:
    # table 20 5 / 10 15: p_o = 35/50, p_e = (25·30 + 25·20)/2500 = 1/2 → κ = .4
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    result = cohen_kappa(first, second)
    assert isinstance(result, Estimate) and result.value == pytest.approx(0.4, abs=1e-12)
    # its large-sample standard error is about sqrt(.7 · .3/(50 · .25)) = .13, so the interval is about ± .25
    assert result.low == pytest.approx(0.4 - 0.25, abs=0.05) and result.high == pytest.approx(0.4 + 0.25, abs=0.05)


def test_skipped_items_are_left_out() -> None:
    result = cohen_kappa(["a", None, "b", "a"], ["a", "b", "b", None])
    assert isinstance(result, Estimate) and (result.value, result.n, result.of) == (1, 2, 4)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (["a"], ["a"], "needs two"),
        (["a", None], [None, "a"], "needs two"),
        (["a", "a"], ["a", "a"], "p_e = 1"),
        ([1.0, float("nan")], [1.0, 0.0], "NaN"),
    ],
)
def test_agreement_that_does_not_exist_is_not_1(first: list[str], second: list[str], why: str) -> None:
    result = cohen_kappa(first, second)
    assert isinstance(result, Undefined) and why in result.reason
    units = list(zip(first, second, strict=True))
    alpha = krippendorff_alpha(units)
    assert isinstance(alpha, Undefined) and why.replace("p_e = 1", "D_e = 0") in alpha.reason


def test_raters_label_the_same_items_with_fitting_labels() -> None:
    with pytest.raises(ValueError, match="got 1 and 2 labels"):
        cohen_kappa(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="ordinal labels are numbers"):
        krippendorff_alpha([("low", "high"), ("low", "low")], "ordinal")


def test_blocks_of_resamples_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = krippendorff_alpha(UNITS, resamples=100)
    monkeypatch.setattr("agenthard.audit.statistics.agreement._BLOCK_CELLS", 64)
    blocks = krippendorff_alpha(UNITS, resamples=100)
    assert isinstance(whole, Estimate) and isinstance(blocks, Estimate)
    assert np.isclose(whole.value, blocks.value) and whole.low == pytest.approx(blocks.low, abs=1e-12)
