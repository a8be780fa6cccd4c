""" """

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from agenthard.audit.statistics import (
    Estimate,
    Result,
    Undefined,
    clopper_pearson_interval,
    prevalence_adjusted_precision,
    share_with_undecided,
    wilson_interval,
)

COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("interval", "method"), [(wilson_interval, "wilson"), (clopper_pearson_interval, "exact")])
@given(counts=COUNTS, level=st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_are_scipys(interval: type[Result], method: str, counts: tuple[int, int], level: float) -> None:
    k, n = counts
    result = interval(k, n, level)  # type: ignore[operator]
    expected = binomtest(k, n).proportion_ci(level, method)
    assert result.value == k / n
    assert (result.low, result.high) == (
        pytest.approx(expected.low, abs=1e-9),
        pytest.approx(expected.high, abs=1e-9),
    )
    assert 0 <= result.low <= result.value <= result.high <= 1


def test_no_trials_and_impossible_counts() -> None:
    for interval in (wilson_interval, clopper_pearson_interval):
        empty = interval(0, 0, unit="tasks")
        assert isinstance(empty, Undefined) and empty.reason == "undefined because the number of tasks is 0"
        with pytest.raises(ValueError, match="0..n"):
            interval(3, 2)
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            interval(1, 2, 95)


def test_a_time_out_is_no_flag() -> None:
    # a released pipeline counts API time-outs as flagged tasks: here it would report 30 of 100
    share = share_with_undecided(yes=10, no=70, undecided=20)
    assert isinstance(share.decided, Estimate)
    assert (share.decided.value, share.decided.n, share.decided.of) == (10 / 80, 80, 100)
    assert isinstance(share.least, Estimate) and isinstance(share.most, Estimate)
    assert (share.least.value, share.most.value) == (0.10, 0.30)


def test_nothing_decided() -> None:
    share = share_with_undecided(0, 0, 5)
    assert isinstance(share.decided, Undefined)
    assert isinstance(share.least, Estimate) and isinstance(share.most, Estimate)
    assert (share.least.value, share.most.value) == (0, 1)
    assert isinstance(share_with_undecided(0, 0, 0).most, Undefined)
    with pytest.raises(ValueError, match="0 or more"):
        share_with_undecided(-1, 0, 0)


@pytest.mark.parametrize(("precision", "expected"), [(0.8, 4 / 13), (0.85, 17 / 44)])
def test_what_a_balanced_sample_promises_and_ten_percent_keep(precision: float, expected: float) -> None:
    # likelihood ratio p/(1 − p): 4 → .4/(.4 + .9) = 4/13; 17/3 → (17/30)/(17/30 + 9/10) = 17/44
    tp = round(100 * precision)
    result = prevalence_adjusted_precision(tp, 100 - tp, 100 - tp, tp, 0.1)
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert 0.3 < result.value < 0.4
    assert result.low is not None and result.high is not None and result.low < result.value < result.high


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_at_the_samples_own_prevalence_it_is_the_samples_precision(tp: int, fn: int, fp: int, tn: int) -> None:
    if not (tp + fn and fp + tn):
        return
    result = prevalence_adjusted_precision(tp, fn, fp, tn, (tp + fn) / (tp + fn + fp + tn))
    if tp + fp == 0:
        assert isinstance(result, Undefined)
        return
    assert isinstance(result, Estimate) and result.value == pytest.approx(tp / (tp + fp), abs=1e-9)


def test_the_interval_covers_at_its_level() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    truth = 0.7 * 0.1 / (0.7 * 0.1 + 0.1 * 0.9)
    hits = 0
    for tp, fp in zip(rng.binomial(200, 0.7, 400), rng.binomial(200, 0.1, 400), strict=True):
        result = prevalence_adjusted_precision(int(tp), int(200 - tp), int(fp), int(200 - fp), 0.1)
        assert isinstance(result, Estimate) and result.low is not None and result.high is not None
        hits += result.low <= truth <= result.high
    # 380 ± 4.4 expected of 400
    assert 362 <= hits <= 394


def test_without_labels_or_flags_there_is_no_precision() -> None:
    for counts, why in (((0, 0, 1, 1), "flawed"), ((1, 1, 0, 0), "sound"), ((0, 3, 0, 3), "flagged")):
        result = prevalence_adjusted_precision(*counts, 0.1)
        assert isinstance(result, Undefined) and f"no labelled task is {why}" in result.reason
    perfect = prevalence_adjusted_precision(5, 0, 0, 5, 0.1)
    assert isinstance(perfect, Estimate) and (perfect.value, perfect.low) == (1.0, None)
    for prevalence in (0, 1, 10):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            prevalence_adjusted_precision(1, 1, 1, 1, prevalence)
    with pytest.raises(ValueError, match="0 or more"):
        prevalence_adjusted_precision(-1, 1, 1, 1, 0.1)
