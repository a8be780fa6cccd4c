"""What uses up a budget, and what does not."""

from typing import Any

import pytest

from agenthard.ace.environment import Budgets, Environment
from tests.ace.environment.small import FIXED, LOWER, SLOTS, UPPER, fill, puzzle, refusal

QUERY, CHECK = "query_course_candidate_from_attribute", "check_course_global_constraints"
CHEAP = {"field": "price", "operator": "<", "value": 200}


def left(environment: Environment, cell: dict[str, int]) -> dict[str, Any]:
    return dict(environment.call("get_hidden_slot_query_budget", cell)["data"])


def test_the_formulas_of_the_paper() -> None:
    # Two rules in the slot + two slots + extra; alpha * two slots, rounded down.
    assert Budgets().queries(puzzle(), SLOTS[0]) == 2 + 2 + 2
    assert Budgets(extra_queries=0).queries(puzzle(), SLOTS[0]) == 2 + 2
    assert Budgets().global_checks(puzzle()) == 2
    assert Budgets(alpha=0.9).global_checks(puzzle()) == 1
    assert Budgets(alpha=0).global_checks(puzzle()) == 0
    assert Budgets.UNLIMITED.queries(puzzle(), SLOTS[0]) is None
    assert Budgets.UNLIMITED.global_checks(puzzle()) is None


@pytest.mark.parametrize("bad", [{"extra_queries": -2}, {"alpha": -0.5}, {"alpha": float("nan")}, {"alpha": 1e400}])
def test_a_budget_below_zero_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be 0 or more, or -1"):
        Budgets(**bad)


def test_only_answered_queries_count_and_each_slot_has_its_own() -> None:
    environment = Environment(puzzle(), budgets=Budgets(extra_queries=0))
    asked = {**UPPER, **CHEAP}
    for wrong in ({"field": "x"}, {"operator": "~"}, {"value": None}, FIXED):
        assert environment.call(QUERY, {**asked, **wrong})["status"] == "failed"
    assert [environment.call(QUERY, asked)["data"]["remaining_budget"] for _ in range(4)] == [3, 2, 1, 0]
    exhausted = "Hidden slot query budget exhausted for slot (row=0, col=1). Remaining queries: 0."
    assert refusal(environment, QUERY, asked) == exhausted
    assert refusal(environment, QUERY, {**asked, "field": "x"}) == exhausted
    numbers = {"unlimited": False, "query_budget": 4}
    assert left(environment, UPPER) == {**UPPER, **numbers, "query_calls": 4, "remaining_queries": 0}
    assert left(environment, LOWER) == {**LOWER, **numbers, "query_calls": 0, "remaining_queries": 4}
    assert environment.result().queries == 4


def test_global_checks_count_on_a_full_grid_only() -> None:
    environment = Environment(puzzle(), budgets=Budgets(alpha=1))
    for _ in range(3):
        assert environment.call(CHECK)["status"] == "failed"
    fill(environment, "C12", "C21")
    assert environment.call(CHECK)["data"] == {"is_valid": False}
    fill(environment, "C11", "C21")
    assert environment.call(CHECK)["data"] == {"is_valid": True}
    assert refusal(environment, CHECK, {}) == "Global constraint check budget exhausted. Used 2/2 calls."
    counts = {"remaining_global_checks": 0, "global_check_budget": 2, "global_check_calls": 2}
    assert environment.call("get_global_check_budget")["data"] == counts
    environment.call("set_slot", UPPER)
    assert "must be fully filled" in refusal(environment, CHECK, {})


def test_without_limits() -> None:
    environment = Environment(puzzle(), budgets=Budgets.UNLIMITED)
    fill(environment, "C11", "C21")
    for _ in range(50):
        assert environment.call(CHECK)["status"] == "success"
        assert environment.call(QUERY, {**UPPER, **CHEAP})["data"]["remaining_budget"] is None
    unlimited = {"unlimited": True, "query_budget": "unlimited", "query_calls": 50, "remaining_queries": "unlimited"}
    assert left(environment, UPPER) == {**UPPER, **unlimited}
    counts = {"remaining_global_checks": None, "global_check_budget": None, "global_check_calls": 50}
    assert environment.call("get_global_check_budget")["data"] == counts


def test_injected_failures_consume_nothing() -> None:
    environment = Environment(puzzle(), budgets=Budgets(extra_queries=0, alpha=1), failure_rate=1)
    for _ in range(10):
        assert environment.call(QUERY, {**UPPER, **CHEAP})["messages"] == "Tool call failed"
    assert environment.result().queries == 0
