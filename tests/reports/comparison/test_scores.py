"""Two tables of scores: one set of outputs under two answer keys."""

from math import log

import pytest

from agenthard.audit.statistics import (
    DifferentModelsError,
    Estimate,
    NullBand,
    ScoreMatrix,
    Undefined,
    paired_difference,
)
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.comparison.scores import compare_scores

SETTINGS = AnalysisSettings(draws=200, resamples=100)
TASKS = [f"t{i}" for i in range(6)]


def table(rows: list[list[int | None]], models: str = "ab", tasks: list[str] | None = None) -> ScoreMatrix:
    return ScoreMatrix.from_array(rows, list(models), tasks or TASKS)


def test_flips_deltas_and_ranks() -> None:
    # The key of t4 is mended: b gains; that of t5 too: a loses, b gains.
    first = table([[1, 1, 1, 0, 0, 1], [1, 1, 0, 0, 0, 0]])
    second = table([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1]])
    found = compare_scores(first, second, SETTINGS)
    assert [(flip.task_id, flip.gained, flip.lost) for flip in found.flips] == [("t5", 1, 1), ("t4", 1, 0)]
    a, b = found.models
    assert (a.model, a.gained, a.lost, b.model, b.gained, b.lost) == ("a", 0, 1, "b", 2, 0)
    assert isinstance(b.difference, Estimate) and b.difference.value == pytest.approx(2 / 6)
    oracle = paired_difference([1, 1, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0])
    assert isinstance(oracle, Estimate) and (b.difference.low, b.difference.high) == (oracle.low, oracle.high)
    assert not isinstance(found.moves, Undefined)
    assert [(m.model, m.initial_rank, m.later_rank) for m in found.moves] == [("a", 1, 2), ("b", 2, 1)]
    by_name = {measure.id: measure for measure in found.measures}
    null = by_name["change_rate"].null
    assert isinstance(null, NullBand) and (null.n, null.of, null.observed) == (6, 6, 1.0)
    rate = by_name["change_rate"].observed
    assert isinstance(rate, Estimate) and rate.value == 1 and rate.low is not None
    # Σ (log p)²: on t4 and t5 one of two models moves each way, 2 P(Binomial(2, 1/4) ≥ 1) = 7/8
    assert by_name["together"].null.observed == pytest.approx(2 * log(7 / 8) ** 2)  # type: ignore[union-attr]
    assert not any(flip.rescored for flip in found.flips)
    assert found.sentence.startswith(
        "On 6 common tasks, the scores of 2 tasks differ for some of 2 models: 2 scores rise and 1 fall"
    )
    assert found.sentence.endswith("2 models are too few to tell any single task from noise.")


def test_other_tasks_and_missing_cells_are_left_out_and_counted() -> None:
    first = table([[1, 0, None], [0, 1, 1]], tasks=["t0", "t1", "t2"])
    second = table([[1, 1, 1], [1, 0, 1]], tasks=["t2", "t1", "t9"])
    found = compare_scores(first, second, SETTINGS)
    assert (found.tasks, found.of) == (1, 2)
    assert (found.only_first, found.only_second) == (("t0",), ("t9",))
    assert [(m.gained, m.lost) for m in found.models] == [(0, 1), (1, 0)]
    assert [m.model for m in found.models] == ["b", "a"]


def test_models_are_matched_by_name_and_different_ones_are_refused() -> None:
    first = table([[1, 1, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0]])
    swapped = table([[0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0]], models="ba")
    same = compare_scores(first, swapped, SETTINGS)
    assert same.flips == () and all(isinstance(m.difference, Undefined) for m in same.models)
    assert all(isinstance(measure.null, Undefined) for measure in same.measures)
    assert "nothing can be compared" in same.sentence
    with pytest.raises(DifferentModelsError, match="only the first side has"):
        compare_scores(first, table([[1] * 6, [0] * 6], models="ac"), SETTINGS)
