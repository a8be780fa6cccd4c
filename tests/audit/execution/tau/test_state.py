import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.execution.tau.state import State, copied

DATABASE: dict[str, dict[str, dict[str, Any]]] = {
    "users": {str(i): {"cards": {"a": i, "b": [i, {"c": i}]}} for i in range(4)},
    "orders": {"x": {"items": [1, 2]}},
}

edits = st.lists(st.tuples(st.sampled_from(["0", "1", "2", "9"]), st.integers(0, 3)), max_size=12)


@given(edits)
def test_it_does_what_a_deep_copy_does(steps: list[tuple[str, int]]) -> None:
    shared = copy.deepcopy(DATABASE)
    state, plain = State(shared), copy.deepcopy(DATABASE)
    for key, value in steps:
        if not state.has("users", key):
            state.add("users", key, {"cards": {"a": value, "b": [value, {"c": value}]}})
            plain["users"][key] = {"cards": {"a": value, "b": [value, {"c": value}]}}
        state.edit("users", key)["cards"]["b"][1]["c"] = value
        plain["users"][key]["cards"]["b"][1]["c"] = value
    assert dict(state.records("users")) == plain["users"]
    changed = {key: record for key, record in plain["users"].items() if record != DATABASE["users"].get(key)}
    assert state.changes() == ({"users": changed} if changed else {})
    assert shared == DATABASE
    state.reset()
    assert (state.changes(), dict(state.records("users"))) == ({}, DATABASE["users"])


def test_a_record_changed_back_is_no_change() -> None:
    state = State(DATABASE)
    state.edit("orders", "x")["items"].append(3)
    assert state.changes() == {"orders": {"x": {"items": [1, 2, 3]}}}
    state.edit("orders", "x")["items"].pop()
    assert state.changes() == {}


def test_whole_and_decimal_numbers_are_two_values() -> None:
    state = State({"cards": {"g": {"balance": 86}}})
    state.edit("cards", "g")["balance"] = 86.0
    assert state.changes() == {"cards": {"g": {"balance": 86.0}}}


def test_changes_are_copies() -> None:
    state = State(DATABASE)
    state.edit("orders", "x")["items"].append(3)
    state.changes()["orders"]["x"]["items"].clear()
    assert state.read("orders", "x")["items"] == [1, 2, 3]
    assert copied([{"a": (1,)}]) == [{"a": (1,)}]
