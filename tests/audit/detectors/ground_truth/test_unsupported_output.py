"""Required texts that the records of the ground truth do not yield."""

from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import UnsupportedOutput
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Status,
    ToolCall,
    UserSpec,
)
from tests.builders import make_task


def order(key: str, tracking: str, **items: float) -> dict[str, Any]:
    listed = [
        {"name": name.replace("_", " ").title(), "item_id": f"{key}{i}", "price": price}
        for i, (name, price) in enumerate(items.items())
    ]
    return {"order_id": key, "user_id": "ada_1", "items": listed, "tracking_id": [tracking], "note": "full size"}


ORDERS = {
    "ORD001": order("ORD001", "777123456", desk_lamp=80.25, tea_kettle=19.99),
    "ORD002": order("ORD002", "777123789", tablet=300.10),
    "ORD003": order("ORD003", "777123000", smart_watch=45.45),
}
STATE = {
    "users": {f"jane_{i}": {"user_id": f"jane_{i}", "name": f"Jane Number{i}"} for i in range(5)}
    | {"ada_1": {"user_id": "ada_1", "name": {"first_name": "Ada", "last_name": "Lovelace"}}},
    "orders": ORDERS,
}
CANCEL = [("cancel", {"order_id": key}) for key in ORDERS]


def task(*outputs: str, calls: Any = CANCEL, says: str = "Cancel all.", criteria: str = "") -> AgentTask:
    turn = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls)
    checks = (Check(kind="judge", scored=False, expected=criteria),) if criteria else ()
    return make_task(
        user=UserSpec(kind="simulated", instruction=f"You are Ada Lovelace. {says}"),
        environment=EnvironmentSpec(state=STATE),
        evaluation=EvaluationSpec(checks=(*checks, Check(kind="final_state", scored=True))),
        ground_truth=GroundTruth(semantics="reference_path", turns=(turn,), outputs=outputs, call_matching="state"),
    )


def claims(audited: AgentTask) -> list[str]:
    (row,) = check_shard([audited], {}, [UnsupportedOutput()]).coverage
    assert row.status in (Status.CLEAN, Status.FLAGGED), row
    return [hit.claim for hit in UnsupportedOutput().inspect(audited)]


@pytest.mark.parametrize(
    "output", ["80.25", "100.24", "445.79", "$380.35", "199.86", "19.99", "777123789", "full size", "3"]
)
def test_what_the_records_yield(output: str) -> None:
    assert claims(task(output)) == []


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("100.42", "no numbers of the records"),
        ("446", "the records yield 445.79, and an exact reply fails"),
        ("full-size", "have 'full size' only"),
    ],
)
def test_what_they_do_not(output: str, reason: str) -> None:
    (claim,) = claims(task(output))
    assert reason in claim


def test_a_total_without_one_of_the_calls() -> None:
    says = "Cancel all. You want to know the total refund."
    (claim,) = claims(task("400.34", says=says))
    assert "leaves out 45.45 of the 445.79" in claim
    assert claims(task("445.79", says=says)) == []


def test_the_number_of_another_order() -> None:
    says = "Tell me the tracking number of the tablet order."
    (claim,) = claims(task("777123456", says=says))
    assert "it is of a record without tablet" in claim
    assert claims(task("777123789", says=says)) == []


def test_an_amount_of_the_criteria_that_the_gold_does_not_give() -> None:
    send = [("send_certificate", {"user_id": "ada_1", "amount": 50})]
    (claim,) = claims(task(calls=send, criteria="The agent offers a certificate of $100."))
    assert claim == "The criteria name $100, and the gold call send_certificate gives 50."
    assert claims(task(calls=send, criteria="The agent offers a certificate of $50.")) == []


def test_a_record_of_the_criteria_that_the_gold_does_not_change() -> None:
    (claim,) = claims(task(calls=CANCEL[:1], criteria="The agent cancels ORD002."))
    assert (
        claim
        == "The criteria name ORD002, which no gold call changes; the gold changes ORD001, which they do not name."
    )
    assert claims(task(calls=CANCEL[:1], criteria="The agent cancels ORD001.")) == []
    assert claims(task(calls=CANCEL[:1], criteria="The agent does not cancel ORD002.")) == []


def test_a_task_without_required_texts_is_not_checked() -> None:
    (row,) = check_shard([task()], {}, [UnsupportedOutput()]).coverage
    assert row.status is Status.NOT_CHECKED
