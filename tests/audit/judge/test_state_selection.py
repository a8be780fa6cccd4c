from typing import Any

import pytest

from agenthard.audit.judge.context.relevance import ASIDE, ranked
from agenthard.audit.judge.context.state_index import StateIndex, own_index, shared_index
from agenthard.taxonomy import AgentTask, EnvironmentSpec, ToolCall
from tests.audit.judge.ferries import FERRIES, ferry_task, sailing
from tests.builders import make_task


def shown(task: AgentTask, *observed: str, index: StateIndex | None = None) -> dict[str, int]:
    index = index or shared_index(task.environment)
    found = ranked(task, index, observed)
    assert [rank for rank, _ in found] == sorted(rank for rank, _ in found)
    base = "/environment/state/"
    return {index.records[number].passage.label.removeprefix(base): rank for rank, number in found}


def test_a_named_booking_brings_its_member_and_its_sailing_on_its_day() -> None:
    # BK004 is of member_002 and goes with F005 on 5 June.
    found = shown(ferry_task("Cancel booking bk004, please."))
    assert found["bookings/BK004"] == 0
    assert found["members/member_002"] == 1
    assert found["sailings/F005#1"] == found["sailings/F005/dates/2031-06-05"] == 1
    assert not {label for label in found if label.startswith(("bookings/", "members/"))} - {
        "bookings/BK004",
        "members/member_002",
    }
    assert {label for label in found if "dates" in label} == {"sailings/F005/dates/2031-06-05"}


def test_a_named_member_brings_its_bookings_and_their_sailings() -> None:
    found = shown(ferry_task("I am member_002."))
    assert (found["members/member_002"], found["bookings/BK004"], found["bookings/BK005"]) == (0, 1, 1)
    assert found["sailings/F005/dates/2031-06-05"] == found["sailings/F006/dates/2031-06-06"] == 5


def test_the_other_sailings_of_a_route_are_brought_for_the_days_in_question() -> None:
    call = ToolCall(name="find", arguments={"from": "RIGA", "to": "KIEL"})
    found = shown(ferry_task("I want the cheapest berth on June 3rd.", call))
    direct = {"sailings/F001", "sailings/F073", "sailings/F009"}  # F009 sails back
    assert {label.split("#")[0] for label, rank in found.items() if rank == 2 and "#" in label} == direct
    assert found["sailings/F073/dates/2031-06-03"] == 2
    # by Oslo: F002 from Riga, F018 on to Kiel
    assert found["sailings/F002#1"] == found["sailings/F018#1"] == 3


def test_a_leg_is_brought_on_the_day_that_the_user_wants_too() -> None:
    found = shown(ferry_task("Move BK004 to 2031-06-09."))
    assert (found["sailings/F005/dates/2031-06-05"], found["sailings/F005/dates/2031-06-09"]) == (1, 2)


def days_of(found: dict[str, int], sailing: str) -> dict[str, int]:
    start = f"sailings/{sailing}/dates/2031-06-"
    return {label.removeprefix(start): rank for label, rank in found.items() if label.startswith(start)}


# BK000 is of member_000 and goes with F001 from Riga to Kiel on 1 June; F073 sails there too, and F009 back.
@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("I am member_000. Move my trip of June 1st to 2031-06-04.", {"04": 2}),
        ("Move BK000 to the next day.", {"02": 2}),
        ("Move BK000 to 4 June, or by two days.", {"04": 2, "03": 2}),
        ("Book another berth in BK000 on June 1.", {"01": 2}),
        ("I am member_000. Move my trip from RIGA to KIEL to the next day.", {"02": 2}),
    ],
)
def test_there_are_alternatives_to_what_the_user_has_on_the_days_that_are_wanted(said: str, days: Any) -> None:
    found = shown(ferry_task(said))
    assert {day: rank for day, rank in days_of(found, "F073").items() if rank < 5} == days
    assert days_of(found, "F001") == {**days, "01": 1 if "BK000" in said else 2}
    assert not {rank for rank in days_of(found, "F009").values() if rank < 5}


def test_what_the_user_has_on_days_not_in_question_comes_last() -> None:
    # BK001 of the same member goes with F002 on 2 June.
    found = shown(ferry_task("I am member_000. Move my trip of June 1st to 2031-06-04."))
    assert (found["bookings/BK001"], days_of(found, "F002")["02"]) == (1, 5)


def test_what_is_aside_is_no_more_than_a_little() -> None:
    environment = FERRIES.model_copy(update={"state": {**FERRIES.state, "bookings": dict(FERRIES.state["bookings"])}})
    for number in range(2, 20):
        changed = {**FERRIES.state["bookings"][f"BK{number:03}"], "member": "member_000"}
        environment.state["bookings"][f"BK{number:03}"] = changed
    task = ferry_task("I am member_000.", environment=environment)
    index = shared_index(environment)
    aside = [index.records[number].tokens for rank, number in ranked(task, index, []) if rank >= 5]
    assert ASIDE / 2 < sum(aside) <= ASIDE


def test_a_call_brings_its_own_days_and_what_else_sails_there_then() -> None:
    legs = [{"sailing": "F001", "date": "2031-06-03"}, {"sailing": "F009", "date": "2031-06-07"}]
    found = shown(ferry_task("Hello.", ToolCall(name="book", arguments={"legs": legs})))
    assert (days_of(found, "F001"), days_of(found, "F009")) == ({"03": 0}, {"07": 0})
    assert days_of(found, "F073") == {"03": 2}


def test_values_that_meet_in_one_record_identify_it_where_no_key_is_said() -> None:
    # Member 25 is First1 Last2 of Town 8. First1: 5 of 60, Last2: 12, Town 8: 4; 60 * 5/60 * 12/60 * 4/60 < 0.1.
    found = shown(ferry_task("You are First1 Last2 and live in Town 8."))
    assert found["members/member_025"] == 0
    assert [label for label in found if label.startswith("members/")] == ["members/member_025"]


@pytest.mark.parametrize(
    ("observed", "rank"), [("calls find({}) response: BK009", 2), (" ".join(f"BK{n:03}" for n in range(40)), None)]
)
def test_a_response_brings_what_it_names_unless_it_is_a_listing(observed: str, rank: int | None) -> None:
    assert shown(ferry_task("Hello."), observed).get("bookings/BK009") == rank


def test_nothing_leads_anywhere() -> None:
    assert shown(ferry_task("Hello, what is the weather like?")) == {}


def test_a_small_state_is_shown_whole() -> None:
    state = {"a": {"x": {"n": "1" * 3000}, "y": {"n": "2" * 3000}}}
    assert shown(make_task(environment=EnvironmentSpec(state=state))) == {"a/x": 0, "a/y": 0}


def test_a_state_of_the_tasks_own_is_shown_as_far_as_there_is_room() -> None:
    task = ferry_task("Cancel BK004.", environment=EnvironmentSpec(), initial_state=FERRIES.state)
    found = shown(task, index=own_index(task))
    assert len(found) == len(own_index(task).records)
    assert found["/initial_state/bookings/BK004"] == 0
    assert found["/initial_state/bookings/BK101"] == 4


def test_what_a_task_starts_from_names_shared_records() -> None:
    assert shown(ferry_task("Hello.", initial_state={"caller": "member_030"}))["members/member_030"] == 0


def test_catalogues_are_tables_that_refer_to_no_other() -> None:
    index = shared_index(FERRIES)
    assert index.catalogues == {"/environment/state/sailings", "/environment/state/members"}


def odd(value: Any) -> AgentTask:
    return ferry_task("Cancel BK004.", ToolCall(name="x", arguments={"v": value}))


@pytest.mark.parametrize("value", [None, [], {"$any_of": ["BK007", "BK008"], "$optional": True}, 1e300, "\ud800"])
def test_odd_arguments_do_no_harm(value: Any) -> None:
    assert shown(odd(value))["bookings/BK004"] == 0


def test_days_that_are_none_do_no_harm() -> None:
    keys = ("2024-02-30", "9999-12-31", "0001-01-01", "2024-13-01", "2031-06-01")
    sailings = {
        **FERRIES.state["sailings"],
        "F001": sailing(1, ("RIGA", "KIEL")) | {"dates": dict.fromkeys(keys, {"fare": 1})},
    }
    bookings = {
        **FERRIES.state["bookings"],
        "BK000": {"booking_id": "BK000", "legs": [{"sailing": "F001", "date": key} for key in keys]},
    }
    environment = FERRIES.model_copy(update={"state": {**FERRIES.state, "sailings": sailings, "bookings": bookings}})
    found = shown(ferry_task("Move BK000 by two days, to June 4.", environment=environment))
    assert set(days_of(found, "F073")) >= {"03", "04"}
