"""What may be changed in a reservation: flights, cabin, bags, passengers."""

from typing import Any

from agenthard.audit.execution.policy.airline.records import (
    GONE,
    allowance,
    cabin,
    fits_trip,
    named,
    places,
    reservation,
    status_of,
    stops,
    with_status,
)
from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, RuleBook, RuleViolation

BOOK = RuleBook("airline")


def _moves(case: PolicyCase, booked: dict[str, Any]) -> bool:
    """Tell whether the call asks for other flights than those that are booked."""
    return places(booked["flights"]) != places(case.arguments["flights"])


@BOOK.rule(
    "basic-economy-keeps-its-flights",
    tools=("update_reservation_flights",),
    sentences=("Basic economy flights cannot be modified.",),
)
def basic_economy_keeps_its_flights(case: PolicyCase) -> Outcome:
    """The flights of a basic economy reservation stay; only its cabin may change."""
    booked = reservation(case)
    if cabin(case, booked) != "basic_economy" or not _moves(case, booked):
        return None
    key = booked["reservation_id"]
    return RuleViolation(
        claim=f"The ground truth changes the flights of {key}, which is basic economy.",
        facts=(case.given("flights"), *case.recorded("reservations", key, "cabin", note=f"cabin of {key}")),
    )


@BOOK.rule(
    "changed-trip-stays-the-same-trip",
    tools=("update_reservation_flights",),
    sentences=("Other reservations can be modified without changing the origin, destination, and trip type.",),
)
def changed_trip_stays_the_same_trip(case: PolicyCase) -> Outcome:
    """Other flights keep the origin, the destination and the trip type of the reservation."""
    booked = reservation(case)
    trip = booked["origin"], booked["destination"], booked["flight_type"]
    old, new = stops(case, booked["flights"]), stops(case, case.arguments["flights"])
    if not _moves(case, booked) or (new and fits_trip(new, *trip)):
        return None
    key, shape = booked["reservation_id"], trip[2].replace("_", " ")
    if not old or not fits_trip(old, *trip):
        return CannotTell(reason=f"the flights of {key} do not fit its own origin, destination and trip type")
    route = "-".join(new) if new else "flights that do not connect"
    kept = ("origin", "destination", "flight_type")
    facts = [fact for name in kept for fact in case.recorded("reservations", key, name, note=f"{name} of {key}")]
    return RuleViolation(
        claim=f"The ground truth changes {key}, a {shape} {trip[0]}-{trip[1]}, to {route}.",
        facts=(case.given("flights"), *facts),
    )


@BOOK.rule(
    "flown-trip-keeps-its-cabin",
    tools=("update_reservation_flights",),
    sentences=("Cabin cannot be changed if any flight in the reservation has already been flown.",),
)
def flown_trip_keeps_its_cabin(case: PolicyCase) -> Outcome:
    """The cabin stays once one of the flights has taken off."""
    booked = reservation(case)
    flown = with_status(case, booked["flights"], GONE)
    if not flown or case.arguments["cabin"] == cabin(case, booked):
        return None
    return RuleViolation(
        claim=f"The ground truth changes the cabin of {booked['reservation_id']} although {named(flown[0])} was flown.",
        facts=(case.given("cabin"), *status_of(case, flown)),
    )


@BOOK.rule(
    "change-is-not-paid-by-certificate",
    tools=("update_reservation_flights",),
    sentences=(
        "If the flights are changed, the user needs to provide a single gift card or credit card for payment or refund "
        "method. The payment method must already be in user profile for safety reasons.",
        "If the flights are changed, the user needs to provide one gift card or credit card for payment or refund "
        "method.",
    ),
)
def change_is_not_paid_by_certificate(case: PolicyCase) -> Outcome:
    """Other flights are paid, or refunded, with a gift card or credit card of the user."""
    user_id, payment = reservation(case)["user_id"], case.arguments["payment_id"]
    methods = case.record("users", user_id)["payment_methods"]
    if payment in methods and methods[payment]["source"] in ("gift_card", "credit_card"):
        return None
    kind = "a certificate" if payment in methods else f"no payment method of {user_id}"
    return RuleViolation(claim=f"The ground truth pays with {payment}, {kind}.", facts=(case.given("payment_id"),))


@BOOK.rule(
    "bags-are-not-removed",
    tools=("update_reservation_baggages",),
    sentences=("The user can add but not remove checked bags.",),
)
def bags_are_not_removed(case: PolicyCase) -> Outcome:
    """Checked bags are added, never removed."""
    booked = reservation(case)
    if case.arguments["total_baggages"] >= booked["total_baggages"]:
        return None
    key, left = booked["reservation_id"], case.arguments["total_baggages"]
    return RuleViolation(
        claim=f"The ground truth leaves {left} of {booked['total_baggages']} bags of {key}.",
        facts=(case.given("total_baggages"), *case.recorded("reservations", key, "total_baggages")),
    )


@BOOK.rule(
    "added-bags-are-free-or-paid",
    tools=("update_reservation_baggages",),
    sentences=("Each extra baggage is 50 dollars.",),
)
def added_bags_are_free_or_paid(case: PolicyCase) -> Outcome:
    """Bags beyond the allowance of membership and cabin are paid, those within it are free."""
    booked = reservation(case)
    key, total, paid = booked["reservation_id"], case.arguments["total_baggages"], case.arguments["nonfree_baggages"]
    class_, passengers = cabin(case, booked), len(booked["passengers"])
    free, facts = allowance(case, booked["user_id"], class_, passengers)
    beyond = max(0, total - free)
    if paid in (beyond, max(beyond, booked["nonfree_baggages"])):
        return None
    return RuleViolation(
        claim=f"The ground truth makes {paid} of {total} bags of {key} extra bags, although {free} are free for "
        f"{passengers} in {class_.replace('_', ' ')}, which leaves {beyond}.",
        facts=(case.given("nonfree_baggages"), *facts),
    )


@BOOK.rule(
    "number-of-passengers-stays",
    tools=("update_reservation_passengers",),
    sentences=("The user can modify passengers but cannot modify the number of passengers.",),
)
def number_of_passengers_stays(case: PolicyCase) -> Outcome:
    """Passengers are replaced, not added or removed."""
    booked = reservation(case)
    before, after = len(booked["passengers"]), len(case.arguments["passengers"])
    if before == after:
        return None
    return RuleViolation(
        claim=f"The ground truth turns {before} passengers of {booked['reservation_id']} into {after}.",
        facts=(case.given("passengers"), *case.recorded("reservations", booked["reservation_id"], "passengers")),
    )
