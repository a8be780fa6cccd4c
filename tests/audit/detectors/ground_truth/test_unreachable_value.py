"""Identifiers of the state that no text and no read tells, by search in a real environment."""

from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import UnreachableValue
from agenthard.audit.detectors.support.reach import options_of
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Status, ToolSpec
from tests.library import DESK, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def task(says: str, own: bool = True, **more: Any) -> AgentTask:
    state = {"books": {"b71": {"lent_to": None, **more}, "shelf_12": {"lent_to": None}}, "members": {"ada": {}}}
    return desk_task(
        lend("shelf_12"),
        says=says,
        environment=DESK.model_copy(update={"state": state}),
        initial_state=state if own else None,
    )


def statuses(one: AgentTask) -> tuple[list[str], list[Status]]:
    shard = check_shard([one], {}, [UnreachableValue()])
    return [item.hit.claim for item in shard.hits], [row.status for row in shard.coverage]


def test_an_identifier_that_only_the_state_has() -> None:
    [claim], _ = statuses(task("Lend the other one to Ada; I do not mean b71."))
    assert "'book' = 'shelf_12'" in claim
    assert "calls of find_book, transfer_to_human_agents" in claim


@pytest.mark.parametrize(
    "one",
    [
        task("Lend shelf_12 to Ada."),
        task("Lend the book after b71 to Ada.", after="shelf_12"),  # find_book(book="b71") returns it
    ],
)
def test_identifiers_that_can_be_known(one: AgentTask) -> None:
    assert statuses(one) == ([], [Status.CLEAN])


def test_a_state_of_all_tasks_is_not_searched() -> None:
    assert statuses(task("Lend the other one to Ada.", own=False)) == ([], [Status.NOT_CHECKED])


def test_a_number_with_a_sign_before_it() -> None:
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    tool = ToolSpec(name="machine_at", description="Find a machine.", parameters=schema)
    assert options_of(task("Machine #4827 is on floor 3."), tool, []) == ({"number": [4827]}, False)
