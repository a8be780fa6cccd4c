from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.statistics import MatrixError, ScoreMatrix, Undefined, score_bounds


@given(st.lists(st.integers(0, 1), min_size=1, max_size=5), st.lists(st.integers(0, 1), max_size=6))
def test_bounds_are_those_of_all_subsets(sure: list[int], maybe: list[int]) -> None:
    tasks = [f"s{i}" for i in range(len(sure))] + [f"u{i}" for i in range(len(maybe))]
    m = ScoreMatrix.from_array([sure + maybe], ["a"], tasks)
    bounds = score_bounds(m, tasks[len(sure) :])
    assert not isinstance(bounds, Undefined)
    subsets = chain.from_iterable(combinations(maybe, k) for k in range(len(maybe) + 1))
    scores = [np.mean(sure + list(subset)) for subset in subsets]
    assert (bounds[0].least, bounds[0].most) == (pytest.approx(min(scores)), pytest.approx(max(scores)))
    assert bounds[0].kept == pytest.approx(np.mean(sure + maybe))
    assert bounds[0].dropped == pytest.approx(np.mean(sure))


def test_without_decided_tasks_there_are_no_bounds() -> None:
    m = ScoreMatrix.from_array([[1, None], [0, 1]], ["a", "b"], ["u", "t"])
    result = score_bounds(m, ["u"])
    assert isinstance(result, Undefined) and "no decided task" in result.reason
    with pytest.raises(MatrixError):
        score_bounds(m, ["x"])
