"""The search over the tools of the library desk."""

import pytest

from agenthard.audit.readings.planner import plan
from tests.library import DESK, call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def test_one_call_is_found_with_values_that_the_user_says() -> None:
    task = desk_task(lend("b7"), says="Lend b8 to bea.")
    found = plan(task, [("/books/b8/lent_to", "bea")])
    assert [(each.name, each.arguments["book"], each.arguments["member"]) for each in found.calls] == [
        ("lend_book", "b8", "bea")
    ]
    assert "reaches it: lend_book(" in found.said


def test_two_calls_are_found() -> None:
    found = plan(
        desk_task(lend("b7"), says="Lend b7 and b8 to ada."), [(f"/books/b{n}/lent_to", "ada") for n in (7, 8)]
    )
    assert sorted(each.arguments["book"] for each in found.calls) == ["b7", "b8"]


def test_what_no_tool_does_is_not_reached_and_the_search_says_what_it_tried() -> None:
    tools = tuple(tool for tool in DESK.tools if tool.name in ("find_book", "lend_book"))
    environment = DESK.model_copy(update={"tools": tools})
    found = plan(desk_task(lend("b7"), says="Pay 5 for ada.", environment=environment), [("/members/ada/fees", ["5"])])
    assert found.calls == ()
    assert found.said.startswith("a search does not reach it: ")
    assert "sequences of one and two calls of lend_book" in found.said


def test_a_state_that_is_there_already_needs_no_call() -> None:
    found = plan(desk_task(call("leave_note", text="x")), [("/books/b9/lent_to", "ada")])
    assert found.met and found.said == "the start state has the wanted values already"
