import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from agenthard.audit.statistics import (
    Estimate,
    Result,
    Undefined,
    clopper_pearson_interval,
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
        assert isinstance(empty, Undefined) and empty.reason == "undefined because there are no tasks"
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
