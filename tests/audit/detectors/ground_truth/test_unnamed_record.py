"""Records that a call has just created, and those of named people, in a real environment."""

import json
from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import FruitlessCall, UnnamedRecord
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Status, ToolCall
from tests.library import DESK, TEXT, Desk, call, desk_task, library_desk, tool

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

MEMBERS = {"Ada": "M01", "Bea": "M02"}
TOOLS = (
    tool("reserve_book", "write", book=TEXT),
    tool("cancel_reservation", "write", reservation_id=TEXT),
    tool("get_member_id", "read", user=TEXT),
    tool("send_letter", "write", receiver_id=TEXT),
    tool("search_notes", "read", text=TEXT),
    tool("verify_member", "read", member=TEXT),
)
STATE = {"books": {"b7": {"lent_to": None}}, "members": {"ada": {"fees": []}}}


@pytest.fixture(autouse=True)
def mail_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk also reserves books, writes letters, searches and verifies."""

    def reserve(self: Desk, book: str) -> str:
        self.state["reservations"] = [book]
        return json.dumps({"reservation_id": "R5", "book": book})

    def cancel(self: Desk, reservation_id: str) -> str:
        self.state["cancelled"] = reservation_id
        return json.dumps({"cancelled": True})

    def letter(self: Desk, receiver_id: str) -> str:
        self.state["letter"] = receiver_id
        return json.dumps({"sent": True})

    methods = {
        "_reserve_book": reserve,
        "_cancel_reservation": cancel,
        "_send_letter": letter,
        "_get_member_id": lambda self, user: json.dumps({"member_id": MEMBERS[user]}),
        "_search_notes": lambda self, text: json.dumps({"lines": []}),
        "_verify_member": lambda self, member: json.dumps({"verified": member in MEMBERS, "reason": "members only"}),
    }
    for name, method in methods.items():
        monkeypatch.setattr(Desk, name, method, raising=False)


def task(says: str, *calls: ToolCall) -> AgentTask:
    environment = DESK.model_copy(update={"tools": (*DESK.tools, *TOOLS), "state": STATE})
    return desk_task(*calls, says=says, environment=environment, initial_state=STATE)


def claims(check: Any, one: AgentTask) -> list[str]:
    shard = check_shard([one], {}, [check])
    assert [row.reason for row in shard.coverage if row.status is Status.ERROR] == []
    return [item.hit.claim for item in shard.hits]


def test_another_record_than_the_created_one() -> None:
    says = "Reserve b7, then cancel the reservation again."
    reserve = call("reserve_book", book="b7")
    [claim] = claims(UnnamedRecord(), task(says, reserve, call("cancel_reservation", reservation_id="R4")))
    assert claim == (
        "The gold call of 'cancel_reservation' gives 'reservation_id' as 'R4', which nothing in the task has; "
        "'reserve_book' has just created the record 'R5'."
    )
    assert not claims(UnnamedRecord(), task(says, reserve, call("cancel_reservation", reservation_id="R5")))
    said = task("Reserve b7 and cancel R4.", reserve, call("cancel_reservation", reservation_id="R4"))
    assert not claims(UnnamedRecord(), said)


def test_another_person_than_the_named_one() -> None:
    [claim] = claims(UnnamedRecord(), task("I am Bea. Write to Ada.", call("send_letter", receiver_id="M02")))
    assert "the user names 'Ada', who is 'M01'" in claim
    assert not claims(UnnamedRecord(), task("I am Bea. Write to Ada.", call("send_letter", receiver_id="M01")))
    assert not claims(UnnamedRecord(), task("Write to Ada and Bea.", call("send_letter", receiver_id="M02")))


def test_a_search_that_finds_nothing() -> None:
    [claim] = claims(FruitlessCall(), task("Find the notes on 'Emma'.", call("search_notes", text="Emma")))
    assert claim == "The gold call of 'search_notes' finds nothing: {\"lines\": []}"
    assert not claims(FruitlessCall(), task("Look through the notes.", call("search_notes", text="Emma")))


def test_a_verification_that_is_refused() -> None:
    [claim] = claims(FruitlessCall(), task("Verify Cleo.", call("verify_member", member="Cleo")))
    assert "is refused" in claim
    assert not claims(FruitlessCall(), task("Verify Ada.", call("verify_member", member="Ada")))
