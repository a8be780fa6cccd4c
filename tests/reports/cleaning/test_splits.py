"""Retention per category and score bounds, counted by hand."""

import pytest

from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined
from agenthard.reports.cleaning.splits import Split, Undecided, describe_split, retention_of, undecided_bounds


def card(matrix: ScoreMatrix) -> Split:
    return describe_split("cleaned", matrix.tasks, review=0, initial=len(matrix.tasks), matrix=matrix)


def test_a_category_below_the_safeguard_is_named() -> None:
    matrix = ScoreMatrix.from_array([[1, 0, 1], [0, 1, 0]], ["a", "b"], ["t0", "t1", "t2"])
    categories = {"t0": "x", "t1": "x", "t2": "y", "t3": "y", "t4": "z"}
    found = retention_of(card(matrix), categories, 0.5)
    assert [(row.category, row.kept, row.n, row.below_safeguard) for row in found.rows] == [
        ("x", 2, 2, False),
        ("y", 1, 2, False),
        ("z", 0, 1, True),
    ]
    assert found.sentence == "The issue-cleaned split keeps less than 50 % of 1 of 3 categories: z."
    assert isinstance(found.coverage, Estimate) and found.coverage.value == pytest.approx(2 / 3)


def test_bounds_say_whether_the_leader_could_change() -> None:
    # Decided: t0, t1; under review: t2. a: 1 1 0 → between 2/3 and 1; b: 1 0 1 → between 1/2 and 2/3.
    matrix = ScoreMatrix.from_array([[1, 1, 0], [1, 0, 1]], ["a", "b"], ["t0", "t1", "t2"])
    found = undecided_bounds(matrix, ["t2"])
    assert isinstance(found, Undecided) and not isinstance(found.bounds, Undefined)
    assert [(row.model, row.least, row.most) for row in found.bounds] == [
        ("a", pytest.approx(2 / 3), 1.0),
        ("b", 0.5, pytest.approx(2 / 3)),
    ]
    # With t2 both have 2/3: b may draw level.
    assert found.sentence == (
        "1 task under review can move a score by up to 33.3 points (a: 66.7 to 100.0 %); whether a leads may depend on "
        "them (1 model may draw level)."
    )
    clear = undecided_bounds(ScoreMatrix.from_array([[1, 1, 1], [0, 0, 1]], ["a", "b"], ["t0", "t1", "t2"]), ["t2"])
    assert isinstance(clear, Undecided) and clear.sentence.endswith("; a leads however they are decided.")
    assert isinstance(undecided_bounds(matrix, []), Undefined)
