"""Milestones, carried out, against the state that is expected."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import MilestonesMissState
from agenthard.audit.execution.context import Execution
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, GroundTruth, Message, Status, ToolCall, UserSpec
from tests.library import DESK, call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def task(expected: Any, *calls: ToolCall) -> AgentTask:
    return desk_task(
        evaluation=EvaluationSpec(checks=(Check(kind="final_state", scored=True, expected=expected),)),
        ground_truth=GroundTruth(semantics="milestones", turns=(calls,), call_matching="state"),
    )


def claims(one: AgentTask) -> list[str]:
    return [item.hit.claim for item in check_shard([one], {}, [MilestonesMissState()]).hits]


def test_an_object_that_does_not_exist() -> None:
    (claim,) = claims(task([{"books": {}}, {"member": {}}], lend()))
    assert claim.startswith("The expected state names 'member', and the environment has no such object, only 'members'")


def test_milestones_that_leave_another_state() -> None:
    (claim,) = claims(task({"books": {}}, call("draw_ticket")))  # the machine counts on, whoever resets the desk
    assert claim.startswith("All milestones are carried out without an error, and the state that they leave is not")


@pytest.mark.parametrize(
    "calls", [(lend(),), (lend("b9", "bea"), call("draw_ticket"))], ids=["the expected state", "one of them fails"]
)
def test_milestones_that_agree_or_prove_nothing(calls: tuple[ToolCall, ...]) -> None:
    assert claims(task([{"books": {}}], *calls)) == []


def test_other_ground_truths_are_not_checked() -> None:
    (row,) = check_shard([desk_task(lend())], {}, [MilestonesMissState()]).coverage
    assert row.status is Status.NOT_CHECKED and "milestones" in row.reason


@pytest.mark.long
@pytest.mark.corpora
def test_chinese_tasks_run_on_the_chinese_classes(corpora: Path) -> None:
    root = corpora / "acebench_2025-10-29"
    source = open_source("acebench", root, ("agent_multi_step", "agent_multi_turn"))
    shard = check_shard(list(source.tasks(Quarantine())), {}, [MilestonesMissState()], Execution(checkout=root))
    found = sorted(task_id for item in shard.hits for task_id in item.task_ids)
    assert [name.removeprefix("agent_multi_") for name in found] == [
        "step_0",
        "step_1",
        "step_14",
        "step_15",
        "step_16",
        "step_17",
        "turn_7",
        "turn_9",
    ]


def test_a_balance_that_falls_by_another_sum_than_the_new_records_cost() -> None:
    expected = [{"members": {"ada": {"balance": 92}}, "loans": [{"member": "ada", "total_price": 68}]}]
    start = {"members": {"ada": {"balance": 150}}, "loans": []}
    environment = DESK.model_copy(update={"state": {"desk": start, **DESK.state}})
    one = task([{"desk": expected[0]}]).model_copy(update={"environment": environment})
    claim = claims(one.model_copy(update={"ground_truth": task({}, lend()).ground_truth}))[0]
    assert claim.startswith("The expected state lowers the balance of 'ada' by 58, from 150 to 92")


def test_a_value_of_a_milestone_that_the_expected_state_has_otherwise() -> None:
    expected = [{"books": {"b7": {"lent_to": "bea", "note": "Back by May"}}}]
    note = call("write_note", lent_to="bea", note="Back by June")
    assert any("A milestone gives 'Back by June'" in claim for claim in claims(task(expected, note)))
    assert not any("gives" in claim for claim in claims(task(expected, call("write_note", note="Back by May"))))


def test_a_text_that_the_user_dictates_and_no_part_of_the_answer_has() -> None:
    says = 'Send a message to Bea with the content "The book is back".'
    expected = [{"books": {"b7": {"note": "The book is here"}}}]
    asked = task(expected, lend()).model_copy(
        update={"user": UserSpec(kind="scripted", turns=((Message(role="user", content=says),),))}
    )
    assert any("The user dictates 'The book is back'" in claim for claim in claims(asked))
