"""The table of what each check did on each task."""

from collections.abc import Iterator

import pytest

from agenthard.audit.coverage import CoverageTable
from agenthard.taxonomy import Coverage, Status

ROWS = [
    Coverage(task_id="b", check="y", status=Status.CLEAN),
    Coverage(task_id="b", check="x", status=Status.ERROR, reason="KeyError: 1"),
    Coverage(task_id="a", check="x", status=Status.NOT_CHECKED, reason="no gold"),
]


def test_rows_are_those_that_were_put_in_ordered_by_task_and_check() -> None:
    table = CoverageTable.of(ROWS)
    assert list(table) == ROWS and len(table) == 3
    assert table[0] == ROWS[0] and table[-1] == ROWS[2] and table[1:] == tuple(ROWS[1:])
    assert table.of_task("b") == tuple(ROWS[:2]) and table.of_task("c") == ()
    with pytest.raises(IndexError):
        table[3]


def test_a_pair_without_a_row_has_no_status() -> None:
    table = CoverageTable.of(ROWS)
    assert table.status("a", "x") is Status.NOT_CHECKED
    with pytest.raises(KeyError):
        table.status("a", "y")
    assert table.tasks_having(Status.NOT_CHECKED) == ["a"]
    assert table.tasks_having(Status.ERROR, Status.CLEAN) == ["b"]


def test_merged_tables_have_the_given_order_and_the_later_of_two_rows() -> None:
    later = CoverageTable.of([Coverage(task_id="b", check="x", status=Status.CLEAN)])
    table = CoverageTable.merged(["a", "b", "c"], ["x", "y"], [CoverageTable.of(ROWS), later])
    assert [(row.task_id, row.check, row.status.value) for row in table] == [
        ("a", "x", "not_checked"),
        ("b", "x", "clean"),
        ("b", "y", "clean"),
    ]
    assert list(table.without("x")) == [ROWS[0]]
    assert table.without("x") == CoverageTable.of(ROWS[:1])


def test_more_outcomes_than_two_bytes_can_number_are_kept_apart() -> None:
    def rows() -> Iterator[Coverage]:
        for number in range(70_000):
            yield Coverage(task_id=f"t{number}", check="x", status=Status.ERROR, reason=f"error {number}")

    table = CoverageTable.of(rows())
    assert [table[number].reason for number in (0, 65_535, 65_536, 69_999)] == [
        "error 0",
        "error 65535",
        "error 65536",
        "error 69999",
    ]
    assert CoverageTable.merged(table.tasks, ["x"], [table])[69_999].reason == "error 69999"
