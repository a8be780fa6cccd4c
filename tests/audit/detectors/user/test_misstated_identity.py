"""What users say about themselves, against their records."""

from typing import Any

import pytest

from agenthard.audit.detectors.user import MisstatedIdentity
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

ADA = {
    "name": {"first_name": "Ada", "last_name": "Byron"},
    "address": {"zip": "85033"},
    "phone_number": "555-123-2002",
    "born": "x",
    "date_of_birth": "08/11/1997",
    "cards": [{"last_four": "7334"}],
    "level": "silver",
}
LEVELS = ("gold", "silver", "regular")
USERS = {"ada_17": ADA, **{f"u{i}_1": {"name": {}, "level": LEVELS[i % 3]} for i in range(15)}}


def task(says: str, criteria: str = "", **changes: Any) -> AgentTask:
    checks = (Check(kind="judge", scored=True, expected=criteria),) if criteria else ()
    values: dict[str, Any] = {
        "user": UserSpec(kind="simulated", instruction=says),
        "environment": EnvironmentSpec(state={"users": USERS}),
        "evaluation": EvaluationSpec(checks=checks),
    }
    return make_task(**{**values, **changes})


def claims(one: AgentTask) -> list[str]:
    return [item.hit.claim for item in check_shard([one], {}, [MisstatedIdentity()]).hits]


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("Your name is Ada Byron and your zip code is 85303.", "postal code is said to be '85303'"),
        ("You are Ada Byron with phone number 555-123-2003.", "phone number is said to be '555-123-2003'"),
        ("Your user id is ada_17. Pay with the card ending in 7343.", "card is said to be '7343'"),
        (
            "**Your character:** Ada Byron. Your date of birth is 11/08/1997.",
            "date of birth is said to be '11/08/1997'",
        ),
    ],
)
def test_statements_that_no_record_has(says: str, words: str) -> None:
    (claim,) = claims(task(says))
    assert words in claim


@pytest.mark.parametrize(
    "says",
    [
        "Your name is Ada Byron and your zip code is 85033.",
        "You are Ada Byron, phone (555) 123-2002, born August 11, 1997.",  # day and month may be in either order
        "You are Ada Byron. First say that your zip code is 85303, then that your zip code is 85033.",
        "You are Ada Byron. Change your address to the new one, zip code 85303.",
        "You are Cea Dove, and your zip code is 10001.",
    ],
)
def test_statements_that_agree_or_are_about_something_else(says: str) -> None:
    assert claims(task(says)) == []


def test_what_a_gold_call_tries_is_meant() -> None:
    tried = GroundTruth(semantics="required", turns=((ToolCall(name="find", arguments={"zip": "85303"}),),))
    assert claims(task("You are Ada Byron, zip code 85303.", ground_truth=tried)) == []


def test_records_of_the_task_itself_count() -> None:
    own = {"users": {"bea_2": {"name": "Bea Cole", "date_of_birth": "09/22/2001"}}}
    (claim,) = claims(task("You are Bea Cole. DOB: 09/22/1991", initial_state=own))
    assert "'09/22/1991'" in claim and "'09/22/2001'" in claim


def test_a_ticket_that_puts_the_user_elsewhere() -> None:
    said = "You are Ada Byron. You are currently at home in the United States."
    (claim,) = claims(task(said, metadata={"ticket": "Ada Byron, current location: abroad in France."}))
    assert claim == "The user is in United States by its own texts, and in France by the ticket."
    assert claims(task(said, metadata={"ticket": "current location: at home in the United States."})) == []


def test_criteria_that_speak_of_another_class() -> None:
    (claim,) = claims(task("You are Ada Byron.", "Agent sees that she is a regular member."))
    assert claim == "The criteria speak of 'regular member', and the user's record has 'silver'."
    assert claims(task("You are Ada Byron.", "She claims to be a gold member and is a silver member.")) == []
    assert claims(task("You are Ada Byron.", "Agent says that she is not a gold member.")) == []


PEOPLE = {
    f"{first.lower()}_{last.lower()}_{i}": {
        "name": {"first_name": first, "last_name": last},
        "email": f"{first}{i}@x.org",
    }
    for i, (first, last) in enumerate(
        [("Ada", "Byron"), ("Bea", "Cole"), ("Cea", "Dove"), ("Dan", "East"), ("Eva", "Fox")], start=10
    )
}
SHOP = {"users": PEOPLE, "orders": {f"#W{i}": {"user_id": key} for i, key in enumerate(PEOPLE, start=100)}}


def shopper(says: str, order: str) -> AgentTask:
    truth = GroundTruth(semantics="required", turns=((ToolCall(name="cancel", arguments={"order_id": order}),),))
    return task(says, environment=EnvironmentSpec(state=SHOP), ground_truth=truth)


@pytest.mark.parametrize(
    ("says", "order", "words"),
    [
        ("You are ada_byron_10. Cancel your last order.", "#W101", "of 'bea_cole_11', and the user is 'ada_byron_10'"),
        ("You are Ada Byron. Cancel your last order.", "#W101", "the user is 'ada_byron_10'"),
        ("Your e-mail is Ada10@x.org. Cancel it.", "#W103", "the user is 'ada_byron_10'"),
        ("Your user id is ada_byron_99. Cancel it.", "#W100", "'ada_byron_99', whom the state does not have"),
        ("You are Ada Lovelace. Cancel it.", "#W100", "'Ada Lovelace', whom the state does not have"),
        ("You are ada_byron_10. Cancel order #W102.", "#W100", "the texts name '#W102', which is of 'cea_dove_12'"),
    ],
)
def test_gold_calls_about_the_records_of_someone_else(says: str, order: str, words: str) -> None:
    (claim,) = claims(shopper(says, order))
    assert words in claim


@pytest.mark.parametrize(
    ("says", "order"),
    [
        ("You are ada_byron_10. Cancel order #W100.", "#W100"),
        ("You are ada_byron_10, and you ask for the order of bea_cole_11.", "#W101"),
        ("You are ada_byron_10. Ask about your friend's order #W102.", "#W102"),
        ("Cancel the last order.", "#W102"),
    ],
)
def test_own_records_and_several_people(says: str, order: str) -> None:
    assert [claim for claim in claims(shopper(says, order)) if "whom" in claim or "texts name" in claim] == []


def test_an_address_that_no_record_has() -> None:
    own = {"users": {"bea_2": {"name": "Bea Cole", "email": "bea@x.org", "address": "12 Elm Street, Dublin, OH 43016"}}}
    (claim,) = claims(task("You are Bea Cole. Your email is bee@x.org.", initial_state=own))
    assert "e-mail address is said to be 'bee@x.org'" in claim
    (claim,) = claims(task("You are Bea Cole. Address: 14 Elm Street.", initial_state=own))
    assert "address is said to be '14 Elm Street'" in claim
    assert claims(task("You are Bea Cole. Address: 12 Elm Street. E-mail: bea@x.org", initial_state=own)) == []


def test_users_without_a_record_are_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [MisstatedIdentity()]).coverage
    assert row.status is Status.NOT_CHECKED
