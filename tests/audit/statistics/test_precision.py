import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.statistics import Estimate, Undefined, prevalence_adjusted_precision


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
