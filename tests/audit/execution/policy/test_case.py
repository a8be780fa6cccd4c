from datetime import datetime

import pytest

from agenthard.audit.execution.policy import PolicyCase, UnknownFactError
from agenthard.taxonomy import ToolCall
from agenthard.taxonomy.accepted import any_of
from tests.audit.execution.policy.conftest import airline_tables, call, make_task

TASK = make_task("airline", airline_tables(), [call("cancel_reservation", reservation_id="ECO")], said="I am Unwell.")
CASE = PolicyCase(TASK, "/ground_truth/turns/0/0", TASK.ground_truth.turns[0][0], {"users": {"new": {"name": "N"}}})


def test_a_record_is_read_as_earlier_calls_left_it() -> None:
    assert CASE.record("users", "new") == {"name": "N"}
    assert CASE.record("users", "ann")["membership"] == "regular"
    with pytest.raises(UnknownFactError, match="no 'eve' among the users"):
        CASE.record("users", "eve")


def test_a_changed_record_is_not_quoted_from_the_files() -> None:
    [fact] = CASE.recorded("users", "ann", "membership")
    assert (fact.pointer, fact.quote) == ("/environment/state/users/ann/membership", "regular")
    ann = {"users": {"ann": {**CASE.record("users", "ann"), "membership": "gold"}}}
    changed = PolicyCase(TASK, CASE.pointer, CASE.call, ann)
    assert changed.recorded("users", "ann", "membership") == ()
    assert len(changed.recorded("users", "ann", "reservations")) == 1
    assert CASE.recorded("users", "new", "name") == () and CASE.recorded("users", "ann", "no such field") == ()


def test_now_is_what_the_policy_states() -> None:
    assert CASE.now == datetime(2024, 5, 15, 15)  # noqa: DTZ001 (the policy's own clock)
    silent = make_task("airline", airline_tables(), [], rules="No clock.")
    with pytest.raises(UnknownFactError, match="no current time"):
        _ = PolicyCase(silent, "", CASE.call, {}).now


def test_what_the_user_says_is_searched_without_case() -> None:
    assert CASE.says(r"\bunwell\b") and not CASE.says("weather")


def test_an_argument_with_several_accepted_values_is_quoted_with_its_call() -> None:
    gold = ToolCall(name="cancel_reservation", arguments={"reservation_id": any_of(["ECO", "NEW"])})
    task = make_task("airline", airline_tables(), [gold])
    case = PolicyCase(task, "/ground_truth/turns/0/0", call("cancel_reservation", reservation_id=["ECO"]), {})
    assert case.given("reservation_id", 0).pointer == "/ground_truth/turns/0/0"
    assert CASE.given("reservation_id").quote == "ECO"
