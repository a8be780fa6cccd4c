"""Gold calls that choose another variant than the one that the user describes."""

from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import UnchosenVariant
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Status, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task


def lamp(key: str, price: float, **options: str) -> dict[str, Any]:
    return {"item_id": key, "options": options, "available": True, "price": price}


LAMPS = {
    "lamp10001": lamp("lamp10001", 80, color="red", power="battery", hub="Apple HomeKit"),
    "lamp10002": lamp("lamp10002", 90, color="blue", power="battery", hub="Apple HomeKit"),
    "lamp10003": lamp("lamp10003", 70, color="blue", power="mains", hub="Google Assistant"),
    "lamp10004": lamp("lamp10004", 60, color="red", power="mains", hub="Amazon Alexa"),
}
CARDS = {
    "card70001": {"id": "card70001", "source": "credit_card"},
    "gift70002": {"id": "gift70002", "source": "gift_card", "balance": 50},
    "gift70003": {"id": "gift70003", "source": "gift_card", "balance": 90},
}
STATE = {
    "products": {"77": {"product_id": "77", "name": "Desk Lamp", "variants": LAMPS}},
    "users": {"ada_1": {"user_id": "ada_1", "payment_methods": CARDS}},
}


def exchange(says: str, new: str, pays: str = "card70001", old: str = "lamp10001") -> AgentTask:
    arguments = {"item_ids": [old], "new_item_ids": [new], "payment_id": pays}
    return make_task(
        user=UserSpec(kind="simulated", instruction=says),
        environment=EnvironmentSpec(state=STATE),
        ground_truth=GroundTruth(
            semantics="reference_path",
            turns=((ToolCall(name="exchange", arguments=arguments),),),
            call_matching="state",
        ),
    )


def claims(task: AgentTask) -> list[str]:
    hits = check_shard([task], {}, [UnchosenVariant()])
    assert all(row.status is not Status.ERROR for row in hits.coverage), hits.coverage
    return [hit.claim for hit in UnchosenVariant().inspect(task)]


@pytest.mark.parametrize(
    ("says", "new", "pays", "claim"),
    [
        ("Exchange the lamp for a blue one.", "lamp10004", "card70001", "wants color 'blue'; the gold takes lamp10004"),
        ("You want one for Google Home.", "lamp10004", "card70001", "wants hub 'Google Assistant'"),
        ("You want lamp10002.", "lamp10003", "card70001", "names lamp10002; the gold takes lamp10003"),
        ("Any lamp. Pay with a gift card.", "lamp10002", "card70001", "wants source 'gift_card'"),
        ("You want the same lamp but in blue.", "lamp10003", "card70001", "changes power from 'battery' to 'mains'"),
        ("Exchange it for the cheapest lamp.", "lamp10002", "card70001", "whose price is 90 (that of lamp10004 is 60)"),
        ("Use the gift card with the largest balance.", "lamp10002", "gift70002", "whose balance is 50"),
    ],
)
def test_another_record_than_the_one_described(says: str, new: str, pays: str, claim: str) -> None:
    assert any(claim in each for each in claims(exchange(says, new, pays)))


@pytest.mark.parametrize(
    ("says", "new", "pays"),
    [
        ("Exchange the lamp for a blue one.", "lamp10002", "card70001"),
        ("Not a blue one, and nothing from Google.", "lamp10004", "card70001"),
        ("You want a blue one, or else a red one.", "lamp10004", "card70001"),
        ("Pay with a gift card if possible.", "lamp10002", "card70001"),
        ("You want the same lamp but in blue.", "lamp10002", "card70001"),
        ("You want a similar lamp, only cheaper.", "lamp10004", "card70001"),
        ("Use the gift card with the smallest balance.", "lamp10002", "gift70002"),
    ],
)
def test_what_the_texts_allow(says: str, new: str, pays: str) -> None:
    assert claims(exchange(says, new, pays)) == []


def test_a_gold_without_a_choice_is_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [UnchosenVariant()]).coverage
    assert row.status is Status.NOT_CHECKED


def test_another_of_the_values_that_the_tool_documents() -> None:
    cancel = ToolSpec(
        name="cancel",
        description="Cancels an order.",
        parameters={
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "Either 'no longer needed' or 'ordered by mistake'."}
            },
        },
    )
    gold = ToolCall(name="cancel", arguments={"reason": "no longer needed"})

    def asked(says: str) -> AgentTask:
        return make_task(
            user=UserSpec(kind="simulated", instruction=says),
            environment=EnvironmentSpec(tools=(cancel,), state=STATE),
            ground_truth=GroundTruth(semantics="reference_path", turns=((gold,),), call_matching="state"),
        )

    (claim,) = claims(asked("Cancel it: you ordered by mistake."))
    assert claim == "The user names 'ordered by mistake'; the gold gives 'no longer needed', which no text names."
    assert claims(asked("Cancel it.")) == [] == claims(asked("It was not ordered by mistake, it is no longer needed."))
