"""How a reservation is booked: flights, passengers, payments, bags."""

from collections import Counter
from typing import Any

from agenthard.audit.execution.policy.airline.records import (
    allowance,
    cabin,
    fits_trip,
    flight_day,
    named,
    places,
    reservation,
    status_of,
    stops,
)
from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, RuleBook, RuleViolation

BOOK = RuleBook("airline")

MOST_PASSENGERS = 5
"""Passengers of a reservation."""
MOST_METHODS = {"certificate": 1, "credit_card": 1, "gift_card": 3}
"""Payment methods of each kind for a reservation."""
BAG, INSURANCE = 50, 30
"""Dollars for an extra bag, and for the insurance of a passenger."""

_INSURANCE = (
    "The travel insurance is 30 dollars per passenger and enables full refund",
    "Travel insurance: the agent should ask if the user wants to buy the travel insurance, which is 30 dollars per "
    "passenger and enables full refund",
)


def _new_legs(case: PolicyCase) -> tuple[list[dict[str, Any]], int]:
    """Return the legs that the call books, and for how many passengers; legs that are kept do not count."""
    legs = case.arguments["flights"]
    if case.call.name == "book_reservation":
        return legs, len(case.arguments["passengers"])
    booked = reservation(case)
    kept = places(booked["flights"]) if case.arguments["cabin"] == cabin(case, booked) else []
    new = [leg for leg in legs if (leg["flight_number"], leg["date"]) not in kept]
    return new, len(booked["passengers"])


@BOOK.rule(
    "booked-flights-have-not-left",
    tools=("book_reservation", "update_reservation_flights"),
    sentences=(
        (
            "If the status is **delayed** or **on time**, the flight has not taken off, cannot be booked.",
            "If the status is **flying**, the flight has taken off but not landed, cannot be booked.",
        ),
        (
            'If the status is "delayed" or "on time", the flight has not taken off, cannot be booked.',
            'If the status is "flying", the flight has taken off but not landed, cannot be booked.',
        ),
    ),
)
def booked_flights_have_not_left(case: PolicyCase) -> Outcome:
    """Only flights with the status available are booked."""
    legs, _ = _new_legs(case)
    closed = [leg for leg in legs if flight_day(case, leg)["status"] != "available"]
    if not closed:
        return None
    status = flight_day(case, closed[0])["status"]
    return RuleViolation(
        claim=f"The ground truth books {named(closed[0])}, whose status is {status!r}.",
        facts=(case.given("flights"), *status_of(case, closed)),
    )


@BOOK.rule(
    "booked-flights-have-seats",
    tools=("book_reservation", "update_reservation_flights"),
    sentences=(
        "If the status is **available**, the flight has not taken off, available seats and prices are listed.",
        'If the status is "available", the flight has not taken off, available seats and prices are listed.',
    ),
)
def booked_flights_have_seats(case: PolicyCase) -> Outcome:
    """There is a seat in the cabin for every passenger."""
    legs, passengers = _new_legs(case)
    class_ = case.arguments["cabin"]
    for leg in legs:
        seats = flight_day(case, leg).get("available_seats", {}).get(class_)
        if seats is not None and seats < passengers:
            path = (leg["flight_number"], "dates", leg["date"], "available_seats")
            return RuleViolation(
                claim=f"The ground truth books {passengers} seats in {class_.replace('_', ' ')} on {named(leg)}, which "
                f"has {seats}.",
                facts=(case.given("flights"), *case.recorded("flights", *path)),
            )
    return None


@BOOK.rule(
    "booked-flights-make-the-trip",
    tools=("book_reservation",),
    sentences=(
        "The agent should then ask for the trip type, origin, destination.",
        "The agent must first obtain the user id, then ask for the trip type, origin, destination.",
    ),
)
def booked_flights_make_the_trip(case: PolicyCase) -> Outcome:
    """The flights lead from the origin to the destination, and back for a round trip."""
    given = case.arguments
    route = stops(case, given["flights"])
    if route and fits_trip(route, given["origin"], given["destination"], given["flight_type"]):
        return None
    shape = f"{given['flight_type'].replace('_', ' ')} {given['origin']}-{given['destination']}"
    return RuleViolation(
        claim=f"The ground truth books a {shape} with flights that "
        f"{'lead ' + '-'.join(route) if route else 'do not connect'}.",
        facts=(case.given("flights"), case.given("flight_type")),
    )


@BOOK.rule(
    "at-most-five-passengers",
    tools=("book_reservation",),
    sentences=("Each reservation can have at most five passengers.",),
)
def at_most_five_passengers(case: PolicyCase) -> Outcome:
    """A reservation has at most five passengers."""
    count = len(case.arguments["passengers"])
    if count <= MOST_PASSENGERS:
        return None
    return RuleViolation(claim=f"The ground truth books for {count} passengers.", facts=(case.given("passengers"),))


@BOOK.rule(
    "few-payment-methods",
    tools=("book_reservation",),
    sentences=(
        "Each reservation can use at most one travel certificate, at most one credit card, and at most three gift "
        "cards.",
        "each reservation can use at most one travel certificate, at most one credit card, and at most three gift "
        "cards.",
    ),
)
def few_payment_methods(case: PolicyCase) -> Outcome:
    """A booking is paid with at most one certificate, one credit card and three gift cards."""
    methods = case.record("users", case.arguments["user_id"])["payment_methods"]
    ids = {payment["payment_id"] for payment in case.arguments["payment_methods"]}
    counts = Counter(methods[key]["source"] for key in ids if key in methods)
    over = [f"{counts[kind]} {kind.replace('_', ' ')}s" for kind, most in MOST_METHODS.items() if counts[kind] > most]
    if not over:
        return None
    return RuleViolation(claim=f"The ground truth pays with {', '.join(over)}.", facts=(case.given("payment_methods"),))


@BOOK.rule(
    "payment-methods-are-the-users",
    tools=("book_reservation",),
    sentences=("All payment methods must already be in user profile for safety reasons.",),
)
def payment_methods_are_the_users(case: PolicyCase) -> Outcome:
    """Every payment method is in the profile of the booking user."""
    user_id = case.arguments["user_id"]
    methods = case.record("users", user_id)["payment_methods"]
    missing = [one["payment_id"] for one in case.arguments["payment_methods"] if one["payment_id"] not in methods]
    if not missing:
        return None
    return RuleViolation(
        claim=f"The ground truth pays with {', '.join(missing)}, which {user_id} does not have.",
        facts=(case.given("payment_methods"),),
    )


@BOOK.rule(
    "booked-bags-are-free-or-paid",
    tools=("book_reservation",),
    sentences=("Each extra baggage is 50 dollars.",),
)
def booked_bags_are_free_or_paid(case: PolicyCase) -> Outcome:
    """Bags beyond the allowance of membership and cabin are extra bags, those within it are not."""
    given = case.arguments
    passengers = len(given["passengers"])
    free, facts = allowance(case, given["user_id"], given["cabin"], passengers)
    beyond = max(0, given["total_baggages"] - free)
    if given["nonfree_baggages"] == beyond:
        return None
    return RuleViolation(
        claim=f"The ground truth books {given['nonfree_baggages']} extra bags of {given['total_baggages']}, although "
        f"{free} are free for {passengers} in {given['cabin'].replace('_', ' ')}, which leaves {beyond}.",
        facts=(case.given("nonfree_baggages"), *facts),
    )


@BOOK.rule(
    "booked-bags-are-asked-for",
    tools=("book_reservation",),
    sentences=("Do not add checked bags that the user does not need.",),
)
def booked_bags_are_asked_for(case: PolicyCase) -> Outcome:
    """Bags are booked only for a user who mentions bags."""
    bags = case.arguments["total_baggages"]
    if bags == 0 or case.says(r"\b(bag|baggage|luggage|suitcase)"):
        return None
    return RuleViolation(
        claim=f"The ground truth books {bags} checked bags for a user who mentions none.",
        facts=(case.given("total_baggages"),),
        certain=False,
    )


@BOOK.rule(
    "payments-make-up-the-price",
    tools=("book_reservation",),
    sentences=tuple(("Each extra baggage is 50 dollars.", sentence) for sentence in _INSURANCE),
)
def payments_make_up_the_price(case: PolicyCase) -> Outcome:
    """The payments make up the fares of all passengers, the extra bags and the insurance."""
    given = case.arguments
    passengers = len(given["passengers"])
    days = [flight_day(case, leg) for leg in given["flights"]]
    if any("prices" not in day for day in days):
        return CannotTell(reason="a flight that cannot be booked has no price")
    fares = sum(day["prices"][given["cabin"]] for day in days) * passengers
    price = fares + BAG * given["nonfree_baggages"] + INSURANCE * passengers * (given["insurance"] == "yes")
    paid = sum(payment["amount"] for payment in given["payment_methods"])
    if abs(paid - price) < 0.005:
        return None
    return RuleViolation(
        claim=f"The ground truth pays {paid} for a booking that costs {price}.",
        facts=(case.given("payment_methods"),),
    )
