"""Gold calls that have the values of their neighbours."""

import json
from typing import Any

from agenthard.audit.detectors.ground_truth import SlippedCall
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Status, ToolCall, UserSpec
from tests.builders import make_task

RIDERS = [{"name": "Ada", "born": "1815-12-10"}, {"name": "Jane", "born": "1775-12-16"}]
STATE = {"trips": {"TRIP01": {"trip_id": "TRIP01", "riders": RIDERS}}}


def task(*calls: tuple[str, dict[str, Any]], says: str = "Please do it.") -> AgentTask:
    return make_task(
        user=UserSpec(kind="simulated", instruction=says),
        environment=EnvironmentSpec(state=STATE),
        ground_truth=GroundTruth(
            semantics="reference_path",
            turns=(tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls),),
            call_matching="state",
        ),
    )


def claims(audited: AgentTask) -> list[str]:
    assert all(row.status is Status.CLEAN or row.status is Status.FLAGGED for row in _coverage(audited))
    return [hit.claim for hit in SlippedCall().inspect(audited)]


def _coverage(audited: AgentTask) -> list[Any]:
    return list(check_shard([audited], {}, [SlippedCall()]).coverage)


def looks(*keys: str) -> list[tuple[str, dict[str, Any]]]:
    return [("get_account", {"account_id": key}) for key in keys]


def credits(*keys: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("call_tool", {"tool": "credit_account_77", "arguments": json.dumps({"account_id": key, "amount": number})})
        for number, key in enumerate(keys)
    ]


def test_one_record_twice_and_another_not() -> None:
    wrong = [*looks("acc_1", "acc_2", "acc_3"), *credits("acc_1", "acc_2", "acc_2")]
    assert claims(task(*wrong)) == ["The gold makes credit_account_77 for acc_2 twice, and not for acc_3."]
    assert claims(task(*looks("acc_1", "acc_2", "acc_3"), *credits("acc_1", "acc_2", "acc_3"))) == []
    assert claims(task(*looks("acc_1", "acc_2"), *credits("acc_1", "acc_1"))) == []


def test_the_same_call_twice() -> None:
    cancel = ("cancel", {"account_id": "acc_1"})
    (claim,) = claims(task(*looks("acc_1", "acc_2"), cancel, cancel))
    assert claim == "The gold makes the call cancel twice with the same arguments, and none for acc_2."
    assert claims(task(*looks("acc_1"), cancel, cancel)) == []


def test_an_increase_that_is_the_new_limit() -> None:
    ask, grant = ("ask", {"increase_amount": 900}), ("grant", {"new_limit": 900})
    assert claims(task(ask, grant)) == ["The gold gives 900 as increase_amount and as the limit that results."]
    assert claims(task(("ask", {"increase_amount": 300}), grant)) == []


def test_legs_that_go_back() -> None:
    legs = [{"flight": "A1", "date": "2024-05-24"}, {"flight": "A2", "date": "2024-05-23"}]
    assert claims(task(("book", {"legs": legs}))) == ["The date of the legs goes back: 2024-05-24, 2024-05-23."]
    assert claims(task(("book", {"legs": legs[::-1]}))) == []


def test_a_passenger_with_the_birthday_of_the_other() -> None:
    riders = [RIDERS[0], {"name": "Jane", "born": "1815-12-10"}]
    change = ("change", {"trip_id": "TRIP01", "riders": riders})
    (claim,) = claims(task(change))
    assert claim == "Item 2 of the riders has the born '1815-12-10' of item 1; the record has '1775-12-16'."
    assert claims(task(change, says="Jane was born on 1815-12-10, too.")) == []
    assert claims(task(("change", {"trip_id": "TRIP01", "riders": RIDERS}))) == []


def test_a_name_that_the_text_does_not_list() -> None:
    says = "The kind must be one of these:\n- World Blue Account\n- Sky Account\n- Lime Account\n\nNot World Blue Plus."
    (claim,) = claims(task(("open", {"kind": "World Blue Plus"}), says=says))
    assert claim == "The gold gives 'World Blue Plus'; the valid values that the text lists have 'World Blue Account'."
    assert claims(task(("open", {"kind": "World Blue Account"}), says=says)) == []
