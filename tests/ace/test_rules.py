"""What the rules mean, on a puzzle that is checked by hand (tests.ace.environment.small)."""

import pytest

from agenthard.ace import domains
from agenthard.ace.domain import Bound, GlobalKind, GlobalRule, SlotRule
from agenthard.ace.instance import Item
from agenthard.ace.rules import broken_global_rules, broken_slot_rules, filling, holds, measure, meets, violations
from tests.ace.environment.small import LIMITS, instance, puzzle

ONE: Item = {"n": 3, "word": "a"}
TWO: Item = {"n": 5, "word": "a"}
TEN: Item = {"n": 10, "word": "b"}
FULL = [[ONE, TWO], [TEN, ONE]]
PARTIAL = [[ONE, None], [TEN, TWO]]


def rule(kind: GlobalKind, attribute: str = "n", counted: int | str | None = None) -> GlobalRule:
    return GlobalRule(name="rule", kind=kind, attribute=attribute, counted=counted)


@pytest.mark.parametrize(
    ("kind", "attribute", "counted", "full", "partial"),
    [
        (GlobalKind.SUM_MAX, "n", None, 21, 18),  # 3 + 5 + 10 + 3; without the second cell, and 5 in the last
        (GlobalKind.SUM_MIN, "n", None, 21, 18),
        (GlobalKind.REPEAT_MAX, "word", None, 3, 2),  # a, a, b, a; a, b, a
        (GlobalKind.REPEAT_MAX, "n", None, 2, 1),  # 3 twice; all different
        (GlobalKind.COUNT_MIN, "word", "b", 1, 1),
        (GlobalKind.COUNT_MIN_THRESHOLD, "n", 5, 2, 2),  # 5 and 10, the bound included
        (GlobalKind.MAX_ROW_SUM, "n", None, 13, 15),  # max(3 + 5, 10 + 3); max(3, 10 + 5)
    ],
)
def test_measures(kind: GlobalKind, attribute: str, counted: int | str | None, full: int, partial: int) -> None:
    assert measure(rule(kind, attribute, counted), FULL) == full
    assert measure(rule(kind, attribute, counted), PARTIAL) == partial


@pytest.mark.parametrize("kind", [GlobalKind.SUM_MAX, GlobalKind.REPEAT_MAX, GlobalKind.MAX_ROW_SUM])
def test_ceilings_are_inclusive_and_bind_a_partial_grid(kind: GlobalKind) -> None:
    ceiling = rule(kind)
    for grid in (FULL, PARTIAL):
        assert holds(ceiling, measure(ceiling, grid), grid)
        assert not holds(ceiling, measure(ceiling, grid) - 1, grid)


@pytest.mark.parametrize(
    ("kind", "counted"),
    [(GlobalKind.SUM_MIN, None), (GlobalKind.COUNT_MIN, 3), (GlobalKind.COUNT_MIN_THRESHOLD, 5)],
)
def test_floors_are_inclusive_and_wait_for_the_full_grid(kind: GlobalKind, counted: int | None) -> None:
    floor = rule(kind, "n", counted)
    assert holds(floor, measure(floor, FULL), FULL)
    assert not holds(floor, measure(floor, FULL) + 1, FULL)
    assert holds(floor, 10**6, PARTIAL)


def test_an_empty_grid_breaks_nothing() -> None:
    for kind in GlobalKind:
        counted = 5 if kind in (GlobalKind.COUNT_MIN, GlobalKind.COUNT_MIN_THRESHOLD) else None
        assert holds(rule(kind, "n", counted), 0, [[None, None]])


def test_slot_rules_are_inclusive() -> None:
    highest = SlotRule(name="max_n", bound=Bound.MAX, attribute="n", thresholds=(3,))
    lowest = SlotRule(name="min_n", bound=Bound.MIN, attribute="n", thresholds=(3,))
    assert [meets(highest, 3, item) for item in (ONE, TWO)] == [True, False]
    assert [meets(lowest, 5, item) for item in (ONE, TWO)] == [False, True]


def test_broken_slot_rules_come_in_the_order_of_the_slot() -> None:
    course = domains.load("course")
    dear: Item = {"difficulty": 5, "credits": 1, "price": 500}
    assert broken_slot_rules(course, {"max_price": 400, "min_credits": 2, "max_difficulty": 5}, dear) == [
        "max_price",
        "min_credits",
    ]


def test_broken_global_rules_come_in_the_order_of_the_domain() -> None:
    course, small = domains.load("course"), puzzle()
    # Credits 3 + 2 + 1 + 2 = 8, price 900, Ada Berg three times, workload 4 + 1 + 2 + 3 = 10.
    items = filling(small, (("C1", "C12"), ("C22", "C2")))
    assert broken_global_rules(course, LIMITS, items) == ["total_credits_min", "same_teacher_week_max"]
    assert broken_global_rules(course, LIMITS | {"total_workload_max": 9}, items) == [
        "total_credits_min",
        "same_teacher_week_max",
        "total_workload_max",
    ]


def found(grid: tuple[tuple[str | None, ...], ...]) -> list[tuple[str, object]]:
    return [(v.rule, v.cell) for v in violations(domains.load("course"), puzzle(), grid)]


def test_the_full_check() -> None:
    assert found(instance().answer.solution) == []
    assert found((("C1", None), (None, "C2"))) == []
    # C13 costs 350 where 300 is allowed, and with it the grid costs 1000 where 900 is allowed.
    assert found((("C1", "C13"), ("C21", "C2"))) == [("max_price", (0, 1)), ("total_price_max", None)]
    # A fixed cell may not change, and a slot takes only its own candidates.
    assert found((("C2", "C11"), ("C21", "C2"))) == [
        ("cell", (0, 0)),
        ("total_credits_min", None),
        ("total_price_max", None),
    ]
    assert found((("C1", "C21"), ("C21", "C2")))[0] == ("cell", (0, 1))


def test_what_cannot_be_summed_is_not() -> None:
    assert found((("C1", "C99"), ("C21", "C2"))) == [("cell", (0, 1))]
    assert found((("C1", "C11"),)) == [("cell", None)]
