"""The five calls: what they show, each class of failure, feedback, budgets."""

import json
from typing import Any

import pytest

from agenthard.escape.environment import Environment, budget_for
from agenthard.escape.environment.tally import ERRORS
from agenthard.play.ending import Ending
from tests.escape.made import changed, rooms, started, with_hidden, with_tool

ROOM = rooms()[0]


def solve(environment: Environment, until: str = "") -> None:
    instance = environment._instance
    for id in instance.order():
        environment.call("investigate", {"node_id": id})
        part = next(each for each in instance.room.parts if each.id == id)
        if id == until:
            return
        if part.kind != "item":
            name = "use_tool" if part.kind in ("tool", "terminal") else "use_item"
            params = dict(instance.secret.mechanisms[id].inputs)
            assert environment.call(name, {"node_id": id, "params": params})["ok"]


def first_tool(linked: bool = False) -> str:
    """A tool in sight: one that depends on others, or one that depends on nothing and has parameters."""
    return next(
        part.id
        for part in ROOM.room.parts
        if part.kind == "tool" and part.id in ROOM.room.visible and bool(ROOM.feeds(part.id)) == linked
    )


def test_the_oracles_calls_open_the_exit_and_the_answer_ends_it() -> None:
    environment = started(ROOM)
    solve(environment)
    assert not environment.finished
    assert environment.call("submit_answer", {"answer": " wrong "})["error"] == "incorrect"
    assert environment.call("submit_answer", {"answer": f"{ROOM.secret.answer}\n"})["ok"]
    ending, counts = environment.outcome(Ending.OPEN)
    assert (environment.solved, ending, counts["resolved"], counts["submissions"]) == (True, Ending.DONE, 5, 2)
    assert environment.call("investigate", {"node_id": ROOM.exit})["message"] == "the episode is over"


def test_hidden_parts_appear_when_their_container_is_opened() -> None:
    room = with_hidden()
    environment = started(room)
    seen = {each["node_id"] for each in environment.start()["visible"]}
    assert seen == set(room.room.visible) and not seen & room.hidden
    container = next(link.source for link in room.secret.links if link.input == "trigger")
    hidden = room.drops(container)[0]
    assert environment.call("investigate", {"node_id": hidden})["error"] == "node_not_visible"
    solve(environment)
    assert environment.outcome(Ending.OPEN)[1]["hidden_seen"] == len(room.hidden)


def uses() -> dict[str, tuple[str, Any]]:
    tool, golden = first_tool(), None
    golden = dict(ROOM.secret.mechanisms[tool].inputs)
    name = next(iter(golden))
    wrong = {key: "123456" if value.isdigit() else "00" * 16 for key, value in golden.items()}
    numbers = [p.name for p in next(p for p in ROOM.room.parts if p.id == tool).params]
    item = next((part.id for part in ROOM.room.parts if part.kind == "item"), None)
    assert name in numbers
    return {
        "wrong_format": ("use_tool", {"node_id": tool, "params": ["a"]}),
        "node_not_exist": ("use_tool", {"node_id": "sha256", "params": {}}),
        "wrong_node_type": ("use_item", {"node_id": item or tool, "params": {}}),
        "missing_required": ("use_tool", {"node_id": tool, "params": {}}),
        "wrong_type": ("use_tool", {"node_id": tool, "params": {**golden, name: True}}),
        "other": ("use_tool", {"node_id": tool, "params": wrong}),
    }


@pytest.mark.parametrize("error", [each for each in ERRORS if each not in ("node_not_visible", "repeated_solved")])
def test_each_class_of_failure_is_reached_by_a_crafted_call(error: str) -> None:
    environment = started(ROOM)
    name, arguments = uses()[error]
    assert not environment.call(name, arguments)["ok"]
    counts = environment.outcome(Ending.OPEN)[1]
    assert {each: counts[f"error_{each}"] for each in ERRORS} == {each: int(each == error) for each in ERRORS}


def test_what_is_hidden_and_what_is_resolved_fail_in_their_own_classes() -> None:
    room = with_hidden()
    environment = started(room)
    hidden = next(iter(room.hidden))
    absent = environment.call("use_tool", {"node_id": "part-999", "params": {}})
    assert environment.call("use_tool", {"node_id": hidden, "params": {}}) == absent
    solve(environment)
    exit = {"node_id": room.exit, "params": dict(room.secret.mechanisms[room.exit].inputs)}
    assert environment.call("use_tool", exit)["outputs"] == {"flag": room.secret.answer}
    counts = environment.outcome(Ending.OPEN)[1]
    assert (counts["error_node_not_visible"], counts["error_node_not_exist"], counts["error_repeated_solved"]) == (
        1,
        1,
        1,
    )


@pytest.mark.parametrize(
    ("feedback", "told"),
    [("none", set()), ("binary", {"missing_dependency"}), ("per_param", {"missing_dependency", "params"})],
)
def test_feedback_tells_what_it_is_allowed_to(feedback: str, told: set[str]) -> None:
    environment = started(ROOM, feedback=feedback)
    answer = environment.call(*uses()["other"])
    assert set(answer) - {"ok", "error", "message"} == told


def test_free_execution_runs_other_values_and_resolves_nothing() -> None:
    room, id = with_tool("sha256")
    environment = started(room, execution="free")
    answer = environment.call("use_tool", {"node_id": id, "params": {"text": "abc"}})
    if id in room.room.visible:
        assert answer["outputs"]["digest"].startswith("ba7816bf") and answer["resolved"] is False


def test_a_library_that_drifts_is_told_and_counted() -> None:
    room, id = with_tool("")
    tool = next(part.id for part in room.room.parts if part.kind == "tool" and part.id in room.room.visible)
    other = dict.fromkeys(room.secret.mechanisms[tool].outputs, "1")
    environment = started(changed(room, tool, outputs=other))
    params = dict(room.secret.mechanisms[tool].inputs)
    answer = environment.call("use_tool", {"node_id": tool, "params": params})
    assert not answer["ok"] and "another version" in answer["message"]
    assert environment.outcome(Ending.OPEN)[1]["error_execution_error"] == 1


def test_turns_and_calls_are_limited() -> None:
    environment = Environment(ROOM)
    assert environment.budget == 35
    for _ in range(35):
        environment.begin_turn()
    assert environment.finished
    assert environment.call("investigate", {"node_id": ROOM.exit})["ok"], "calls of the last turn still count"
    environment.begin_turn()
    assert environment.call("investigate", {"node_id": ROOM.exit})["message"] == "the episode is over"
    assert environment.outcome(Ending.OPEN)[0] is Ending.MAX_STEPS
    many = Environment(ROOM)
    many.begin_turn()
    answers = [many.call("investigate", {"node_id": ROOM.exit})["ok"] for _ in range(9)]
    assert answers == [True] * 2 + [False] * 7
    assert [budget_for(size) for size in (5, 10, 15, 20, 25)] == [35, 80, 130, 160, 200]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"node_id": {"a": 1}}', '{"node_id": 5, "params": 1}', "9" * 5000]
)
@pytest.mark.parametrize("name", ["investigate", "use_tool", "use_item", "submit_answer", "no_such_call"])
def test_nothing_that_a_model_writes_raises(name: str, text: str) -> None:
    assert json.loads(started(ROOM).message(name, text))["ok"] is False


def test_a_dependent_use_before_its_time_is_premature_and_not_adherent() -> None:
    id = first_tool(linked=True) if any(ROOM.feeds(p.id) for p in ROOM.room.parts if p.kind == "tool") else ROOM.exit
    environment = started(ROOM)
    params = dict(ROOM.secret.mechanisms[id].inputs)
    environment.call("use_tool", {"node_id": id, "params": dict.fromkeys(params, "00" * 16)})
    counts = environment.outcome(Ending.OPEN)[1]
    assert (counts["dependent_uses"], counts["premature_uses"], counts["adherent_uses"]) == (1, 1, 0)


def test_success_does_not_need_every_part() -> None:
    environment = started(ROOM)
    assert environment.call("submit_answer", {"answer": ROOM.secret.answer})["ok"]
    assert environment.outcome(Ending.OPEN)[1]["resolved"] == 0
