from typing import Any

import pytest

from agenthard.audit.detectors.user import AmbiguousRecord
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, Tier, ToolCall, UserSpec
from tests.builders import make_task


def loan(status: str, *items: dict[str, Any], user: str = "ada") -> dict[str, Any]:
    return {"user_id": user, "status": status, "items": list(items)}


ATLAS = {"item_id": "b1", "name": "Atlas", "cover": "linen"}
OTHER_ATLAS = {"item_id": "b2", "name": "Atlas", "cover": "paper"}
COOKBOOK = {"item_id": "b3", "name": "Cookbook", "cover": "paper"}
STATE = {
    "users": {"ada": {}},
    "loans": {
        "L-100": loan("out", ATLAS, COOKBOOK),
        "L-200": loan("out", OTHER_ATLAS),
        "L-300": loan("back", OTHER_ATLAS),
        "L-400": loan("out", OTHER_ATLAS, user="bob"),
    },
}


def task(said: str, *returned: tuple[str, str], state: Any = STATE) -> AgentTask:
    calls = tuple(
        ToolCall(name="give_back", arguments={"loan_id": record, "items": [item]}) for record, item in returned
    )
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(state=state),
        ground_truth=GroundTruth(semantics="reference_path", turns=(calls,), call_matching="state"),
    )


def test_two_items_of_one_name() -> None:
    subject = task("I want to return the atlas.", ("L-200", "b2"))
    [hit] = AmbiguousRecord().inspect(subject)
    assert [item.pointer.rsplit("/state/")[-1] for item in hit.evidence[1:]] == [
        "loans/L-200/items/0",
        "loans/L-100/items/0",
    ]
    assert all(failure(item, subject, {}) is None for item in hit.evidence)
    assert AmbiguousRecord.tier is Tier.SIGNAL


@pytest.mark.parametrize(
    "said",
    [
        "I want to return the paper atlas.",
        "I want to return the atlas of L-200.",
        "I want to return both atlases.",
        "I want to return the cheaper atlas.",
    ],
)
def test_the_text_sets_them_apart(said: str) -> None:
    assert list(AmbiguousRecord().inspect(task(said, ("L-200", "b2")))) == []


def test_the_company_of_the_item_and_the_gold_set_them_apart() -> None:
    assert list(AmbiguousRecord().inspect(task("Return the atlas I got with the cookbook.", ("L-100", "b1")))) == []
    assert list(AmbiguousRecord().inspect(task("Return the atlas.", ("L-100", "b1"), ("L-200", "b2")))) == []
    alone = {**STATE, "loans": {key: STATE["loans"][key] for key in ("L-200", "L-300", "L-400")}}
    assert list(AmbiguousRecord().inspect(task("Return the atlas.", ("L-200", "b2"), state=alone))) == []


def test_without_a_database_nothing_is_checked() -> None:
    assert AmbiguousRecord().not_applicable(make_task()) == "no shared state is part of the files"
    assert AmbiguousRecord().not_applicable(task("Hello")) == "the ground truth holds no calls"
