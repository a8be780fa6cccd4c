"""What each tool answers, in both modes."""

from typing import Any

import pytest

from agenthard.ace.environment import Budgets, Environment, Mode, ToolAnswer
from tests.ace.environment.small import FIXED, LOWER, UPPER, fill, puzzle, refusal

QUERY = "query_course_candidate_from_attribute"
INFO, ATTRIBUTES = "get_course_item_info", "get_course_item_attributes"
CHECK_SLOT, CHECK_GLOBAL = "check_course_slot_constraints", "check_course_global_constraints"


def start(mode: Mode = Mode.REFERENCE, budgets: Budgets = Budgets.UNLIMITED) -> Environment:
    return Environment(puzzle(), mode=mode, budgets=budgets)


def success(data: dict[str, object]) -> ToolAnswer:
    return {"status": "success", "messages": "Successfully executed tool", "data": data}


@pytest.fixture(params=list(Mode))
def either(request: pytest.FixtureRequest) -> Environment:
    return start(request.param)


def test_set_slot_fills_replaces_and_clears(either: Environment) -> None:
    call = either.call
    updated = "Hidden slot updated."
    assert call("set_slot", {**UPPER, "id": "C13"}) == success({**UPPER, "id": "C13", "message": updated})
    assert call("set_slot", {**UPPER, "id": "C11"}) == success({**UPPER, "id": "C11", "message": updated})
    assert either.grid == (("C1", "C11"), (None, "C2"))
    cleared = success({**UPPER, "id": None, "message": "Hidden slot cleared."})
    assert call("set_slot", {**UPPER, "id": None}) == cleared
    call("set_slot", {**UPPER, "id": "C11"})
    assert call("set_slot", {**UPPER, "id": ""}) == cleared
    call("set_slot", {**UPPER, "id": "C11"})
    assert call("set_slot", UPPER) == cleared
    assert either.grid == puzzle().grid


def test_reading_the_grid(either: Environment) -> None:
    fill(either, "C11", None)
    assert either.call("get_current_grid_state") == success({"slots": [["C1", "C11"], [None, "C2"]]})
    assert either.call("get_slot_id", UPPER) == success({**UPPER, "id": "C11"})
    assert either.call("get_slot_id", LOWER) == success({**LOWER, "id": None})
    assert either.call("get_slot_id", FIXED) == success({**FIXED, "id": "C1"})


def test_rows_and_columns_go_through_int(either: Environment) -> None:
    assert either.call("get_slot_id", {"row": "1", "col": 1.0}) == success({"row": 1, "col": 1, "id": "C2"})


def test_arguments_that_no_tool_knows_are_ignored(either: Environment) -> None:
    assert either.call("get_slot_id", {**FIXED, "kwargs": {}})["status"] == "success"


@pytest.mark.parametrize(
    ("operator", "value", "parsed", "found"),
    [
        ("<=", 300, 300, ["C11", "C12"]),
        ("<", 300, 300, ["C11"]),
        (">=", 300, 300, ["C13", "C12"]),
        (">", "300", 300, ["C13"]),
        ("=", "250.0", 250.0, ["C11"]),
        (">=", -1, -1, ["C13", "C11", "C12"]),
    ],
)
def test_query_about_a_number(operator: str, value: object, parsed: object, found: list[str]) -> None:
    asked = {**UPPER, "field": "price", "operator": operator, "value": value}
    prices = {"C11": 250, "C12": 300, "C13": 350}
    answer = {**asked, "value": parsed, "remaining_budget": None}
    assert start(Mode.PAPER).call(QUERY, asked) == success({**answer, "matches": found})
    matches = [{"id": id, "price": prices[id]} for id in found]
    assert start(Mode.REFERENCE).call(QUERY, asked) == success({**answer, "matches": matches})


@pytest.mark.parametrize(
    ("operator", "value", "parsed", "found"),
    [
        ("in", "lab", ["lab"], ["C11"]),
        ("in", ["lab", "cs"], ["lab", "cs"], ["C11"]),
        ("in", '["elective"]', ["elective"], ["C13", "C12"]),
        ("not_in", ["elective"], ["elective"], ["C11"]),
        ("not_in", [], [], ["C13", "C11", "C12"]),
    ],
)
def test_query_about_text(operator: str, value: object, parsed: object, found: list[str]) -> None:
    asked = {**UPPER, "field": "category", "operator": operator, "value": value}
    data = start(Mode.PAPER).call(QUERY, asked)["data"]
    assert (data["value"], data["matches"]) == (parsed, found)
    data = start(Mode.REFERENCE).call(QUERY, asked)["data"]
    assert (data["value"], [match["id"] for match in data["matches"]]) == (parsed, found)


def test_items_of_the_initial_grid_can_be_looked_up_and_no_others(either: Environment) -> None:
    fill(either, "C11", "C21")
    assert either.call(INFO, {"id": "C1"}) == success({"id": "C1", "item": puzzle().items["C1"]})
    reason = "Item id {} is not accessible. You may only inspect ids from non-hidden slots."
    for id in ("C11", "C12", "C99", 5, ["C1"]):
        assert refusal(either, INFO, {"id": id}) == reason.format(id)


def test_attributes_of_several_items(either: Environment) -> None:
    both = {"ids": ["C1", "C2"], "field": "price"}
    expected = success({"fields": ["price"], "items": {"C1": 200, "C2": 300}, "missing_ids": []})
    assert either.call(ATTRIBUTES, both) == expected
    assert either.call(ATTRIBUTES, {"ids": '["C1", "C2"]', "field": ["price"]}) == expected
    two = either.call(ATTRIBUTES, {"ids": ["C2"], "field": ["name", "credits"]})
    assert two["data"]["items"] == {"C2": {"name": "Databases 102", "credits": 2}}


def test_slot_check_is_about_the_slots_own_rules(either: Environment) -> None:
    for id, valid in (("C11", True), ("C12", True), ("C13", False)):
        fill(either, id, None)
        assert either.call(CHECK_SLOT, UPPER) == success({"is_valid": valid, **UPPER})


@pytest.mark.parametrize(
    ("upper", "lower", "paper", "reference"),
    [
        ("C11", "C21", True, True),
        ("C12", "C21", False, False),
        ("C11", "C22", False, False),
        ("C11", "C23", True, False),  # meets the global rules and breaks a slot's
    ],
)
def test_global_check(upper: str, lower: str, paper: bool, reference: bool) -> None:
    for mode, expected in ((Mode.PAPER, paper), (Mode.REFERENCE, reference)):
        environment = start(mode)
        fill(environment, upper, lower)
        assert environment.call(CHECK_GLOBAL) == success({"is_valid": expected})


CELL_FAULTS = [
    ({"row": "a", "col": 0}, "row and col must be integers"),
    ({"row": None, "col": 0}, "row and col must be integers"),
    ({"row": float("inf"), "col": 0}, "row and col must be integers"),
    ({"row": [0], "col": 0}, "row and col must be integers"),
    ({"row": 2, "col": 0}, "Invalid slot (row=2, col=0)"),
    ({"row": 0, "col": -1}, "Invalid slot (row=0, col=-1)"),
]


@pytest.mark.parametrize(("cell", "reason"), CELL_FAULTS)
def test_cells_that_are_none(either: Environment, cell: dict[str, object], reason: str) -> None:
    condition = {"field": "price", "operator": "<", "value": 1}
    for name in ("set_slot", "get_slot_id", "get_hidden_slot_query_budget", CHECK_SLOT):
        assert refusal(either, name, cell) == reason
    assert refusal(either, QUERY, {**cell, **condition}) == reason


FIELDS = "category, credits, difficulty, name, price, teacher, workload"
NUMERIC = "value must be numeric for numeric comparisons, or a string list for `in`/`not_in`"
TEXTS = "value must be a string list for `in` or `not_in` queries"
QUERY_FAULTS = [
    ("", "<", 1, "field must be a non-empty string"),
    (7, "<", 1, "field must be a non-empty string"),
    ("course_id", "<", 1, f"unknown field: course_id. allowed fields: {FIELDS}"),
    ("price", "!=", 1, "operator must be one of: >, >=, =, <, <=, in, not_in"),
    ("price", ["<"], 1, "operator must be one of: >, >=, =, <, <=, in, not_in"),
    ("category", "in", 1, TEXTS),
    ("category", "in", ["lab", 1], TEXTS),
    ("category", "not_in", "[lab", TEXTS),
    ("category", "in", "[" * 100_000, TEXTS),
    ("price", "<", True, "boolean values are not supported for attribute queries"),
    ("price", "<", [1], NUMERIC),
    ("price", "<", None, NUMERIC),
    ("price", "in", ["1"], "numeric fields only support: >, >=, =, <, <="),
    ("category", "=", "lab", "categorical fields only support: in, not_in"),
    ("category", "=", 1, "categorical fields only support: in, not_in"),
    ("price", "<", "cheap", "numeric comparisons require a numeric value"),
    ("price", "<", "1.2.3", "numeric comparisons require a numeric value"),
    ("price", "<", float("nan"), "numeric comparisons require a numeric value"),
]


@pytest.mark.parametrize(("field", "operator", "value", "reason"), QUERY_FAULTS)
def test_queries_that_make_no_sense(
    either: Environment, field: object, operator: object, value: object, reason: str
) -> None:
    asked = {**UPPER, "field": field, "operator": operator, "value": value}
    assert refusal(either, QUERY, asked) == reason
    assert either.result().queries == 0


def test_what_fixed_and_empty_slots_refuse(either: Environment) -> None:
    condition = {"field": "price", "operator": "<", "value": 1}
    fixed: list[tuple[str, dict[str, Any], str]] = [
        ("set_slot", {**FIXED, "id": "C2"}, "Slot (row=0, col=0) is fixed and cannot be modified"),
        (QUERY, {**FIXED, **condition}, "Attribute candidate queries are only allowed for hidden slots."),
        ("get_hidden_slot_query_budget", FIXED, "Hidden-slot query budget is only available for hidden slots."),
        (CHECK_SLOT, FIXED, "Slot constraint checks are only allowed for hidden slots."),
        ("set_slot", UPPER, "Slot (row=0, col=1) is already empty."),
        (CHECK_SLOT, UPPER, "Slot (row=0, col=1) has not been filled yet."),
        (CHECK_GLOBAL, {}, "The current grid must be fully filled before global constraints can be checked."),
    ]
    for name, arguments, reason in fixed:
        assert refusal(either, name, arguments) == reason


@pytest.mark.parametrize("id", ["C21", "C1", "nonsense", 11, ["C11"], {"C11": 1}])
def test_only_the_reference_hands_out_candidates_in_an_error(id: object) -> None:
    asked = {**UPPER, "id": id}
    sentence = "Slot (row=0, col=1) can only be set to one of its candidate ids."
    assert refusal(start(Mode.PAPER), "set_slot", asked) == sentence
    assert refusal(start(Mode.REFERENCE), "set_slot", asked) == f"{sentence} Allowed ids: ['C11', 'C12', 'C13']"


ATTRIBUTE_FAULTS = [
    ("C1", "price", "ids string must be a valid JSON list"),
    ('"C1"', "price", "ids must be a list"),
    (7, "price", "ids must be a list"),
    (["C1", 2], "price", "each element in ids must be a string"),
    (["C1"] * 6, "price", "ids can contain at most 5 items"),
    (["C1"], {"a": 1}, "field must be a string or a list of attribute names"),
    (["C1"], ["price", 1], "each field must be a string"),
    (["C1"], [], "field must specify at least one attribute name"),
    (["C1"], ["price"] * 6, "field can specify at most 5 attributes"),
    (["C11", "C1", "C99"], "price", "ids contain inaccessible item(s): C11, C99"),
    (["C1"], ["size", "price", "sum"], f"unknown field(s): size, sum. allowed fields: {FIELDS}"),
]


@pytest.mark.parametrize(("ids", "field", "reason"), ATTRIBUTE_FAULTS)
def test_lookups_that_are_refused(either: Environment, ids: object, field: object, reason: str) -> None:
    assert refusal(either, ATTRIBUTES, {"ids": ids, "field": field}) == reason
