"""Every statistic of a matrix meets every input on which it has no meaning."""

from collections.abc import Callable

import pytest

from agenthard.audit.statistics import (
    ScoreMatrix,
    Undefined,
    arena_hard_separability,
    chance_corrected_agreement,
    compare_pairs,
    item_parameters,
    minimum_detectable_difference,
    model_agreement,
    paired_separability,
    rank_change_nulls,
    score_intervals,
    separability,
    top_unchanged,
)

STATISTICS: list[Callable[[ScoreMatrix], object]] = [
    arena_hard_separability,
    chance_corrected_agreement,
    compare_pairs,
    item_parameters,
    minimum_detectable_difference,
    model_agreement,
    paired_separability,
    lambda m: paired_separability(m, test="bootstrap"),
    lambda m: rank_change_nulls(m, m.take(range(len(m.tasks) - 1))),
    score_intervals,
    separability,
    top_unchanged,
]
INPUTS: dict[str, tuple[list[list[int | None]], str]] = {
    "one model": ([[1, 0, 1]], "1 model"),
    "one task": ([[1], [0]], "1 task"),
    "no task": ([[], []], "0 task"),
    "all pass": ([[1, 1, 1], [1, 1, 1]], "pass"),
    "all fail": ([[0, 0, 0], [0, 0, 0]], "fail"),
    "no common task": ([[1, 0, None, None], [None, None, 1, 0]], "task"),
}


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("name", INPUTS)
def test_the_reason_is_named_and_no_number_given(statistic: Callable[[ScoreMatrix], object], name: str) -> None:
    values, why = INPUTS[name]
    tasks = [f"t{i}" for i in range(len(values[0]))]
    result = statistic(ScoreMatrix.from_array(values, [f"m{i}" for i in range(len(values))], tasks))
    assert isinstance(result, Undefined), result
    assert result.reason.startswith("undefined because ")
    assert why in result.reason or statistic is item_parameters
