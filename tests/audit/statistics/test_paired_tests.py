from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import binomtest, norm

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    compare_pairs,
    holm,
    mcnemar_exact,
    paired_separability,
    tied_sets,
)

Build = Callable[[ArrayLike], ScoreMatrix]


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_a_two_sided_binomial_test(b: int, c: int) -> None:
    expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c).item() == pytest.approx(expected, abs=1e-9)


def test_holm_by_hand() -> None:
    # sorted .01 .02 .03 .04 → × 4, 3, 2, 1 = .04 .06 .06 .04, never falling: .04 .06 .06 .06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06], abs=1e-12)
    assert holm([]) == []
    with pytest.raises(ValueError, match="not NaN"):
        holm([float("nan")])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_the_raw_values_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    for raw, one in zip(p, adjusted, strict=True):
        assert raw <= one <= min(1, len(p) * raw) + 1e-12


def test_pairs_are_tested_on_their_common_tasks(matrix: Build) -> None:
    pairs = compare_pairs(matrix([[1, 1, 1, 0, None], [0, 0, 1, 1, 1], [0, 0, None, None, 1]]))
    assert not isinstance(pairs, Undefined)
    first = pairs[0]
    # m0 alone passes t0, t1; m1 alone t3: b, c = 2, 1 → p = 2 · (1 + 3)/8 = 1
    assert (first.first, first.second, first.n, first.of, first.p) == ("m0", "m1", 4, 5, pytest.approx(1.0))
    assert first.difference == pytest.approx(1 / 4)
    # m0 against m2: t0, t1 → b, c = 2, 0 → p = 2/4
    assert (pairs[1].n, pairs[1].p, pairs[1].difference) == (2, pytest.approx(0.5, abs=1e-12), 1.0)


def test_identical_models_are_not_separated(matrix: Build) -> None:
    m = matrix([[1, 0, 1, 1, 0, 1]] * 4)
    for test in ("mcnemar", "bootstrap"):
        result = paired_separability(m, test=test)
        assert isinstance(result, Estimate) and result.value == 0


def test_separation_is_counted_over_all_pairs(matrix: Build) -> None:
    good, fair = [1] * 30 + [0] * 10, [1] * 28 + [0] * 12
    bad = [0] * 36 + [1] * 4
    for test in ("mcnemar", "bootstrap"):
        result = paired_separability(matrix([good, fair, bad]), test=test)
        assert isinstance(result, Estimate)
        assert result.value == pytest.approx(200 / 3, abs=1e-12)
        assert (result.n, result.of, result.level) == (3, 3, 0.95)


def test_a_paired_test_finds_what_an_unpaired_one_misses(matrix: Build) -> None:
    # lm-eval compares models on the same tasks by an unpaired z-test. Here one passes all of the other's and 12.
    strong, weak = [1] * 112 + [0] * 88, [1] * 100 + [0] * 100
    pairs = compare_pairs(matrix([strong, weak]))
    assert not isinstance(pairs, Undefined)
    # p = 2 / 2^12
    assert pairs[0].p == pytest.approx(2 / 4096, abs=1e-12) and pairs[0].significant
    z = 0.06 / np.sqrt(0.56 * 0.44 / 200 + 0.5 * 0.5 / 200)
    assert 2 * norm.sf(z) > 0.2


def test_the_bootstrap_agrees_with_mcnemar_on_clear_cases(leveled: ScoreMatrix) -> None:
    exact, resampled = compare_pairs(leveled), compare_pairs(leveled, test="bootstrap")
    assert not isinstance(exact, Undefined) and not isinstance(resampled, Undefined)
    for one, other in zip(exact, resampled, strict=True):
        assert one.difference == pytest.approx(other.difference, abs=1e-12)
        if not 0.01 < one.adjusted_p < 0.2:
            assert one.significant == other.significant


def test_too_small_a_bootstrap_is_undefined(leveled: ScoreMatrix) -> None:
    # 28 pairs at 5 %: 2/(B + 1) ≤ .05/28 needs B ≥ 1119
    result = paired_separability(leveled, test="bootstrap", resamples=1118)
    assert isinstance(result, Undefined) and "use at least 1119" in result.reason
    assert isinstance(paired_separability(leveled, test="bootstrap", resamples=1119), Estimate)


def test_mcnemar_refuses_clusters_and_several_runs(leveled: ScoreMatrix) -> None:
    clustered = paired_separability(leveled, clusters=["c"] * len(leveled.tasks))
    assert isinstance(clustered, Undefined) and "use the bootstrap" in clustered.reason
    doubled = ScoreMatrix(
        leveled.models, leveled.tasks, leveled.passed * 2, leveled.runs * 2, leveled.lost, leveled.reasons
    )
    repeated = paired_separability(doubled)
    assert isinstance(repeated, Undefined) and "one run per cell" in repeated.reason
    assert isinstance(paired_separability(doubled, test="bootstrap"), Estimate)


def test_tied_sets_may_overlap(matrix: Build) -> None:
    m = matrix([[1] * (60 - 5 * i) + [0] * (5 * i) for i in range(4)])
    # neighbours differ on 5 tasks (p = 2/32), models two ranks apart on 10 (2/1024), three on 15 (2/32768)
    pairs = compare_pairs(m)
    assert not isinstance(pairs, Undefined)
    assert tied_sets(m.scores(), pairs) == (("m0", "m1"), ("m1", "m2"), ("m2", "m3"))
    lenient = compare_pairs(m, alpha=0.001)
    assert not isinstance(lenient, Undefined)
    assert tied_sets(m.scores(), lenient) == (("m0", "m1", "m2"), ("m1", "m2", "m3"))
