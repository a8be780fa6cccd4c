from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from agenthard.audit.statistics import Estimate, Undefined, cohen_kappa, krippendorff_alpha

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
    monkeypatch.setattr("agenthard.audit.statistics.krippendorff._BLOCK_CELLS", 64)
    blocks = krippendorff_alpha(UNITS, resamples=100)
    assert isinstance(whole, Estimate) and isinstance(blocks, Estimate)
    assert np.isclose(whole.value, blocks.value) and whole.low == pytest.approx(blocks.low, abs=1e-12)
