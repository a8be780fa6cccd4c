from typing import Any

import pytest

from agenthard.audit.judge.context.state_index import StateIndex, own_index, shared_index
from agenthard.audit.judge.context.state_records import cut
from agenthard.audit.judge.context.state_selection import BUDGET, select
from agenthard.taxonomy import AgentTask, EnvironmentSpec, ToolCall
from tests.audit.judge.ferries import FERRIES, ferry_task, sailing
from tests.builders import make_task

BASE = "/environment/state/"


def shown(task: AgentTask, *observed: str, index: StateIndex | None = None) -> dict[str, int]:
    index = index or shared_index(task.environment)
    found = select(task, index, observed)
    assert [rank for rank, _ in found] == sorted(rank for rank, _ in found)
    return {index.records[number].passage.label.removeprefix(BASE): rank for rank, number in found}


def records_of(found: dict[str, int], table: str) -> set[str]:
    return {label.split("/")[1].partition("#")[0] for label in found if label.startswith(f"{table}/")}


def test_a_named_record_brings_those_that_it_refers_to_with_the_days_of_the_reference() -> None:
    # BK004 is of member_002 and goes with F005 on 5 June.
    found = shown(ferry_task("Cancel booking bk004, please."))
    assert found["bookings/BK004"] == 0
    assert found["members/member_002"] == 1
    assert found["sailings/F005#1"] == found["sailings/F005/dates/2031-06-05"] == 1
    assert records_of(found, "members") == {"member_002"}
    assert {label for label in found if "dates" in label} == {"sailings/F005/dates/2031-06-05"}


def test_a_named_record_brings_those_that_hold_its_key() -> None:
    found = shown(ferry_task("I am member_002."))
    assert (found["members/member_002"], found["bookings/BK004"], found["bookings/BK005"]) == (0, 1, 1)
    assert found["sailings/F005/dates/2031-06-05"] == found["sailings/F006/dates/2031-06-06"] == 2


def test_a_record_is_shown_on_the_days_that_the_user_names_too() -> None:
    found = shown(ferry_task("Move BK004 to 2031-06-09."))
    assert (found["sailings/F005/dates/2031-06-05"], found["sailings/F005/dates/2031-06-09"]) == (1, 1)


@pytest.mark.parametrize(
    ("said", "arguments", "sailings"),
    [
        # F001 and F073 lead from Riga to Kiel, and F009 back.
        ("I want the cheapest berth on June 3rd.", {"origin": "RIGA", "destination": "KIEL"}, {"F001", "F073"}),
        ("I want the cheapest berth from RIGA to KIEL on June 3rd.", {}, {"F001", "F073", "F009"}),
        ("I want the cheapest berth from RIGA on June 3rd.", {}, set()),
    ],
)
def test_records_that_share_two_rare_values_are_alternatives(said: str, arguments: Any, sailings: set[str]) -> None:
    found = shown(ferry_task(said, ToolCall(name="find", arguments=arguments)))
    assert records_of(found, "sailings") == sailings
    assert {label.rpartition("/")[2] for label in found if "dates" in label} <= {"2031-06-03"}


def test_a_call_names_days_object_by_object_and_has_alternatives_on_them() -> None:
    legs = [{"sailing": "F001", "date": "2031-06-03"}, {"sailing": "F009", "date": "2031-06-07"}]
    found = shown(ferry_task("Hello.", ToolCall(name="book", arguments={"legs": legs})))
    assert {label: rank for label, rank in found.items() if "dates" in label} == {
        "sailings/F001/dates/2031-06-03": 0,
        "sailings/F009/dates/2031-06-07": 0,
        "sailings/F073/dates/2031-06-03": 2,
    }


def test_values_that_meet_in_one_record_identify_it_where_no_key_is_named() -> None:
    # Member 25 is First1 Last2 of Town 8. First1: 5 of 60, Last2: 12, Town 8: 4; 60 * 5/60 * 12/60 * 4/60 < 0.1.
    found = shown(ferry_task("You are First1 Last2 and live in Town 8."))
    assert found["members/member_025"] == 0
    assert records_of(found, "members") == {"member_025"}


@pytest.mark.parametrize(
    ("observed", "rank"), [("calls find({}) response: BK009", 2), (" ".join(f"BK{n:03}" for n in range(40)), None)]
)
def test_a_response_brings_what_it_names_unless_it_is_a_listing(observed: str, rank: int | None) -> None:
    assert shown(ferry_task("Hello."), observed).get("bookings/BK009") == rank


def test_a_text_that_names_nothing_selects_nothing() -> None:
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


def library(books: int = 60, **more: Any) -> dict[str, Any]:
    """Books in a list, found by their shelf mark; loans by number, each of one book."""
    shelves = [{"mark": f"QA-{n:03}", "title": f"Volume {n % 7}", "text": "y" * 300} for n in range(books)]
    loans = {f"L{n:03}": {"book": f"QA-{n % 45:03}", "reader": f"Reader {n % 5}", "note": "z" * 300} for n in range(50)}
    return {"books": shelves, "loans": loans, **more}


def test_keys_and_foreign_keys_are_inferred_from_unique_values() -> None:
    state = library()
    index = StateIndex(cut(state, "/environment/state"))
    assert index.named("qa-007") == {"/environment/state/books/7"}
    assert index.named("volume 3") == set()
    assert index.foreign_keys == {("/environment/state/loans", "book", "/environment/state/books")}
    assert index.catalogues == {"/environment/state/books"}
    assert index.references("/environment/state/loans/L007") == {"/environment/state/books/7"}
    found = shown(make_task(environment=EnvironmentSpec(state=state), user=ferry_task("Extend loan L007.").user))
    assert (found["loans/L007"], found["books/7"]) == (0, 1)


def test_a_field_with_few_values_of_keys_is_no_foreign_key() -> None:
    # A key that is also a common word elsewhere leads nowhere: one of three values of `part` is the key of a book.
    parts = {f"P{n}": {"part": ("QA-001", "cover", "spine")[n % 3]} for n in range(9)}
    index = StateIndex(cut(library(parts=parts), "/environment/state"))
    assert not {key for key in index.foreign_keys if key[0].endswith("/parts")}


def test_records_other_than_seeds_keep_to_the_budget() -> None:
    state = library()
    for number, loan in enumerate(state["loans"].values()):
        loan |= {"book": f"QA-{number % 10:03}", "note": "z" * 3000}
    task = make_task(environment=EnvironmentSpec(state=state), user=ferry_task("Is QA-003 or QA-004 out?").user)
    index = shared_index(task.environment)
    found = select(task, index, [])
    seeds = [number for rank, number in found if rank == 0]
    others = sum(index.records[number].tokens for rank, number in found if rank)
    assert {index.records[number].passage.label for number in seeds} == {f"{BASE}books/3", f"{BASE}books/4"}
    assert BUDGET / 2 < others <= BUDGET


def odd(value: Any) -> AgentTask:
    return ferry_task("Cancel BK004.", ToolCall(name="x", arguments={"v": value}))


@pytest.mark.parametrize("value", [None, [], {"$any_of": ["BK007", "BK008"], "$optional": True}, 1e300, "\ud800"])
def test_odd_arguments_do_no_harm(value: Any) -> None:
    assert shown(odd(value))["bookings/BK004"] == 0


def test_days_that_are_not_in_the_calendar_do_no_harm() -> None:
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
    assert {f"sailings/F001/dates/{key}" for key in keys} <= found.keys()
