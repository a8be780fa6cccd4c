"""When a reservation may be cancelled."""

from datetime import datetime, timedelta

from agenthard.audit.execution.policy.airline.records import GONE, cabin, named, reservation, status_of, with_status
from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, RuleBook, RuleViolation

BOOK = RuleBook("airline")

COVERED = (
    r"\b(sick|ill|illness|unwell|health|medical|doctor|hospital|injur\w*|surgery|disease|fever|flu|covid|pregnan\w*|"
    r"feel\w* bad|emergency|died|dying|death|passed away|funeral|"
    r"weather|storm\w*|snow\w*|hurricane|rain\w*|flood\w*|fog\w*)\b"
)
"""Words with which a user may mention health or the weather, which the travel insurance covers."""


@BOOK.rule(
    "flown-trip-is-not-cancelled",
    tools=("cancel_reservation",),
    sentences=(
        "If any portion of the flight has already been flown, the agent cannot help and transfer is needed.",
        "If any of the segments are already used, the agent cannot help and transfer is needed.",
    ),
)
def flown_trip_is_not_cancelled(case: PolicyCase) -> Outcome:
    """A reservation is not cancelled once one of its flights has taken off."""
    booked = reservation(case)
    flown = with_status(case, booked["flights"], GONE)
    if not flown:
        return None
    return RuleViolation(
        claim=f"The ground truth cancels reservation {booked['reservation_id']}, of which "
        f"{', '.join(map(named, flown))} has been flown.",
        facts=status_of(case, flown),
    )


@BOOK.rule(
    "cancelled-for-a-listed-reason",
    tools=("cancel_reservation",),
    sentences=(
        (
            "Otherwise, flight can be cancelled if any of the following is true:",
            "The booking was made within the last 24 hrs",
            "The flight is cancelled by airline",
            "It is a business flight",
            "The user has travel insurance and the reason for cancellation is covered by insurance.",
        ),
        (
            "All reservations can be cancelled within 24 hours of booking, or if the airline cancelled the flight. "
            "Otherwise, basic economy or economy flights can be cancelled only if travel insurance is bought and the "
            "condition is met, and business flights can always be cancelled.",
        ),
    ),
)
def cancelled_for_a_listed_reason(case: PolicyCase) -> Outcome:
    """A reservation is cancelled for one of the reasons that the policy lists: day, airline, business, insurance."""
    booked = reservation(case)
    key, class_ = booked["reservation_id"], cabin(case, booked)
    recent = case.now - datetime.fromisoformat(booked["created_at"]) <= timedelta(hours=24)
    if recent or class_ == "business" or with_status(case, booked["flights"], frozenset({"cancelled"})):
        return None
    insured = booked["insurance"] == "yes"
    if insured and case.says(COVERED):
        return CannotTell(reason=f"whether the insurance of {key} covers what the user says is left to a reader")
    wanted = ("created_at", "cabin", "insurance")
    facts = [fact for name in wanted for fact in case.recorded("reservations", key, name, note=f"{name} of {key}")]
    cover = "insured" if insured else "without insurance"
    unsaid = "; the user speaks neither of health nor of weather" if insured else ""
    return RuleViolation(
        claim=f"The ground truth cancels {key} ({class_.replace('_', ' ')}, booked on {booked['created_at'][:10]}, "
        f"{cover}), whose flights the airline runs{unsaid}.",
        facts=tuple(facts),
        certain=not insured,
    )
