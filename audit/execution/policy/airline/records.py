"""The airline's records as its rules need them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from agenthard.audit.execution.policy.case import PolicyCase, UnknownFactError
from agenthard.taxonomy.finding import Evidence

Json = dict[str, Any]

GONE = frozenset({"flying", "landed"})
"""Statuses of a flight that has taken off."""
_MEMBER = re.compile(r"booking user is a (regular|silver|gold) member")
_ALLOWED = re.compile(r"(\d) free checked bags? for each (basic economy|economy|business) passenger")


def reservation(case: PolicyCase) -> Json:
    """Return the reservation that the call is about."""
    return case.record("reservations", case.arguments["reservation_id"])


def cabin(case: PolicyCase, booked: Json) -> str:
    """Return the cabin of a reservation, as the last call that changed its flights left it.

    τ-bench charges for another cabin without storing it.
    """
    changes = case.before("update_reservation_flights")
    told = [
        made.call.arguments for made in changes if made.call.arguments["reservation_id"] == booked["reservation_id"]
    ]
    return str(told[-1]["cabin"] if told else booked["cabin"])


def flight_day(case: PolicyCase, leg: Json) -> Json:
    """Return what is known of a flight on the day of a leg."""
    days = case.record("flights", leg["flight_number"])["dates"]
    if leg["date"] not in days:
        raise UnknownFactError(f"flight {leg['flight_number']} is not known on {leg['date']}")
    day: Json = days[leg["date"]]
    return day


def with_status(case: PolicyCase, legs: Iterable[Json], statuses: frozenset[str]) -> list[Json]:
    """Return the legs whose flight has one of some statuses on its day; flights that are not known are left out."""
    flights = case.task.environment.state["flights"]
    known = [leg for leg in legs if leg["date"] in flights.get(leg["flight_number"], {}).get("dates", {})]
    return [leg for leg in known if flight_day(case, leg)["status"] in statuses]


def status_of(case: PolicyCase, legs: Iterable[Json]) -> tuple[Evidence, ...]:
    """Quote the status of the flights of some legs."""
    return tuple(
        fact
        for leg in legs
        for fact in case.recorded("flights", leg["flight_number"], "dates", leg["date"], "status", note=named(leg))
    )


def named(leg: Json) -> str:
    """Name a leg: flight number and day."""
    return f"{leg['flight_number']} on {leg['date']}"


def places(legs: Iterable[Json]) -> list[tuple[str, str]]:
    """Return flight number and day of each leg."""
    return [(leg["flight_number"], leg["date"]) for leg in legs]


def stops(case: PolicyCase, legs: Sequence[Json]) -> list[str] | None:
    """Return the airports of a journey in order; None when one leg does not start where the one before ends."""
    routes = [case.record("flights", leg["flight_number"]) for leg in legs]
    if any(one["destination"] != other["origin"] for one, other in zip(routes, routes[1:], strict=False)):
        return None
    return [routes[0]["origin"], *(route["destination"] for route in routes)]


def fits_trip(route: Sequence[str], origin: str, destination: str, trip: str) -> bool:
    """Tell whether a journey is a one-way trip, or a round trip, between two airports."""
    if trip == "round_trip":
        return route[0] == route[-1] == origin and destination in route
    return (route[0], route[-1]) == (origin, destination)


def free_bags(case: PolicyCase, membership: str, cabin: str) -> tuple[int, str]:
    """Read the number of free checked bags for each passenger from the policy, and the passage that states it.

    Raises:
        UnknownFactError: when the policy does not state it in this form.
    """
    members = list(_MEMBER.finditer(case.policy))
    ends = [member.start() for member in members[1:]] + [len(case.policy)]
    for member, end in zip(members, ends, strict=True):
        for stated in _ALLOWED.finditer(case.policy, member.end(), end):
            if (member.group(1), stated.group(2).replace(" ", "_")) == (membership, cabin):
                return int(stated.group(1)), case.policy[member.start() : stated.end()]
    raise UnknownFactError(f"the policy states no free bags for a {membership} member in {cabin}")


def allowance(case: PolicyCase, user_id: str, cabin: str, passengers: int) -> tuple[int, tuple[Evidence, ...]]:
    """Return how many bags are free for a reservation, with the passage of the policy and the user's membership."""
    membership = case.record("users", user_id)["membership"]
    free, passage = free_bags(case, membership, cabin)
    stated = case.stated(passage, note="the allowance")
    return free * passengers, (stated, *case.recorded("users", user_id, "membership", note=f"membership of {user_id}"))
