from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.statistics import (
    Estimate,
    MatrixError,
    ScoreMatrix,
    Undefined,
    pass_at_k,
    pass_hat_k,
    trial_counts,
)

COUNTS = st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(COUNTS, min_size=1, max_size=5), st.integers(1, 4))
def test_both_are_the_share_of_k_subsets_of_the_trials(counts: list[tuple[int, int]], k: int) -> None:
    usable = [(c, n) for c, n in counts if n >= k]
    all_of, any_of = Fraction(0), Fraction(0)
    for c, n in usable:
        subsets = list(combinations([1] * c + [0] * (n - c), k))
        all_of += Fraction(sum(all(s) for s in subsets), len(subsets))
        any_of += Fraction(sum(any(s) for s in subsets), len(subsets))
    for result, expected in ((pass_hat_k(counts, k), all_of), (pass_at_k(counts, k), any_of)):
        if not usable:
            assert isinstance(result, Undefined) and f"{k} scored trials" in result.reason
            continue
        assert isinstance(result, Estimate)
        assert result.value == pytest.approx(float(expected / len(usable)), abs=1e-9)
        assert (result.n, result.of) == (len(usable), len(counts))


def test_with_one_trial_they_are_the_pass_rate() -> None:
    counts = [(3, 4), (0, 4), (4, 4)]
    hat, at = pass_hat_k(counts, 1), pass_at_k(counts, 1)
    assert isinstance(hat, Estimate) and isinstance(at, Estimate)
    assert hat.value == pytest.approx(at.value) == pytest.approx(7 / 12)
    # spread of 3/4, 0, 1 over √3
    assert hat.standard_error == pytest.approx(np.std([0.75, 0, 1], ddof=1) / np.sqrt(3), abs=1e-12)


def test_without_a_spread_there_is_no_interval() -> None:
    result = pass_hat_k([(2, 2)], 2)
    assert isinstance(result, Estimate) and (result.value, result.low, result.level) == (1.0, None, None)


def test_impossible_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        pass_hat_k([(3, 2)], 1)
    with pytest.raises(ValueError, match="k is at least 1"):
        pass_at_k([(1, 2)], 0)


def test_trials_are_counted_from_a_matrix() -> None:
    none = np.zeros((1, 2), np.int32)
    m = ScoreMatrix(
        ("a",), ("s", "t"), np.array([[1, 0]], np.int32), np.array([[4, 0]], np.int32), none, none.astype(np.int8)
    )
    assert trial_counts(m, "a") == ((1, 4), (0, 0))
    with pytest.raises(MatrixError):
        trial_counts(m, "b")
