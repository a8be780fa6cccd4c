"""Who is compensated, and with how much."""

from agenthard.audit.execution.policy.airline.records import GONE, Json, status_of, with_status
from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, RuleBook, RuleViolation

BOOK = RuleBook("airline")

PER_CANCELLED, PER_DELAYED = 100, 50
"""Dollars for each passenger of a reservation with a cancelled flight, and of one with a delayed flight."""
_CHANGES = ("cancel_reservation", "update_reservation_flights")

_ENTITLED = "If the user is silver/gold member or has travel insurance or flies business, and complains"
_ANYONE = "If the user complains"
_OF_CANCELLED = (
    "about cancelled flights in a reservation, the agent can offer a certificate as a gesture after confirming the "
    "facts, with the amount being $100 times the number of passengers."
)
_OF_DELAYED = (
    "about delayed flights in a reservation and wants to change or cancel the reservation, the agent can offer a "
    "certificate as a gesture after confirming the facts and changing or cancelling the reservation, with the amount "
    "being $50 times the number of passengers."
)


def _booked(case: PolicyCase) -> list[Json]:
    """Reservations as the user complains about them, before the ground truth changes any."""
    keys = case.original("users", case.arguments["user_id"])["reservations"]
    return [case.original("reservations", key) for key in keys]


def _cancelled(case: PolicyCase) -> list[Json]:
    """Reservations with a flight that the airline cancelled."""
    return [one for one in _booked(case) if with_status(case, one["flights"], frozenset({"cancelled"}))]


def _delayed(case: PolicyCase) -> list[Json]:
    """Reservations with a flight that is delayed, or that may have been."""
    return [one for one in _booked(case) if with_status(case, one["flights"], GONE | {"delayed"})]


@BOOK.rule(
    "compensated-user-is-entitled",
    tools=("send_certificate",),
    sentences=(
        "Do not compensate if the user is regular member and has no travel insurance and flies (basic) economy.",
    ),
)
def compensated_user_is_entitled(case: PolicyCase) -> Outcome:
    """A regular member without insurance who does not fly business is not compensated."""
    user_id = case.arguments["user_id"]
    if case.record("users", user_id)["membership"] != "regular":
        return None
    meant = _cancelled(case) + _delayed(case) or _booked(case)
    entitled = [one for one in meant if one["insurance"] == "yes" or one["cabin"] == "business"]
    if len(entitled) == len(meant):
        return None
    if entitled:
        return CannotTell(reason=f"which reservation {user_id} complains about is left to a reader")
    return RuleViolation(
        claim=f"The ground truth compensates {user_id}, a regular member without insurance who does not fly business.",
        facts=case.recorded("users", user_id, "membership"),
    )


@BOOK.rule(
    "compensation-fits-the-passengers",
    tools=("send_certificate",),
    sentences=tuple((f"{who} {_OF_CANCELLED}", f"{who} {_OF_DELAYED}") for who in (_ANYONE, _ENTITLED)),
)
def compensation_fits_the_passengers(case: PolicyCase) -> Outcome:
    """A certificate is worth $100 a passenger for a cancelled flight, $50 a passenger for a delayed one."""
    due = {PER_CANCELLED * len(one["passengers"]) for one in _cancelled(case)}
    due |= {PER_DELAYED * len(one["passengers"]) for one in _delayed(case)}
    if case.arguments["amount"] in due:
        return None
    return RuleViolation(
        claim=f"The ground truth sends a certificate of {case.arguments['amount']}, which fits no reservation of "
        f"{case.arguments['user_id']} with a cancelled or delayed flight (due: {sorted(due) or 'none'}).",
        facts=(case.given("amount"), *case.recorded("users", case.arguments["user_id"], "reservations")),
    )


@BOOK.rule(
    "delay-is-compensated-after-a-change",
    tools=("send_certificate",),
    sentences=(f"{_ANYONE} {_OF_DELAYED}", f"{_ENTITLED} {_OF_DELAYED}"),
)
def delay_is_compensated_after_a_change(case: PolicyCase) -> Outcome:
    """A delay is compensated only after the reservation was changed or cancelled."""
    amount = case.arguments["amount"]
    if any(PER_CANCELLED * len(one["passengers"]) == amount for one in _cancelled(case)):
        return None
    meant = [one for one in _delayed(case) if PER_DELAYED * len(one["passengers"]) == amount]
    touched = {made.call.arguments["reservation_id"] for made in case.before(*_CHANGES)}
    if not meant or any(one["reservation_id"] in touched for one in meant):
        return None
    keys = " or ".join(one["reservation_id"] for one in meant)
    late = [leg for one in meant for leg in with_status(case, one["flights"], frozenset({"delayed"}))]
    return RuleViolation(
        claim=f"The ground truth sends a certificate of {amount} for a delay although reservation {keys} was neither "
        "changed nor cancelled before.",
        facts=(case.given("amount"), *status_of(case, late)),
    )
