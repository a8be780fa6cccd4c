"""Readings from mutation and from recorded runs, in a small airline."""

from agenthard.audit.execution.tau import Tau2Environment
from agenthard.audit.readings.from_mutation import unsettled_choices
from agenthard.audit.readings.from_runs import taken_readings
from agenthard.taxonomy import AgentTask, Message, ToolCall, ToolSpec, Trajectory
from tests.audit.execution.policy.conftest import booked, make_task

USER = {
    "name": {"first_name": "Ada", "last_name": "Bell"},
    "payment_methods": {
        "credit_card_11": {"source": "credit_card", "id": "credit_card_11", "brand": "visa"},
        "gift_card_22": {"source": "gift_card", "id": "gift_card_22", "amount": 500},
    },
    "reservations": ["R1"],
    "membership": "regular",
}


def booking(user: str = "ada_1", payment: str = "credit_card_11") -> ToolCall:
    return ToolCall(name="update_reservation_baggages", arguments={"reservation_id": "R1", "payment_id": payment})


def task(said: str, paid_by: str = "gift_card_99") -> AgentTask:
    reservation = booked("R1", "ada_1", "economy", payment_history=[{"payment_id": paid_by, "amount": 100}])
    tables = {"flights": {}, "users": {"ada_1": USER}, "reservations": {"R1": reservation}}
    made = make_task("airline", tables, [booking()], said=said)
    tool = ToolSpec(name="update_reservation_baggages", effect="write", parameters={"type": "object"})
    return made.model_copy(update={"environment": made.environment.model_copy(update={"tools": (tool,)})})


def others(one: AgentTask) -> list[str]:
    return [str(reading.turns[0][0].arguments["payment_id"]) for _, reading in unsettled_choices(one)]


def test_a_payment_method_that_nobody_names_is_exchanged() -> None:
    [(pointer, reading)] = unsettled_choices(task("I am ada_1 and want two bags."))
    assert pointer == "/ground_truth/turns/0/0/arguments/payment_id"
    assert reading.turns[0][0].arguments == {"reservation_id": "R1", "payment_id": "gift_card_22"}


def test_a_word_initials_or_the_record_itself_settle_it() -> None:
    assert others(task("I am ada_1; take my gift cards.")) == []
    assert others(task("I am ada_1; take my GC.")) == []
    assert others(task("I am ada_1; use the Visa.")) == []
    assert others(task("I am ada_1, two bags.", paid_by="credit_card_11")) == []


def run(model: str, *calls: ToolCall, passed: bool = False) -> Trajectory:
    messages = []
    for number, made in enumerate(calls):
        asked = made.model_copy(update={"id": str(number)})
        messages.append(Message(role="assistant", content="", tool_calls=(asked,)))
        messages.append(Message(role="tool", content="{}", tool_call_id=str(number)))
    messages.append(Message(role="user", content="###STOP###"))
    return Trajectory(
        id=f"{model}/0", task_id="airline/0", model=model, trial=0, status="ok", passed=passed, messages=tuple(messages)
    )


def test_runs_are_grouped_by_the_state_in_which_they_end() -> None:
    one = task("I am ada_1.")
    cancel = ToolCall(name="cancel_reservation", arguments={"reservation_id": "R1"})
    look = ToolCall(name="get_user_details", arguments={"user_id": "ada_1"})
    absent = ToolCall(name="cancel_reservation", arguments={"reservation_id": "R9"})
    runs = [run("a", look, cancel), run("b", cancel), run("c", look), run("d", absent, cancel)]
    found = taken_readings(one, Tau2Environment(), runs)
    assert [each.models for each in found] == [("a", "b", "d"), ("c",)]
    assert [call.name for call in found[0].reading.turns[0]] == ["cancel_reservation"]
    assert found[1].reading.turns == ((),)
