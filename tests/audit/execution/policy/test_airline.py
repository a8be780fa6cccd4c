"""Each rule of the airline: a ground truth that breaks it, and one that keeps it."""

from typing import Any

import pytest

from agenthard.audit.evidence import failure
from agenthard.audit.execution.policy import CannotTell, Outcome, RuleViolation, check_calls
from agenthard.audit.execution.policy.checker import rules_for
from agenthard.taxonomy import AgentTask, ToolCall
from tests.audit.execution.policy.conftest import (
    Json,
    airline_tables,
    call,
    environment_of,
    leg,
    make_task,
    policy,
)


def outcomes(calls: list[ToolCall], benchmark: str = "tau2", wording: int = 0, said: str = "") -> dict[str, Outcome]:
    """What the rules say of the calls, the last word of each rule."""
    rules = policy("airline", wording)
    task = make_task("airline", airline_tables(), calls, benchmark=benchmark, said=said, rules=rules)
    found: dict[str, Outcome] = {}
    for step in check_calls(task, environment_of(benchmark), rules_for(task)):
        found |= {item.rule: item.outcome for item in step.judgements}
    check_facts(task, found)
    return found


def check_facts(task: AgentTask, found: dict[str, Outcome]) -> None:
    facts = [fact for outcome in found.values() if isinstance(outcome, RuleViolation) for fact in outcome.facts]
    assert [problem for fact in facts if (problem := failure(fact, task, {}))] == []


def broken(found: dict[str, Outcome]) -> set[str]:
    return {rule for rule, outcome in found.items() if isinstance(outcome, RuleViolation)}


def cancel(key: str) -> ToolCall:
    return call("cancel_reservation", reservation_id=key)


def fly(key: str, *legs: Json, cabin: str = "economy", payment_id: str = "card") -> ToolCall:
    given = {"reservation_id": key, "cabin": cabin, "flights": list(legs), "payment_id": payment_id}
    return call("update_reservation_flights", **given)


def bags(key: str, total: int, paid: int) -> ToolCall:
    given = {"reservation_id": key, "total_baggages": total, "nonfree_baggages": paid, "payment_id": "card"}
    return call("update_reservation_baggages", **given)


def people(count: int) -> list[Json]:
    return [{"first_name": f"P{i}", "last_name": "Q", "dob": "1990-01-01"} for i in range(count)]


def book(amounts: dict[str, int] | None = None, *, passengers: int = 1, **changes: Any) -> ToolCall:
    given = {
        "user_id": "ann",
        "origin": "AAA",
        "destination": "BBB",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [F1],
        "passengers": people(passengers),
        "payment_methods": [
            {"payment_id": key, "amount": amount} for key, amount in (amounts or {"card": 100}).items()
        ],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return call("book_reservation", **{**given, **changes})


def send(user_id: str, amount: int) -> ToolCall:
    return call("send_certificate", user_id=user_id, amount=amount)


F1, F1_FULL, F2, F3 = (
    leg("F1", "2024-05-20"),
    leg("F1", "2024-05-21"),
    leg("F2", "2024-05-22"),
    leg("F3", "2024-05-20"),
)
PEOPLE = "update_reservation_passengers"

KEPT = [
    [cancel("BUSINESS")],
    [cancel("NEW")],
    [cancel("STOPPED")],
    [fly("ECO", F1_FULL)],
    [fly("BASIC", F1)],
    [fly("BASIC", F1), fly("BASIC", F1_FULL)],
    [fly("ROUND", F1_FULL, F2)],
    [fly("ECO", F1, cabin="business", payment_id="gift0")],
    [fly("ECO", F1, cabin="business"), cancel("ECO")],
    [fly("ODD", F2, cabin="business")],
    [bags("ECO", 1, 0)],
    [bags("ECO", 3, 2)],
    [bags("LATE", 6, 0)],
    [call(PEOPLE, reservation_id="ECO", passengers=people(1))],
    [book()],
    [book({"card": 130}, insurance="yes")],
    [book({"cert": 50, "card": 50})],
    [book({"card": 250}, passengers=2, total_baggages=3, nonfree_baggages=1)],
    [book({"card": 200}, flights=[F1, F2], flight_type="round_trip")],
    [fly("LATE", F1), send("gil", 100)],
]

BROKEN = [
    ([cancel("FLOWN")], {"flown-trip-is-not-cancelled"}),
    ([cancel("ECO")], {"cancelled-for-a-listed-reason"}),
    ([fly("BASIC", F1), cancel("BASIC")], {"cancelled-for-a-listed-reason"}),
    ([fly("BASIC", F1_FULL)], {"basic-economy-keeps-its-flights"}),
    ([fly("ECO", F3)], {"changed-trip-stays-the-same-trip"}),
    ([fly("ECO", F1, F2)], {"changed-trip-stays-the-same-trip"}),
    ([fly("ROUND", F1)], {"changed-trip-stays-the-same-trip"}),
    ([fly("ROUND", F1, F1_FULL)], {"changed-trip-stays-the-same-trip"}),
    ([fly("ECO", F1, payment_id="cert")], {"change-is-not-paid-by-certificate"}),
    ([fly("ECO", F1, payment_id="cash")], {"change-is-not-paid-by-certificate"}),
    ([bags("ECO", 0, 0)], {"bags-are-not-removed"}),
    ([bags("ECO", 3, 0)], {"added-bags-are-free-or-paid"}),
    ([bags("LATE", 2, 2)], {"added-bags-are-free-or-paid"}),
    ([call(PEOPLE, reservation_id="ECO", passengers=people(2))], {"number-of-passengers-stays"}),
    ([fly("ECO", leg("F1", "2024-05-15"))], {"booked-flights-have-not-left"}),
    ([book(flights=[leg("F1", "2024-05-15")])], {"booked-flights-have-not-left"}),
    ([book({"card": 200}, flights=[F1_FULL], passengers=2)], {"booked-flights-have-seats"}),
    ([book({"card": 600}, passengers=6)], {"booked-flights-have-seats", "at-most-five-passengers"}),
    ([book(flights=[F3])], {"booked-flights-make-the-trip"}),
    ([book(flight_type="round_trip")], {"booked-flights-make-the-trip"}),
    ([book({"card": 50, "card2": 50})], {"few-payment-methods"}),
    ([book({"cert": 50, "cert2": 50})], {"few-payment-methods"}),
    ([book({f"gift{i}": 25 for i in range(4)})], {"few-payment-methods"}),
    ([book({"cash": 100})], {"payment-methods-are-the-users"}),
    ([book({"card": 150}, total_baggages=1, nonfree_baggages=1)], {"booked-bags-are-free-or-paid"}),
    ([book(total_baggages=2)], {"booked-bags-are-free-or-paid"}),
    ([book({"card": 99})], {"payments-make-up-the-price"}),
    ([book({"card": 100}, insurance="yes")], {"payments-make-up-the-price"}),
    ([send("zoe", 50)], {"compensated-user-is-entitled", "delay-is-compensated-after-a-change"}),
    ([send("gil", 100)], {"delay-is-compensated-after-a-change"}),
    ([fly("LATE", F1), send("gil", 150)], {"compensation-fits-the-passengers"}),
]


@pytest.mark.parametrize("wording", [0, -1])
@pytest.mark.parametrize("calls", KEPT, ids=lambda calls: "-".join(one.name for one in calls))
def test_kept(calls: list[ToolCall], wording: int, benchmark_name: str) -> None:
    found = outcomes(calls, benchmark_name, wording, said="I have bags.")
    assert found and set(found.values()) == {None}


@pytest.mark.parametrize("wording", [0, -1])
@pytest.mark.parametrize(("calls", "rules"), BROKEN, ids=lambda value: "-".join(sorted(map(str, value)))[:60])
def test_broken(calls: list[ToolCall], rules: set[str], wording: int, benchmark_name: str) -> None:
    assert broken(outcomes(calls, benchmark_name, wording, said="I have bags.")) == rules


def test_every_rule_is_broken_by_some_example() -> None:
    shown = {rule for _, rules in BROKEN for rule in rules}
    task = make_task("airline", airline_tables(), [])
    elsewhere = {"flown-trip-keeps-its-cabin", "booked-bags-are-asked-for"}
    assert {rule.id for rule in rules_for(task)} == shown | elsewhere


def test_the_cabin_of_a_flown_trip() -> None:
    keep, change = fly("FLOWN", leg("F1", "2024-05-14"), F1, cabin="business"), fly("FLOWN", F1)
    assert "flown-trip-keeps-its-cabin" not in broken(outcomes([keep]))
    assert "flown-trip-keeps-its-cabin" in broken(outcomes([change]))


def test_bags_that_the_user_does_not_speak_of_are_only_suspected() -> None:
    found = outcomes([book(total_baggages=1)], said="A flight, please.")
    assert broken(found) == {"booked-bags-are-asked-for"}
    outcome = found["booked-bags-are-asked-for"]
    assert isinstance(outcome, RuleViolation) and not outcome.certain
    assert broken(outcomes([book(total_baggages=1)], said="A flight with one suitcase, please.")) == set()


def test_what_the_insurance_covers_is_left_to_a_reader() -> None:
    covered = outcomes([cancel("INSURED")], said="I feel unwell.")["cancelled-for-a-listed-reason"]
    assert isinstance(covered, CannotTell) and "INSURED" in covered.reason
    uncovered = outcomes([cancel("INSURED")], said="My friend has a birthday.")["cancelled-for-a-listed-reason"]
    assert isinstance(uncovered, RuleViolation) and not uncovered.certain


def test_a_reservation_that_contradicts_itself_cannot_be_judged() -> None:
    found = outcomes([fly("ODD", F3)])["changed-trip-stays-the-same-trip"]
    assert isinstance(found, CannotTell)


def test_a_regular_member_with_reservations_of_both_kinds_cannot_be_judged() -> None:
    found = outcomes([send("ann", 100)])
    assert isinstance(found["compensated-user-is-entitled"], CannotTell) and broken(found) == set()


def test_the_allowance_is_read_from_the_policy() -> None:
    outcome = outcomes([bags("LATE", 2, 2)])["added-bags-are-free-or-paid"]
    assert isinstance(outcome, RuleViolation) and "although 6 are free for 2 in economy" in outcome.claim
    assert outcome.facts[1].quote.startswith("booking user is a gold member:")
    assert outcome.facts[1].quote.endswith("3 free checked bag for each economy passenger")


def test_an_allowance_that_the_policy_does_not_state() -> None:
    business = book({"card": 300}, cabin="business", total_baggages=2)
    found = outcomes([business], said="Two bags.")["booked-bags-are-free-or-paid"]
    assert isinstance(found, CannotTell) and "regular member in business" in found.reason
