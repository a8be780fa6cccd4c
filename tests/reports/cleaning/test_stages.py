"""The stage table: sizes, compression, and statistics compared with random subsets."""

import pytest

from agenthard.audit.statistics import Estimate, NullBand, ScoreMatrix, Undefined
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import split_id
from agenthard.reports.cleaning.stability import Groups
from agenthard.reports.cleaning.stages import PromptStatistics, ScoreStatistics, stage_table

SETTINGS = AnalysisSettings(draws=200, resamples=50)
TASKS = [f"t{i}" for i in range(10)]
PROMPTS = {task: f"word{i} common" for i, task in enumerate(TASKS)}
CATEGORIES = {task: "a" if i < 8 else "b" for i, task in enumerate(TASKS)}


def test_sizes_compressions_and_stages_that_were_not_run() -> None:
    scores = ScoreStatistics(undefined("no runs were given"), Groups(), SETTINGS)
    rows = stage_table(
        CATEGORIES,
        {"initial": TASKS, "rules": TASKS[:9], "execution": "no package", "judge": "no model", "difficulty": TASKS[:6]},
        scores,
        PromptStatistics(PROMPTS, Groups(), SETTINGS),
    )
    assert [(row.name, row.ran, row.n, row.removed) for row in rows] == [
        ("initial", True, 10, 0),
        ("rules", True, 9, 1),
        ("execution", False, None, None),
        ("judge", False, None, None),
        ("difficulty", True, 6, 3),
    ]
    assert rows[2].reason == "not run: no package"
    assert rows[4].split_id == split_id(TASKS[:6])
    original, previous, macro = rows[4].from_original, rows[4].from_previous, rows[4].macro_compression
    assert isinstance(original, Estimate) and original.value == pytest.approx(4 / 10)
    assert isinstance(previous, Estimate) and previous.value == pytest.approx(3 / 9)
    # Of a 6 of 8 are left, of b 0 of 2: (1/4 + 1) / 2.
    assert isinstance(macro, Estimate) and macro.value == pytest.approx(0.625)
    assert isinstance(rows[0].from_previous, Undefined)
    assert rows[4].note and not rows[1].note


def test_without_scores_diversity_is_still_there() -> None:
    row = stage_table(
        CATEGORIES,
        {"initial": TASKS, "rules": TASKS[:9]},
        ScoreStatistics(undefined("no runs were given"), Groups(), SETTINGS),
        PromptStatistics(PROMPTS, Groups(), SETTINGS),
    )[1]
    found = {measure.id: measure for measure in row.measures}
    assert isinstance(found["agreement"].observed, Undefined) and "no runs" in found["agreement"].sentence
    diversity = found["diversity"]
    assert isinstance(diversity.observed, Estimate) and isinstance(diversity.null, NullBand)
    assert (diversity.null.n, diversity.null.of) == (9, 10)


def test_scores_are_compared_with_the_original_and_random_subsets_of_equal_size() -> None:
    rows = [[1, 0] * 5, [1, 1, 0, 0, 1] * 2, [0, 0, 1, 0, 0] * 2]
    matrix = ScoreMatrix.from_array(rows, ["a", "b", "c"], TASKS)
    agreement, corrected, separability = ScoreStatistics(matrix, Groups(), SETTINGS).of_split(TASKS[:5])
    # Counted pair by pair on the first five tasks.
    a, b, c = ([row[i] for i in range(5)] for row in rows)
    pairs = [sum(x == y for x, y in zip(p, q, strict=True)) / 5 for p, q in ((a, b), (a, c), (b, c))]
    assert isinstance(agreement.observed, Estimate) and agreement.observed.value == pytest.approx(sum(pairs) / 3)
    for measure in (agreement, corrected, separability):
        assert isinstance(measure.null, NullBand)
        assert (measure.null.n, measure.null.of, measure.null.of_draws) == (5, 10, 200)
        assert measure.original is not None


def test_a_stage_that_leaves_nothing_has_reasons() -> None:
    matrix = ScoreMatrix.from_array([[1, 0] * 5, [0, 1] * 5], ["a", "b"], TASKS)
    for measure in (
        *ScoreStatistics(matrix, Groups(), SETTINGS).of_split([]),
        *PromptStatistics(PROMPTS, Groups(), SETTINGS).of_split([]),
    ):
        assert isinstance(measure.observed, Undefined) and isinstance(measure.null, Undefined)


def test_a_split_selected_on_outcomes_has_no_deletion_null() -> None:
    rows = [[1, 0] * 5, [1, 1, 0, 0, 1] * 2, [0, 0, 1, 0, 0] * 2]
    matrix = ScoreMatrix.from_array(rows, ["a", "b", "c"], TASKS)
    for measure in ScoreStatistics(matrix, Groups(), SETTINGS).of_split(TASKS[:5], selected=True):
        assert isinstance(measure.null, Undefined) and "selected on these outcomes" in measure.null.reason
        assert isinstance(measure.observed, Estimate)
