"""Users who say something else of their records than these have."""

from typing import Any

import pytest

from agenthard.audit.detectors.user import MisstatedRecord
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Status, ToolCall, UserSpec
from tests.builders import make_task

ADA = {
    "user_id": "ada_lovelace_17",
    "name": {"first_name": "Ada", "last_name": "Lovelace"},
    "address": {"address1": "12 Elm Avenue", "zip": "10108"},
    "trips": ["TRIP01", "TRIP02"],
}
STATE = {
    "users": {f"user_{i}": {"user_id": f"user_{i}", "name": f"Jane Number{i}"} for i in range(5)}
    | {"ada_lovelace_17": ADA},
    "trips": {
        "TRIP01": {
            "trip_id": "TRIP01",
            "user_id": "ada_lovelace_17",
            "legs": [{"origin": "JFK", "destination": "SEA", "date": "2024-05-17"}],
        },
        "TRIP02": {
            "trip_id": "TRIP02",
            "user_id": "ada_lovelace_17",
            "legs": [{"origin": "SEA", "destination": "BOS", "date": "2024-05-27"}],
        },
    },
    "charges": {
        "chg0001": {
            "id": "chg0001",
            "user_id": "ada_lovelace_17",
            "merchant": "Acme Books",
            "amount": "$42.50",
            "date": "10/10/2024",
        },
    },
}


def task(says: str, **arguments: Any) -> AgentTask:
    call = ToolCall(name="change", arguments=arguments or {"trip_id": "TRIP01"})
    return make_task(
        user=UserSpec(kind="simulated", instruction=f"You are Ada Lovelace. {says}"),
        environment=EnvironmentSpec(state=STATE),
        ground_truth=GroundTruth(semantics="reference_path", turns=((call,),), call_matching="state"),
    )


def claims(audited: AgentTask) -> list[str]:
    assert all(row.status is not Status.ERROR for row in check_shard([audited], {}, [MisstatedRecord()]).coverage)
    return [hit.claim for hit in MisstatedRecord().inspect(audited)]


@pytest.mark.parametrize(
    ("says", "arguments", "claim"),
    [
        ("Change the flight from JFK on May 27.", {}, "JFK May 27"),
        ("Change the flight from JFK on June 17.", {}, "has another day"),
        ("Dispute Bobs Books $42.50 on 10/10/2024.", {}, "has another name"),
        ("Dispute Acme Books $45.20 on 10/10/2024.", {}, "has another amount"),
        ("Dispute Acme Books $42.50 on 10/12/2024.", {}, "has another day"),
        ("You live in 98195.", {}, "postal code is said to be 98195"),
        ("You live in Oak Avenue.", {}, "'Oak Avenue', and the user's records have 'Elm Avenue'"),
        ("You live in 21 Elm Avenue.", {}, "have the number 12"),
        ("Change trip TRIP02.", {"trip_id": "TRIP01"}, "name TRIP02, which no gold call uses; the gold changes TRIP01"),
        ("Book it for May 20.", {"trip_id": "TRIP01", "date": "2024-05-21"}, "The user says 'May 20'"),
    ],
)
def test_what_the_records_contradict(says: str, arguments: dict[str, Any], claim: str) -> None:
    found = claims(task(says, **arguments))
    assert any(claim in each for each in found), found


@pytest.mark.parametrize(
    ("says", "arguments"),
    [
        ("Change the flight from JFK on May 17 to May 30.", {}),
        ("You will be at SEA (SEA) on May 30.", {}),
        ("Dispute Acme Books $42.50 on 10/10/2024, not Bobs Books.", {}),
        ("You live in 12 Elm Avenue, 10108.", {}),
        ("You moved to Oak Avenue, 98195.", {"street": "Oak Avenue", "zip": "98195"}),
        ("Change trip TRIP02 or TRIP01.", {"trip_id": "TRIP01"}),
        ("Book it for May 20.", {"trip_id": "TRIP01", "date": "2024-05-20"}),
    ],
)
def test_what_the_records_have(says: str, arguments: dict[str, Any]) -> None:
    assert claims(task(says, **arguments)) == []


def test_a_task_without_records_is_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [MisstatedRecord()]).coverage
    assert row.status is Status.NOT_CHECKED
